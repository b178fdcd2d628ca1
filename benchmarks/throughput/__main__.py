"""`python -m benchmarks.throughput`: ideas per hour, calls and tokens per idea, wall time.

The engine runs in this process, or in the number given by `--processes`, with an embedded PostgreSQL in a fresh data
directory. The LLM is the simulator, in another process on the same machine. First five ideas are evaluated one after
another in a running engine, then all ideas at once, with the start of the engines included. With `--service`, the same
ideas are then sent to a service over HTTP as one batch, while another client requests one idea after another.
"""

import argparse
import asyncio
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, get_args

from assayer.errors import AssayerError
from assayer.methods import scholareval
from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer.methods.review import METHOD as REVIEW
from assayer.methods.scicompanion.options import METHOD as SCICOMPANION
from assayer.models import Idea, Report
from assayer.reports.json_and_csv import render_json
from assayer.run.no_progress import NoProgress
from benchmarks.measuring import command_line, heading
from benchmarks.records import DATA
from benchmarks.throughput.asked import Evaluate
from benchmarks.throughput.comparing import Alone, compared
from benchmarks.throughput.ideas import copies, scholar_ideas
from benchmarks.throughput.meter import Meter
from benchmarks.throughput.over_http import Ground, Load, Served, measured
from cluster.engine import open_engine
from cluster.evaluation_processes import evaluate_in_processes
from cluster.settings import Settings
from cluster.settings_loading import load_settings
from simulator.counters import Stats
from simulator.process import Simulator

_ALONE = 5
"""Number of ideas evaluated one after another."""


class Original(NamedTuple):
    """Measured usage of the method's official code per idea, as minimum and maximum."""

    calls: tuple[int, int]
    prompt_tokens: tuple[int, int]


ORIGINALS = {
    scholareval.METHOD: Original((514, 1_107), (1_300_000, 1_800_000)),
    INNOEVAL: Original((237, 257), (1_200_000, 1_400_000)),
}


METHODS = (*ORIGINALS, SCICOMPANION, REVIEW)
"""All methods. There is no published code for SciCompanion and the review to compare with."""


class Outcome(NamedTuple):
    reports: list[Report]
    failures: list[str]
    meter: Meter
    stats: Stats | None
    seconds: tuple[float, ...] = ()
    """Wall time of each idea, if they were evaluated one after another."""
    start_seconds: float = 0.0
    """Time in which the engine started, if it is not part of the measurement."""


def main() -> None:
    options = _options()
    print(heading(), flush=True)
    # On SIGTERM, it stops what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    chosen = [idea for idea in scholar_ideas(options.data) if idea.source.startswith(options.only)]
    ideas = [copy for number in range(options.copies) for copy in copies(chosen, number)][: options.ideas]
    with ExitStack() as stack:
        # Not below the working directory: under root, the database server runs as another user, who may not traverse
        # it.
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assayer-", ignore_cleanup_errors=True)))
        home.chmod(0o711)
        endpoint = None if options.no_llm else stack.enter_context(Simulator(**_knobs(options)))
        alone = asyncio.run(_measure_alone(options.method, _settings(options, home / "a", endpoint), ideas, endpoint))
        together = asyncio.run(_measure(options.method, _settings(options, home / "b", endpoint), ideas, endpoint))
        served = asyncio.run(_serve(options, home / "c", ideas, endpoint)) if options.service and endpoint else None
    if options.out:
        _write(together.reports, options.out)
    _show(options, alone, together)
    if served is not None:
        print("\n" + compared(options.service, _alone(together), served))


async def _serve(options: argparse.Namespace, home: Path, ideas: list[Idea], endpoint: Simulator) -> Served:
    await asyncio.to_thread(home.mkdir)
    load = Load(ideas, options.method, options.concurrency, options.idle, options.corpus)
    return await measured(options.service, load, endpoint, home)


