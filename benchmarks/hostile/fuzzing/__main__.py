"""`python -m benchmarks.hostile.fuzzing --minutes 10`: hostile texts for every function that reads external text.

Each text is read in a process that is killed if it uses more than five seconds of processor time. Errors that refuse a
text are allowed; any other error is a crash. `--keep FOLDER` writes the harmful texts to a folder.
"""

import hashlib
import random
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.hostile.fuzzing.child import Readers
from benchmarks.hostile.fuzzing.hunting import Hunt, ReaderResults
from benchmarks.hostile.fuzzing.readers import READERS
from benchmarks.measuring import command_line

_READERS = Readers("benchmarks.hostile.fuzzing.readers")
_SHOWN = 100
_SLOWEST = 10


def main() -> None:
    parser = command_line("hostile.fuzzing", __doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--only", default="", help="readers whose name contains this")
    parser.add_argument("--seed", type=int, default=None, help="random seed (default: a new one for each run)")
    parser.add_argument("--keep", type=Path, default=None)
    options = parser.parse_args()
    names = [name for name in READERS if options.only in name]
    if not names:
        sys.exit(f"No reader's name contains {options.only!r}.")
    seed = random.randrange(2**31) if options.seed is None else options.seed
    hunt = Hunt(_READERS, names, seed)
    hunt.run(options.minutes * 60)
    _tell(hunt.found, seed)
    if options.keep is not None:
        _keep(hunt.found, options.keep)
    if any(item.crashes or item.hangs for item in hunt.found.values()):
        sys.exit(1)


def _tell(results: Mapping[str, ReaderResults], seed: int) -> None:
    cases = sum(item.cases for item in results.values())
    crashes = sum(len(item.crashes) for item in results.values())
    hangs = sum(len(item.hangs) for item in results.values())
    print(f"{len(results)} readers, {cases:,} texts, seed {seed}: {crashes} kinds of crashes, {hangs} hangs.\n")
    for name, item in results.items():
        for crash, text in item.crashes.items():
            print(f"crash  {name}: {crash}; {len(text):,} characters, {text[:_SHOWN]!r}")
        for text in item.hangs:
            print(f"hang   {name}: {len(text):,} characters, {text[:_SHOWN]!r}")
    print("Slowest readers, in seconds of elapsed time for one text:")
    for name, item in sorted(results.items(), key=lambda pair: -pair[1].slowest)[:_SLOWEST]:
        print(f"  {item.slowest:5.2f}  {name}")


def _keep(results: Mapping[str, ReaderResults], folder: Path) -> None:
    """Write the harmful texts to files named by reader and hash."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, item in results.items():
        for text in (*item.crashes.values(), *item.hangs):
            digest = hashlib.sha256(text.encode()).hexdigest()[:8]
            (folder / f"{name.replace(', ', '_')}-{digest}.txt").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
