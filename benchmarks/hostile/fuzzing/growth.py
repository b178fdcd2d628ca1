"""`python -m benchmarks.hostile.fuzzing.growth`: how much longer each reader takes for a text that is twice as long.

Units that have caused problems are repeated to half of `--characters` and to all of `--characters`. The slowest readers
are printed, and those that take more than two and a half times as long for the whole text. Times below 50 ms are
ignored. Garbage is collected between readings, because the duration of a collection depends on the rest of the program.
"""

import gc
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from benchmarks.hostile.fuzzing.hostile_texts import MOST_CHARACTERS, REPEATED
from benchmarks.hostile.fuzzing.readers import READERS, REFUSALS
from benchmarks.measuring import command_line

_MOST_TIMES = 2.5
_LEAST_SECONDS = 0.05
_SHOWN = 10
_TRIES = 3


class Growth(NamedTuple):
    unit: str
    half: float
    whole: float
    """Processor time in seconds, the minimum of several attempts."""

    @property
    def times(self) -> float:
        return self.whole / max(self.half, 1e-9)

    @property
    def is_too_much(self) -> bool:
        return self.whole >= _LEAST_SECONDS and self.times > _MOST_TIMES


def growth_of(read: Callable[[str], object], unit: str, characters: int) -> Growth:
    found = Growth(unit, _seconds(read, unit, characters // 2), _seconds(read, unit, characters))
    for _ in range(_TRIES - 1):
        if not found.is_too_much:
            break
        found = Growth(
            unit,
            min(found.half, _seconds(read, unit, characters // 2)),
            min(found.whole, _seconds(read, unit, characters)),
        )
    return found


def _seconds(read: Callable[[str], object], unit: str, characters: int) -> float:
    text = unit * max(1, characters // len(unit))
    gc.collect()
    gc.disable()
    began = time.process_time()
    with suppress(*REFUSALS):
        read(text)
    seconds = time.process_time() - began
    gc.enable()
    return seconds


def main() -> None:
    parser = command_line("hostile.fuzzing.growth", __doc__)
    parser.add_argument("--characters", type=int, default=MOST_CHARACTERS)
    parser.add_argument("--only", default="", help="readers whose name contains this")
    asked = parser.parse_args()
    gc.freeze()  # excludes the libraries from garbage collection between readings
    found = {
        name: [growth_of(read, unit, asked.characters) for unit in REPEATED]
        for name, read in READERS.items()
        if asked.only in name
    }
    told = [(name, item) for name, grown in found.items() for item in grown]
    much = [(name, item) for name, item in told if item.is_too_much]
    said = sum(item.whole >= _LEAST_SECONDS for _, item in told)
    print(
        f"{len(found)} readers, {len(told):,} texts of {asked.characters:,} characters and of half as many; {said:,} "
        f"took long enough to count; {len(much)} took more than {_MOST_TIMES:g} times as long for the whole text.\n"
    )
    slowest = sorted(told, key=lambda pair: -pair[1].whole)[:_SHOWN]
    for title, rows in (("Growth too high", much), ("Slowest", slowest)):
        for name, item in rows:
            print(f"{title}: {item.half:.2f} s, {item.whole:.2f} s ({item.times:.1f} times)  {name}  {item.unit!r}")
    sys.exit(bool(much))


if __name__ == "__main__":
    main()
