"""`python -m benchmarks.fuzzing --minutes 10`: hostile texts for every function that reads text from outside.

Each text is read in a process that is killed when it takes more than five seconds of the processor. Errors that refuse
a text are an answer; any other error is a crash. `--keep FOLDER` writes the texts that did harm.
"""

import argparse
import hashlib
import random
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.fuzzing.child import Readers
from benchmarks.fuzzing.hunting import Found, Hunt
from benchmarks.fuzzing.readers import READERS

_READERS = Readers("benchmarks.fuzzing.readers")
_SHOWN = 100
_SLOWEST = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--only", default="", help="readers whose name contains this")
    parser.add_argument("--seed", type=int, default=None, help="by default another one each time")
    parser.add_argument("--keep", type=Path, default=None)
    asked = parser.parse_args()
    names = [name for name in READERS if asked.only in name]
    if not names:
        sys.exit(f"No reader is called like {asked.only!r}.")
    seed = random.randrange(2**31) if asked.seed is None else asked.seed
    hunt = Hunt(_READERS, names, seed)
    hunt.run(asked.minutes * 60)
    _tell(hunt.found, seed)
    if asked.keep is not None:
        _keep(hunt.found, asked.keep)
    if any(one.crashes or one.hangs for one in hunt.found.values()):
        sys.exit(1)


def _tell(found: Mapping[str, Found], seed: int) -> None:
    cases = sum(one.cases for one in found.values())
    crashes = sum(len(one.crashes) for one in found.values())
    hangs = sum(len(one.hangs) for one in found.values())
    print(f"{len(found)} readers, {cases:,} texts, seed {seed}: {crashes} kinds of crashes, {hangs} hangs.\n")
    for name, one in found.items():
        for crash, text in one.crashes.items():
            print(f"crash  {name}: {crash}; {len(text):,} characters, {text[:_SHOWN]!r}")
        for text in one.hangs:
            print(f"hang   {name}: {len(text):,} characters, {text[:_SHOWN]!r}")
    print("The slowest, in seconds over one text, on the clock:")
    for name, one in sorted(found.items(), key=lambda pair: -pair[1].slowest)[:_SLOWEST]:
        print(f"  {one.slowest:5.2f}  {name}")


def _keep(found: Mapping[str, Found], folder: Path) -> None:
    """Under the name of the reader, and a hash."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, one in found.items():
        for text in (*one.crashes.values(), *one.hangs):
            digest = hashlib.sha256(text.encode()).hexdigest()[:8]
            (folder / f"{name.replace(', ', '_')}-{digest}.txt").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
