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
from benchmarks.measuring import build_parser

_READERS = Readers("benchmarks.hostile.fuzzing.readers")
_SHOWN_CHARACTERS = 100
_SLOWEST_COUNT = 10


def main() -> None:
    parser = build_parser("hostile.fuzzing", __doc__)
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
    _print_results(hunt.results, seed)
    if options.keep is not None:
        _write_texts(hunt.results, options.keep)
    if any(results.crashes or results.hangs for results in hunt.results.values()):
        sys.exit(1)


def _print_results(results: Mapping[str, ReaderResults], seed: int) -> None:
    case_count = sum(reader_results.cases for reader_results in results.values())
    crash_count = sum(len(reader_results.crashes) for reader_results in results.values())
    hang_count = sum(len(reader_results.hangs) for reader_results in results.values())
    print(
        f"{len(results)} readers, {case_count:,} texts, seed {seed}: "
        f"{crash_count} kinds of crashes, {hang_count} hangs.\n"
    )
    for name, reader_results in results.items():
        for crash, text in reader_results.crashes.items():
            print(f"crash  {name}: {crash}; {len(text):,} characters, {text[:_SHOWN_CHARACTERS]!r}")
        for text in reader_results.hangs:
            print(f"hang   {name}: {len(text):,} characters, {text[:_SHOWN_CHARACTERS]!r}")
    print("Slowest readers, in seconds of elapsed time for one text:")
    for name, reader_results in sorted(results.items(), key=lambda pair: -pair[1].slowest)[:_SLOWEST_COUNT]:
        print(f"  {reader_results.slowest:5.2f}  {name}")


def _write_texts(results: Mapping[str, ReaderResults], folder: Path) -> None:
    """Write the harmful texts to files named by reader and hash."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, reader_results in results.items():
        for text in (*reader_results.crashes.values(), *reader_results.hangs):
            digest = hashlib.sha256(text.encode()).hexdigest()[:8]
            (folder / f"{name.replace(', ', '_')}-{digest}.txt").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
