"""`python -m benchmarks.literature`: ScholarEval with every remote source on, by 1, 4 and 8 processes at once.

The world outside is one simulated process with the real services' limits, the model another. For each number of
processes database, caches and counters begin anew. Ends with 1 when a source was not used or saw a request over its
limit by its own clock, or when an idea got no report.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from assayer.models import Report
from benchmarks.literature.evaluators import Outcome, evaluate, settings
from benchmarks.simulator.outside.counters import Stats
from benchmarks.simulator.outside.process import OutsideWorld
from benchmarks.simulator.process import Simulator
from benchmarks.throughput.ideas import scholar_ideas
from benchmarks.throughput.machine import machine

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
SERVICES = ("semantic_scholar", "arxiv", "openalex", "crossref", "unpaywall")


def main() -> None:
    options = _options()
    ideas = [idea for idea in scholar_ideas(options.data) if idea.source.startswith(tuple(options.only))]
    ideas = ideas[: options.ideas]
    papers = options.papers or options.data / "papers" / "papers.jsonl.gz"
    print(f"Machine: {machine()}")
    print(f"{len(ideas)} ideas; the model answers in {options.latency:g} s on average, the sources in 0.2 s\n")
    knobs = {service: {"latency_mean": 0.2} for service in SERVICES}
    failed = False
    with OutsideWorld(papers, knobs=knobs) as world, Simulator(latency_mean=options.latency) as llm:
        environment = settings(world, llm, options.corpus)
        for processes in options.processes:
            world.reset()
            with tempfile.TemporaryDirectory(prefix="assayer-", ignore_cleanup_errors=True) as folder:
                home = Path(folder)
                home.chmod(0o711)  # as root the embedded server runs as a user who must pass through it
                outcome = evaluate(ideas, processes, home, environment)
            stats = {service: world.stats(service) for service in SERVICES}
            _show(processes, len(ideas), outcome, stats)
            failed |= len(outcome.reports) < len(ideas) or any(map(_wrong, stats.values()))
    sys.exit(1 if failed else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.literature", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="directory that `assayer corpus build` made")
    parser.add_argument("--data", type=Path, default=DATA, help="folder with scholarideas/ (default: %(default)s)")
    parser.add_argument("--papers", type=Path, help="JSON Lines that the sources know (default: those of --data)")
    parser.add_argument("--only", nargs="*", default=["ai_", "neuro_"], help="ideas whose names begin so")
    parser.add_argument("--ideas", type=int, default=16, help="at most so many")
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 4, 8])
    parser.add_argument("--latency", type=float, default=0.5, help="mean seconds of one LLM answer")
    return parser.parse_args()


def _wrong(stats: Stats) -> bool:
    return not stats.requests or bool(stats.over_limit)


def _show(processes: int, ideas: int, outcome: Outcome, stats: dict[str, Stats]) -> None:
    print(f"{processes} process(es): {len(outcome.reports)} of {ideas} reports in {outcome.wall_seconds:.0f} s")
    print(f"{'':<18}{'requests':>10}{'over limit':>12}{'429':>6}{'least spacing':>15}{'asked twice':>13}", end="")
    print(f"{'in reports':>12}{'cached':>8}{'unanswered':>12}")
    used, cached, unanswered = _told(outcome.reports)
    for service, one in stats.items():
        spacing = "" if one.least_spacing is None else f"{one.least_spacing:.3f} s"
        print(f"{service:<18}{one.requests:>10}{one.over_limit:>12}{one.by_status.get('429', 0):>6}", end="")
        print(f"{spacing:>15}{one.repeated:>13}{used[service]:>12}{cached[service]:>8}{unanswered[service]:>12}")
    cited = [reference for report in outcome.reports for reference in report.references]
    elsewhere = sum(reference.source != "corpus" for reference in cited)
    marked = sum(reference.retraction is not None for reference in cited)
    texts = sum(report.coverage.full_texts for report in outcome.reports)
    print(f"cited: {len(cited)}, from beyond the corpus {elsewhere}, marked as retracted {marked};", end=" ")
    print(f"papers read beyond the abstract: {texts}")
    for complaint in outcome.complaints:
        print(f"! {complaint.strip()}")
    print(flush=True)


def _told(reports: list[Report]) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """What the coverage boxes say by source: requests answered, from the cache among them, and without an answer."""
    used, cached, unanswered = Counter[str](), Counter[str](), Counter[str]()
    for report in reports:
        for use in report.coverage.sources:
            used[use.source] += use.requests
            cached[use.source] += use.cached
        for trouble in report.coverage.troubles:
            unanswered[trouble.source] += trouble.requests
    return used, cached, unanswered


if __name__ == "__main__":
    main()
