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
from benchmarks.measuring import build_parser

_MAX_RATIO = 2.5
_MIN_SECONDS = 0.05
_SHOWN_COUNT = 10
_TRIES = 3


class Growth(NamedTuple):
    unit: str
    half_seconds: float
    whole_seconds: float
    """Processor time in seconds, the minimum of several attempts."""

    @property
    def ratio(self) -> float:
        return self.whole_seconds / max(self.half_seconds, 1e-9)

    @property
    def is_too_much(self) -> bool:
        return self.whole_seconds >= _MIN_SECONDS and self.ratio > _MAX_RATIO


def measure_growth(read: Callable[[str], object], unit: str, characters: int) -> Growth:
    growth = Growth(unit, _measure_seconds(read, unit, characters // 2), _measure_seconds(read, unit, characters))
    for _ in range(_TRIES - 1):
        if not growth.is_too_much:
            break
        growth = Growth(
            unit,
            min(growth.half_seconds, _measure_seconds(read, unit, characters // 2)),
            min(growth.whole_seconds, _measure_seconds(read, unit, characters)),
        )
    return growth


def _measure_seconds(read: Callable[[str], object], unit: str, characters: int) -> float:
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
    parser = build_parser("hostile.fuzzing.growth", __doc__)
    parser.add_argument("--characters", type=int, default=MOST_CHARACTERS)
    parser.add_argument("--only", default="", help="readers whose name contains this")
    options = parser.parse_args()
    gc.freeze()  # excludes the libraries from garbage collection between readings
    growths_by_reader = {
        name: [measure_growth(read, unit, options.characters) for unit in REPEATED]
        for name, read in READERS.items()
        if options.only in name
    }
    measurements = [(name, growth) for name, growths in growths_by_reader.items() for growth in growths]
    excessive = [(name, growth) for name, growth in measurements if growth.is_too_much]
    counted_growths = sum(growth.whole_seconds >= _MIN_SECONDS for _, growth in measurements)
    print(
        f"{len(growths_by_reader)} readers, {len(measurements):,} texts of {options.characters:,} characters and of "
        f"half as many; {counted_growths:,} "
        f"took long enough to count; {len(excessive)} took more than {_MAX_RATIO:g} times as long for the whole "
        "text.\n"
    )
    slowest = sorted(measurements, key=lambda pair: -pair[1].whole_seconds)[:_SHOWN_COUNT]
    for title, rows in (("Growth too high", excessive), ("Slowest", slowest)):
        for name, growth in rows:
            print(
                f"{title}: {growth.half_seconds:.2f} s, {growth.whole_seconds:.2f} s ({growth.ratio:.1f} times)  "
                f"{name}  {growth.unit!r}"
            )
    sys.exit(bool(excessive))


if __name__ == "__main__":
    main()
