"""Measures the source gateway against the simulated outside world, which runs in another process.

python -m benchmarks.remote crowd
python -m benchmarks.remote limits --processes 1 4 8
"""

import argparse
import asyncio
import statistics
from pathlib import Path

from benchmarks.remote import crowd, limits
from benchmarks.throughput.machine import machine

_PAPERS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "papers" / "papers.jsonl.gz"


def main() -> None:
    options = _options()
    print(f"Machine: {machine()}\n")
    papers = options.papers if options.papers.is_file() else None
    if options.what == "crowd":
        begun = crowd.Crowd(options.calls, options.askers, options.distinct)
        _show_crowd(asyncio.run(crowd.measure(papers, begun, options.spacing)))
        return
    knobs = {"latency_mean": options.latency, "grace": 0.0}
    print(_LIMITS_HEAD)
    for source in options.sources:
        for processes in options.processes:
            calls = options.calls if source == "semantic_scholar" else max(8, options.calls // 3)
            _show_limits(asyncio.run(limits.measure(source, processes, calls, papers, knobs)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.remote", description=__doc__)
    parser.add_argument("--papers", type=Path, default=_PAPERS, help="JSONL file (.gz too) of what the sources know")
    kinds = parser.add_subparsers(dest="what", required=True)
    many = kinds.add_parser("crowd", help=crowd.__doc__)
    many.add_argument("--calls", type=int, default=10_000)
    many.add_argument("--askers", type=int, default=100, help="evaluations that share the calls")
    many.add_argument("--distinct", type=int, default=1_000, help="papers asked for")
    many.add_argument("--spacing", type=float, default=0.0, help="seconds between two requests to the source")
    kept = kinds.add_parser("limits", help=limits.__doc__)
    kept.add_argument("--sources", nargs="+", default=["semantic_scholar", "arxiv"])
    kept.add_argument("--processes", type=int, nargs="+", default=[1, 4, 8])
    kept.add_argument("--calls", type=int, default=32, help="of all processes together (a third for arXiv)")
    kept.add_argument("--latency", type=float, default=0.3, help="mean seconds of a source's answer")
    return parser.parse_args()


def _show_crowd(made: crowd.Crowd) -> None:
    means, ends = made.mean_waits(), made.last_waits()
    print(f"{made.calls:,} calls at once of {made.askers:,} askers for {made.distinct:,} papers")
    print(f"requests at the source  {made.fetches:,} ({made.repeated} for a paper that had been asked for)")
    print(f"wall                    {made.wall_seconds:.1f} s")
    print(f"CPU a call              {1e3 * made.cpu_seconds / made.calls:.2f} ms ({made.cpu_seconds:.1f} s)")
    print(f"mean wait of an asker   {means[0]:.1f} to {means[-1]:.1f} s, median {statistics.median(means):.1f} s")
    print(f"last answer of an asker {ends[0]:.1f} to {ends[-1]:.1f} s, median {statistics.median(ends):.1f} s")
    print(f"who came late waited    {made.latecomer:.2f} s")
    before, waiting, peak, after, delivered = (
        f"{count / 1e6:.0f} MB"
        for count in (made.rss_before, made.rss_waiting, made.rss_peak, made.rss_after, made.bytes_delivered)
    )
    print(f"memory                  {before} before, {waiting} with all waiting, {peak} at the peak, {after} after")
    print(f"bodies delivered        {delivered}")


_LIMITS_HEAD = (
    f"{'source':<18}{'processes':>10}{'requests':>10}{'failed':>8}{'over limit':>12}{'least s':>9}{'at once':>9}"
    f"{'per s':>8}{'allowed':>9}{'CPU ms':>8}{'commits':>9}{'waits s':>14}"
)


def _show_limits(kept: limits.Kept) -> None:
    print(
        f"{kept.source:<18}{kept.processes:>10}{kept.requests:>10}{kept.failed:>8}{kept.over_limit:>12}"
        f"{kept.least_spacing or 0:>9.3f}{kept.peak_concurrency:>9}{kept.per_second:>8.2f}"
        f"{kept.allowed_per_second:>9.2f}{kept.cpu_ms:>8.1f}{kept.transactions:>9.1f}"
        f"{kept.waits[0]:>7.1f}–{kept.waits[-1]:.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
