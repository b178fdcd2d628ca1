"""Points: InnoEval's score of each paper, to be compared with the conference's decision."""

from collections.abc import Sequence
from pathlib import Path

from assayer.methods.innoeval.options import METHOD
from assayer.models import Absent, Idea, Report
from assayer.reports.json_and_csv import render_json
from assayer.run.no_progress import NoProgress
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, Spending, get_usd, measure_missing
from cluster.engine import Engine


class PointOutcome(Outcome):
    score: float | None = None
    """0 to 10; None without a score, and `failure` says why."""


async def ask_points(
    engine: Engine, ideas: Sequence[Idea], seed: int, outcome_file: OutcomeFile[PointOutcome], reports: Path
) -> None:
    """Evaluate the ideas that have not been evaluated with this seed yet. Each idea's `source` is the paper's id;
    reports are written to the existing folder `reports`."""

    async def evaluate(idea: Idea, seed: int) -> PointOutcome:
        report = (await engine.evaluate(idea, METHOD, idea.cutoff, NoProgress())).report
        (reports / f"{idea.source}-{seed}.json").write_text(render_json(report), "utf-8")
        return build_outcome(report, seed)

    def build_failure(name: str, seed: int, reason: str) -> PointOutcome:
        return PointOutcome(item=name, seed=seed, failure=reason)

    await measure_missing(((idea, idea.source, seed) for idea in ideas), outcome_file, evaluate, build_failure)


def build_outcome(report: Report, seed: int) -> PointOutcome:
    score = report.board.score if report.board else Absent(reason="the report has no board")
    provenance = report.provenance
    return PointOutcome(
        item=report.idea.source,
        seed=seed,
        failure=score.reason if isinstance(score, Absent) else "",
        score=None if isinstance(score, Absent) else score.value,
        spent=Spending(
            calls=report.coverage.llm_requests,
            prompt_tokens=provenance.prompt_tokens,
            completion_tokens=provenance.completion_tokens,
            usd=get_usd(provenance.cost_usd),
        ),
    )
