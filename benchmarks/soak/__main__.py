"""`python -m benchmarks.soak`: mixed traffic on one service for minutes or hours, and what grows meanwhile.

Users submit single evaluations and batches, read the API, and open pages of the console; the corpus is updated twice;
ended work is aged beyond its retention period and purged; webhooks go to a receiver that fails a third
of the time. The language model is simulated. Eight minutes of traffic precede the measurement, until the purge deletes
as much as is added. The exit status is 1 if a table or the memory grew without a bound, or if the last quarter was
slower than 1.2 times the first.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from benchmarks.chaos.__main__ import build_corpus
from benchmarks.measuring import build_parser, format_heading
from benchmarks.soak.figures import format_report
from benchmarks.soak.running import Soak, run


def main() -> None:
    options = _parse_options()
    print(f"{format_heading()}\n{options.minutes:g} minutes, rate {options.rate:g}, seed {options.seed}", flush=True)
    # Not below the working directory: run by root, the database's server is another user.
    with tempfile.TemporaryDirectory(prefix="assayer-soak-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o711)
        soak = Soak(
            seed=options.seed,
            corpus=build_corpus(home / "corpus"),
            seconds=60 * options.minutes,
            restart_seconds=60 * options.restart_every if options.restart_every else None,
            latency=options.latency,
            rate=options.rate,
        )
        try:
            result = asyncio.run(run(soak, home))
        finally:
            if options.log and (home / "serve.log").is_file():
                options.log.write_text((home / "serve.log").read_text("utf-8", "replace"), "utf-8")
    text, is_sound = format_report(result)
    print(text)
    sys.exit(not is_sound)


def _parse_options() -> argparse.Namespace:
    parser = build_parser("soak", __doc__)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument(
        "--restart-every", type=float, help="minutes between two restarts of PostgreSQL (default: none)"
    )
    parser.add_argument("--latency", type=float, default=1.0, help="mean latency of an LLM answer in seconds")
    parser.add_argument("--rate", type=float, default=1.0, help="traffic relative to the usual one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path, help="file to which the service's log is copied")
    return parser.parse_args()


if __name__ == "__main__":
    main()
