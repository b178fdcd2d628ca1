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
from benchmarks.measuring import build_parser, format_heading
from benchmarks.records import DATA
from benchmarks.throughput.asked import Evaluate
from benchmarks.throughput.comparing import EngineResult, format_comparison
from benchmarks.throughput.ideas import make_copies, read_scholar_ideas
from benchmarks.throughput.meter import Meter
from benchmarks.throughput.over_http import Ground, Load, ServiceResult, measure_service
from cluster.engine import open_engine
from cluster.evaluation_processes import evaluate_in_processes
from cluster.settings import Settings
from cluster.settings_loading import load_settings
from simulator.counters import Stats
from simulator.process import Simulator

_SINGLE_IDEAS = 5
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
    options = _parse_options()
    print(format_heading(), flush=True)
    # On SIGTERM, it stops what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    selected_ideas = [idea for idea in read_scholar_ideas(options.data) if idea.source.startswith(options.only)]
    ideas = [copy for number in range(options.copies) for copy in make_copies(selected_ideas, number)][: options.ideas]
    with ExitStack() as stack:
        # Not below the working directory: under root, the database server runs as another user, who may not traverse
        # it.
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assayer-", ignore_cleanup_errors=True)))
        home.chmod(0o711)
        endpoint = None if options.no_llm else stack.enter_context(Simulator(**_build_simulator_settings(options)))
        single_outcome = asyncio.run(
            _measure_alone(options.method, _prepare_settings(options, home / "a", endpoint), ideas, endpoint)
        )
        batch_outcome = asyncio.run(
            _measure(options.method, _prepare_settings(options, home / "b", endpoint), ideas, endpoint)
        )
        service_result = (
            asyncio.run(_measure_service(options, home / "c", ideas, endpoint))
            if options.service and endpoint
            else None
        )
    if options.out:
        _write_reports(batch_outcome.reports, options.out)
    _print_results(options, single_outcome, batch_outcome)
    if service_result is not None:
        print("\n" + format_comparison(options.service, _summarise_engine_run(batch_outcome), service_result))


async def _measure_service(
    options: argparse.Namespace, home: Path, ideas: list[Idea], endpoint: Simulator
) -> ServiceResult:
    await asyncio.to_thread(home.mkdir)
    load = Load(ideas, options.method, options.concurrency, options.idle, options.corpus)
    return await measure_service(options.service, load, endpoint, home)


def _summarise_engine_run(batch_outcome: Outcome) -> EngineResult:
    meter, stats = batch_outcome.meter, batch_outcome.stats
    calls = stats.answered if stats else 0
    return EngineResult(len(batch_outcome.reports), meter.wall_seconds, meter.cpu_seconds, calls, meter.peak_rss_bytes)


def _parse_options() -> argparse.Namespace:
    parser = build_parser("throughput", __doc__)
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


def _build_simulator_settings(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "latency_mean": options.latency,
        "latency_spread": options.spread,
        "answer_fault_rate": options.faults,
    }


def _prepare_settings(options: argparse.Namespace, home: Path, endpoint: Simulator | None) -> Settings:
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
    evaluations = [Evaluate(idea, method) for idea in ideas]
    with Meter() as meter:  # including the start of engines
        result = await evaluate_in_processes(settings, (method,), evaluations, NoProgress(), lambda: None)
    return _build_outcome(
        ideas, [result.ended.get(number, result.stopped) for number in range(len(ideas))], meter, endpoint
    )


async def _measure_alone(method: str, settings: Settings, ideas: list[Idea], endpoint: Simulator | None) -> Outcome:
    """Evaluate the first ideas one after another in a running engine, as a service does when it is idle."""
    if endpoint is not None:
        endpoint.reset()
    first_ideas = ideas[:_SINGLE_IDEAS]
    results: list[Report | AssayerError] = []
    seconds = []
    started_at = time.monotonic()
    async with open_engine(settings, (method,)) as engine:
        start_seconds = time.monotonic() - started_at
        with Meter() as meter:
            for idea in first_ideas:
                started_at = time.monotonic()
                try:
                    results.append(await Evaluate(idea, method)(engine, NoProgress()))
                except AssayerError as error:
                    results.append(error)
                seconds.append(time.monotonic() - started_at)
    outcome = _build_outcome(first_ideas, results, meter, endpoint)
    return outcome._replace(seconds=tuple(seconds), start_seconds=start_seconds)