def _alone(together: Outcome) -> Alone:
    meter, stats = together.meter, together.stats
    calls = stats.answered if stats else 0
    return Alone(len(together.reports), meter.wall_seconds, meter.cpu_seconds, calls, meter.peak_rss_bytes)


def _options() -> argparse.Namespace:
    parser = command_line("throughput", __doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="directory made by `assayer corpus build`")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with scholarideas/ (default: %(default)s)")
    parser.add_argument("--method", choices=METHODS, default=scholareval.METHOD)
    parser.add_argument("--ideas", type=int, help="largest number of ideas (default: all)")
    parser.add_argument("--only", default="", help="only ideas whose names have this prefix; the corpus covers ai_")
    parser.add_argument(
        "--copies", type=int, default=1, help="copies of each idea, each worded differently so that no answer is shared"
    )
    parser.add_argument("--concurrency", type=int, default=48, help="ideas in flight")
    parser.add_argument("--processes", type=int, default=1, help="number of processes that evaluate")
    parser.add_argument("--latency", type=float, default=2.0, help="mean time of an LLM answer in seconds")
    parser.add_argument("--spread", type=float, default=0.25, help="standard deviation of the latency over its mean")
    parser.add_argument("--faults", type=float, default=0.0, help="share of faulty answers, of all kinds")
    parser.add_argument("--no-llm", action="store_true", help="measure evaluations without a model instead")
    parser.add_argument(
        "--service", choices=get_args(Ground), help="then evaluate the same ideas through the service over HTTP"
    )
    parser.add_argument("--idle", type=int, default=5, help="interactive ideas before the batch, with --service")
    parser.add_argument("--out", type=Path, help="write the batch's reports to this folder as JSON")
    return parser.parse_args()


def _knobs(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "latency_mean": options.latency,
        "latency_spread": options.spread,
        "answer_fault_rate": options.faults,
    }


def _settings(options: argparse.Namespace, home: Path, endpoint: Simulator | None) -> Settings:
    os.environ |= {
        "ASSAYER_HOME": str(home),
        "ASSAYER_CORPUS__PATH": str(options.corpus),
        "ASSAYER_EVALUATION__CONCURRENCY": str(options.concurrency),
        "ASSAYER_EVALUATION__PROCESSES": str(options.processes),
    }
    if endpoint is not None:
        os.environ |= {"ASSAYER_LLM__BASE_URL": endpoint.base_url, "ASSAYER_LLM__MODEL": "simulated"}
    return load_settings()


async def _measure(method: str, settings: Settings, ideas: list[Idea], endpoint: Simulator | None) -> Outcome:
    if endpoint is not None:
        endpoint.reset()
    works = [Evaluate(idea, method) for idea in ideas]
    with Meter() as meter:  # including the start of engines
        done = await evaluate_in_processes(settings, (method,), works, NoProgress(), lambda: None)
    return _outcome(ideas, [done.ended.get(number, done.stopped) for number in range(len(ideas))], meter, endpoint)


async def _measure_alone(method: str, settings: Settings, ideas: list[Idea], endpoint: Simulator | None) -> Outcome:
    """Evaluate the first ideas one after another in a running engine, as a service does when it is idle."""
    if endpoint is not None:
        endpoint.reset()
    chosen = ideas[:_ALONE]
    ended: list[Report | AssayerError] = []
    seconds = []
    begun = time.monotonic()
    async with open_engine(settings, (method,)) as engine:
        start_seconds = time.monotonic() - begun
        with Meter() as meter:
            for idea in chosen:
                begun = time.monotonic()
                try:
                    ended.append(await Evaluate(idea, method)(engine, NoProgress()))
                except AssayerError as error:
                    ended.append(error)
                seconds.append(time.monotonic() - begun)
    outcome = _outcome(chosen, ended, meter, endpoint)
    return outcome._replace(seconds=tuple(seconds), start_seconds=start_seconds)


