"""`python -m benchmarks.chaos`: kill processes at random for minutes, then check the database tables.

The language model is simulated. The exit status is 1 if an evaluation was lost, duplicated or worked on after its
verdict, or if the service did not recover.
"""

import argparse
import asyncio
import logging
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.chaos.run_summary import summarise
from benchmarks.chaos.running import KINDS, Chaos, run
from benchmarks.measuring import build_parser, format_heading

_EXAMPLES = Path(__file__).parents[2] / "examples"
_PROGRAM = Path(sys.executable).with_name("assayer")


def main() -> None:
    options = _parse_options()
    # SIGTERM raises KeyboardInterrupt, so that the processes started here are stopped.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    logging.getLogger("benchmarks").setLevel(logging.INFO)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"{format_heading()}\nDeployment: {options.ground}; seed {options.seed}", flush=True)
    # Not below the working directory: run by root, the database's server is another user, who may not have access to
    # it.
    with tempfile.TemporaryDirectory(prefix="assayer-chaos-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o711)
        outcome = asyncio.run(run(_build_chaos(options, _prepare_corpus(options, home / "corpus")), home))
        if options.log and (home / "serve.log").is_file():
            options.log.write_text((home / "serve.log").read_text("utf-8", "replace"), "utf-8")
    print(summarise(outcome))
    sys.exit(bool(outcome.findings.violations or outcome.gave_up))


def _prepare_corpus(options: argparse.Namespace, directory: Path) -> Path:
    """Build the corpus if necessary and return its path; if a bucket is set, publish it there."""
    if options.bucket is not None:
        return build_corpus(directory, "--shards", str(options.shards), ASSAYER_CORPUS__SOURCE=options.bucket)
    return Path(options.corpus) if options.corpus else build_corpus(directory)


def _parse_options() -> argparse.Namespace:
    parser = build_parser("chaos", __doc__)
    parser.add_argument("--ground", choices=tuple(KINDS), default="one-process")
    parser.add_argument("--kinds", nargs="+", help="kinds of processes to kill (default: all of this deployment)")
    parser.add_argument(
        "--minutes",
        type=float,
        default=5.0,
        help="minutes during which evaluations are submitted and processes are killed",
    )
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--tenants", type=int, default=3)
    parser.add_argument("--every", type=float, default=15.0, help="mean seconds between two kills")
    parser.add_argument("--kills", type=int, help="maximum number of kills; they may then take longer than --minutes")
    parser.add_argument("--latency", type=float, default=0.5, help="mean latency of an LLM answer in seconds")
    parser.add_argument("--outages", type=int, default=0, help="number of database outages")
    parser.add_argument("--outage-seconds", type=float, default=60.0, help="duration of each outage in seconds")
    parser.add_argument("--upgrade", action="store_true", help="upgrade the service to another version half-way")
    parser.add_argument("--erased", type=float, default=0.0, help="share of evaluations erased during the run")
    parser.add_argument("--cancelled", type=float, default=0.1, help="share of evaluations cancelled")
    parser.add_argument("--documents", type=float, default=0.0, help="share of evaluations submitted as files")
    parser.add_argument("--no-storms", action="store_true", help="no faults of the LLM endpoint")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--corpus", type=Path, help="corpus made by `assayer corpus build` (default: the example corpus)"
    )
    parser.add_argument("--small", action="store_true", help="RayService: at most two processes per pool")
    parser.add_argument("--bucket", help="RayService: publish the corpus in this bucket, from which each node pulls it")
    parser.add_argument("--shards", type=int, default=6, help="number of shards of the corpus in the bucket")
    parser.add_argument(
        "--settling",
        type=float,
        default=600.0,
        help="maximum seconds for the remaining evaluations to end after the faults",
    )
    parser.add_argument("--ray-logs", type=Path, help="folder to which the logs of the Ray nodes are copied")
    parser.add_argument("--log", type=Path, help="file to which the service's log is copied")
    return parser.parse_args()


def _build_chaos(options: argparse.Namespace, corpus: Path) -> Chaos:
    return Chaos(
        seed=options.seed,
        ground=options.ground,
        kinds=tuple(options.kinds or KINDS[options.ground]),
        texts=generate_texts(options.evaluations),
        corpus=corpus,
        tenants=options.tenants,
        seconds=60 * options.minutes,
        max_kills=options.kills,
        mean_pause=options.every,
        latency=options.latency,
        with_faults=not options.no_storms,
        outages=options.outages,
        outage_seconds=options.outage_seconds,
        with_upgrade=options.upgrade,
        erased_share=options.erased,
        document_share=options.documents,
        cancelled_share=options.cancelled,
        has_small_pools=options.small,
        settling_seconds=options.settling,
        bucket=options.bucket,
        shards=options.shards,
        ray_logs=options.ray_logs,
    )


def generate_texts(count: int) -> list[str]:
    """Return `count` different texts based on the example ideas, so that no cached answer can be reused."""
    files = sorted(file for file in (_EXAMPLES / "ideas").iterdir() if file.suffix in {".txt", ".md"})
    ideas = [file.read_text("utf-8") for file in files]
    return [f"{ideas[number % len(ideas)]}\n\nThis is variant {number} of the plan." for number in range(count)]


def build_corpus(corpus: Path, *options: str, **variables: str) -> Path:
    environment = {**os.environ, "ASSAYER_CORPUS__PATH": str(corpus), **variables}
    command = [str(_PROGRAM), "corpus", "build", str(_EXAMPLES / "corpus.jsonl"), *options]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return corpus


if __name__ == "__main__":
    main()