def _build_outcome(
    ideas: Sequence[Idea], results: Sequence[Report | AssayerError | None], meter: Meter, endpoint: Simulator | None
) -> Outcome:
    return Outcome(
        reports=[result for result in results if isinstance(result, Report)],
        failures=[
            f"{idea.source}: {result}"
            for idea, result in zip(ideas, results, strict=True)
            if not isinstance(result, Report)
        ],
        meter=meter,
        stats=endpoint.read_stats() if endpoint else None,
    )


def _write_reports(reports: list[Report], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for report in reports:
        (folder / f"{report.idea.source}.json").write_text(render_json(report), "utf-8")


def _print_results(options: argparse.Namespace, single_outcome: Outcome, batch_outcome: Outcome) -> None:
    mode = (
        "no LLM"
        if options.no_llm
        else f"{options.method}, simulator, {options.latency:g} s mean latency, {options.faults:.0%} faulty"
    )
    print(f"Mode: {mode}; {options.concurrency} ideas in flight at most, processes: {options.processes}")
    fits = Counter(str(getattr(report.coverage.corpus_fit, "level", "unknown")) for report in batch_outcome.reports)
    print(f"Corpus fit of the ideas: {dict(fits)}. For a poor fit, little is found and few calls are made.\n")
    _print_row("", "one at a time", "all together")
    _print_row(
        "reports / ideas",
        *(
            f"{len(outcome.reports)} / {len(outcome.reports) + len(outcome.failures)}"
            for outcome in (single_outcome, batch_outcome)
        ),
    )
    _print_row("wall, s", *(f"{outcome.meter.wall_seconds:.1f}" for outcome in (single_outcome, batch_outcome)))
    _print_row(
        "ideas per hour",
        *(
            f"{3600 * len(outcome.reports) / outcome.meter.wall_seconds:.0f}"
            for outcome in (single_outcome, batch_outcome)
        ),
    )
    _print_row(
        "CPU s per idea",
        *(
            f"{outcome.meter.cpu_seconds / max(len(outcome.reports), 1):.2f}"
            for outcome in (single_outcome, batch_outcome)
        ),
    )
    _print_row(
        "peak memory, MB", *(f"{outcome.meter.peak_rss_bytes / 1e6:.0f}" for outcome in (single_outcome, batch_outcome))
    )
    if single_outcome.stats is not None and batch_outcome.stats is not None:
        _print_llm_results(options, single_outcome, batch_outcome)
    for failure in batch_outcome.failures:
        print(f"no report: {failure}")


def _print_llm_results(options: argparse.Namespace, single_outcome: Outcome, batch_outcome: Outcome) -> None:
    outcomes = [
        (outcome, outcome.stats, max(len(outcome.reports), 1))
        for outcome in (single_outcome, batch_outcome)
        if outcome.stats
    ]
    original = ORIGINALS.get(options.method)
    _print_row("LLM calls per idea", *(f"{stats.answered / count:.0f}" for _, stats, count in outcomes))
    if original is not None:
        _print_row(
            "  of the original's",
            *(_format_share(stats.answered / count, original.calls) for _, stats, count in outcomes),
        )
    _print_row("prompt tokens per idea", *(f"{stats.prompt_tokens / count:,.0f}" for _, stats, count in outcomes))
    if original is not None:
        tokens = (_format_share(stats.prompt_tokens / count, original.prompt_tokens) for _, stats, count in outcomes)
        _print_row("  of the original's", *tokens)
    _print_row("peak calls in flight", *(str(stats.peak_in_flight) for _, stats, _ in outcomes))
    _print_row(
        "CPU ms per call, total",
        *(f"{1e3 * outcome.meter.cpu_seconds / stats.answered:.1f}" for outcome, stats, _ in outcomes),
    )
    _print_row("simulator CPU s", *(f"{stats.cpu_seconds:.1f}" for _, stats, _ in outcomes))
    print(
        f"\nOne idea alone in a running engine: {median(single_outcome.seconds):.1f} s in the median, "
        f"{min(single_outcome.seconds):.1f} to {max(single_outcome.seconds):.1f}; "
        f"it had started in {single_outcome.start_seconds:.1f} s."
    )
    fault_count = sum(fault.occurrences for report in batch_outcome.reports for fault in report.coverage.faults)
    recovered = sum(fault.recovered for report in batch_outcome.reports for fault in report.coverage.faults)
    print(f"All ideas: faults in coverage boxes {fault_count}, recovered {recovered};")
    stats = batch_outcome.stats
    print(f"faults that the simulator injected: {stats.injected if stats else {}}.")


def _format_share(value: float, original_range: tuple[int, int]) -> str:
    return f"{value / original_range[1]:.2f}–{value / original_range[0]:.2f}"


def _print_row(name: str, *cells: str) -> None:
    print(f"{name:<24}" + "".join(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    main()