def _outcome(
    ideas: Sequence[Idea], ended: Sequence[Report | AssayerError | None], meter: Meter, endpoint: Simulator | None
) -> Outcome:
    return Outcome(
        reports=[item for item in ended if isinstance(item, Report)],
        failures=[
            f"{idea.source}: {item}" for idea, item in zip(ideas, ended, strict=True) if not isinstance(item, Report)
        ],
        meter=meter,
        stats=endpoint.stats() if endpoint else None,
    )


def _write(reports: list[Report], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for report in reports:
        (folder / f"{report.idea.source}.json").write_text(render_json(report), "utf-8")


def _show(options: argparse.Namespace, alone: Outcome, together: Outcome) -> None:
    mode = (
        "no LLM"
        if options.no_llm
        else f"{options.method}, simulator, {options.latency:g} s mean latency, {options.faults:.0%} faulty"
    )
    print(f"Mode: {mode}; {options.concurrency} ideas in flight at most, processes: {options.processes}")
    fits = Counter(str(getattr(report.coverage.corpus_fit, "level", "unknown")) for report in together.reports)
    print(f"Corpus fit of the ideas: {dict(fits)}. For a poor fit, little is found and few calls are made.\n")
    _row("", "one at a time", "all together")
    _row(
        "reports / ideas",
        *(f"{len(item.reports)} / {len(item.reports) + len(item.failures)}" for item in (alone, together)),
    )
    _row("wall, s", *(f"{item.meter.wall_seconds:.1f}" for item in (alone, together)))
    _row("ideas per hour", *(f"{3600 * len(item.reports) / item.meter.wall_seconds:.0f}" for item in (alone, together)))
    _row("CPU s per idea", *(f"{item.meter.cpu_seconds / max(len(item.reports), 1):.2f}" for item in (alone, together)))
    _row("peak memory, MB", *(f"{item.meter.peak_rss_bytes / 1e6:.0f}" for item in (alone, together)))
    if alone.stats is not None and together.stats is not None:
        _show_llm(options, alone, together)
    for failure in together.failures:
        print(f"no report: {failure}")


def _show_llm(options: argparse.Namespace, alone: Outcome, together: Outcome) -> None:
    both = [(item, item.stats, max(len(item.reports), 1)) for item in (alone, together) if item.stats]
    original = ORIGINALS.get(options.method)
    _row("LLM calls per idea", *(f"{stats.answered / count:.0f}" for _, stats, count in both))
    if original is not None:
        _row("  of the original's", *(_share(stats.answered / count, original.calls) for _, stats, count in both))
    _row("prompt tokens per idea", *(f"{stats.prompt_tokens / count:,.0f}" for _, stats, count in both))
    if original is not None:
        tokens = (_share(stats.prompt_tokens / count, original.prompt_tokens) for _, stats, count in both)
        _row("  of the original's", *tokens)
    _row("peak calls in flight", *(str(stats.peak_in_flight) for _, stats, _ in both))
    _row("CPU ms per call, total", *(f"{1e3 * item.meter.cpu_seconds / stats.answered:.1f}" for item, stats, _ in both))
    _row("simulator CPU s", *(f"{stats.cpu_seconds:.1f}" for _, stats, _ in both))
    print(
        f"\nOne idea alone in a running engine: {median(alone.seconds):.1f} s in the median, "
        f"{min(alone.seconds):.1f} to {max(alone.seconds):.1f}; it had started in {alone.start_seconds:.1f} s."
    )
    met = sum(fault.occurrences for report in together.reports for fault in report.coverage.faults)
    recovered = sum(fault.recovered for report in together.reports for fault in report.coverage.faults)
    print(f"All ideas: faults in coverage boxes {met}, recovered {recovered};")
    stats = together.stats
    print(f"faults that the simulator injected: {stats.injected if stats else {}}.")


def _share(value: float, of: tuple[int, int]) -> str:
    return f"{value / of[1]:.2f}–{value / of[0]:.2f}"


def _row(name: str, *cells: str) -> None:
    print(f"{name:<24}" + "".join(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    main()
