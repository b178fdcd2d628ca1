"""Points: InnoEval's score of each paper against the decision that the conference came to."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import Estimate
from assayer.methods.innoeval.options import METHOD
from assayer.models import Absent, Idea, IdeaId, Report
from assayer.ports import ProgressEvent
from assayer.reports.json_and_csv import as_json
from benchmarks.quality.contenders import (
    Contender,
    Floats,
    Labels,
    always,
    at_base_rates,
    by_calibration,
    by_thresholds,
    measures,
    platt,
    ranked,
    reliability,
)
from benchmarks.quality.grapheval.data import InnoEval
from benchmarks.quality.grapheval.graphs import Embedded
from benchmarks.quality.grapheval.reporting import row, shown
from benchmarks.quality.kept import Kept, Outcome, Spent, do_the_rest, reasons, usd
from benchmarks.quality.learned import learned_on_points
from benchmarks.quality.papers import GRADINGS, LABEL_SETS, Grading, LabelSet, agreements, labels
from cluster.engine import Engine

__all__ = ["PointOutcome", "Silent", "ask_points", "contenders", "points_report", "scores_of"]


class PointOutcome(Outcome):
    score: float | None = None
    """0 to 10; None where there is none, and `failure` says why."""


class Silent:
    def report(self, event: ProgressEvent) -> None:
        pass


class Setup(NamedTuple):
    rounds: int
    """Of the bootstrap."""
    repeats: int
    """Of the baselines' folds."""
    seed: int


async def ask_points(engine: Engine, ideas: Sequence[Idea], seed: int, kept: Kept[PointOutcome], reports: Path) -> None:
    """Evaluates what was not evaluated with this seed yet. `source` is the paper's id; reports are written to an
    existing folder."""

    async def one(idea: Idea, seed: int) -> PointOutcome:
        report = (await engine.evaluate(idea, METHOD, idea.cutoff, Silent())).report
        (reports / f"{idea.source}-{seed}.json").write_text(as_json(report), "utf-8")
        return outcome_of(report, seed)

    def failed(name: str, seed: int, why: str) -> PointOutcome:
        return PointOutcome(item=name, seed=seed, failure=why)

    await do_the_rest(((idea, idea.source, seed) for idea in ideas), kept, one, failed)


def outcome_of(report: Report, seed: int) -> PointOutcome:
    score = report.board.score if report.board else Absent(reason="the report has no board")
    made = report.provenance
    return PointOutcome(
        item=report.idea.source,
        seed=seed,
        failure=score.reason if isinstance(score, Absent) else "",
        score=None if isinstance(score, Absent) else score.value,
        spent=Spent(
            calls=report.coverage.llm_calls,
            prompt_tokens=made.prompt_tokens,
            completion_tokens=made.completion_tokens,
            usd=usd(made.cost_usd),
        ),
    )


def scores_of(data: InnoEval, outcomes: Sequence[PointOutcome]) -> list[Floats]:
    """One row of scores a seed, in the order of the points; NaN where there is no score."""
    place = {one.id: row for row, one in enumerate(data.points)}
    seeds = sorted({one.seed for one in outcomes})
    scores = np.full((len(seeds), len(place)), np.nan)
    for one in outcomes:
        at = place.get(IdeaId(one.item))
        if at is not None and one.score is not None:
            scores[seeds.index(one.seed), at] = one.score
    return list(scores)


def contenders(
    scores: Sequence[Floats], rows: NDArray[np.int64], truth: Labels, grading: Grading, known: Embedded, setup: Setup
) -> Iterator[Contender]:
    """`truth` in the grading; trivial baselines, learned ones, GraphEval, and InnoEval where there are scores."""
    classes = len(grading.classes)
    commonest = int(np.bincount(truth, minlength=classes).argmax())
    yield always(f"always the commonest ({grading.classes[commonest]})", commonest, len(truth), classes)
    yield always("always reject", 0, len(truth), classes)
    yield at_base_rates(truth, classes, setup.seed)
    yield from learned_on_points(known, rows, truth, grading, setup.repeats, setup.seed)
    if scores:
        ours = [one[rows] for one in scores]
        decided = [by_thresholds(one, truth, classes, setup.seed) for one in ours]
        two = classes == 2
        order = [ranked(one) for one in ours] if two else ()
        probable = [platt(one, truth, setup.seed) for one in ours] if two else ()
        yield Contender("InnoEval, thresholds in folds", decided, order, probable)
        yield Contender(
            "InnoEval, as the program decides",
            [by_calibration(one, truth, grading.classes, setup.seed) for one in ours],
        )


def points_report(data: InnoEval, outcomes: Sequence[PointOutcome], known: Embedded, setup: Setup) -> Iterator[str]:
    scores = scores_of(data, outcomes)
    for one in agreements(data):
        yield (
            f"Labels are doubtful: of {one.shared} papers in {one.sets} {one.contradict} have two different labels, "
            f"{one.on_acceptance} on acceptance."
        )
    for which in LABEL_SETS:
        rows, four = labels(data, which)
        for grading in GRADINGS:
            truth = grading.of(four)
            yield from _table(which, grading, contenders(scores, rows, truth, grading, known, setup), truth, setup)
    if scores:
        yield from _about_scores(data, scores, outcomes, setup)


def _table(which: LabelSet, grading: Grading, found: Iterator[Contender], truth: Labels, setup: Setup) -> Iterator[str]:
    counts = ", ".join(f"{int((truth == label).sum())} {name}" for label, name in enumerate(grading.classes))
    yield f"\n{len(grading.classes)} outcomes, labels {which}: {counts}\n"
    names = ["accuracy", "macro-F1", *(["AUROC", "ECE", "Brier"] if len(grading.classes) == 2 else [])]
    yield row("", *names, "no decision")
    yield row(*["---"] * (len(names) + 2))
    for one in found:
        values = measures(one, truth, setup.rounds, setup.seed)
        silent = np.mean([np.isnan(run).any(axis=1).mean() for run in one.decided])
        yield row(one.name, *(_cell(values.get(name)) for name in names), f"{silent:.2f}")


def _cell(estimate: Estimate | None) -> str:
    return "–" if estimate is None or np.isnan(estimate.value) else shown(estimate)


def _about_scores(
    data: InnoEval, scores: Sequence[Floats], outcomes: Sequence[PointOutcome], setup: Setup
) -> Iterator[str]:
    truth = GRADINGS[0].of(labels(data, "of the points")[1])
    yield "\nReliability of the probability of acceptance (logistic regression on the score, in folds):\n"
    yield row("papers", "said", "accepted")
    yield row("---", "---", "---")
    for one in reliability(truth, platt(scores[0], truth, setup.seed)):
        yield row(str(one.papers), f"{one.said:.2f}", f"{one.accepted:.2f}")
    failures = [one for one in outcomes if one.failure]
    yield f"\n{len(outcomes)} evaluations, {len(failures)} without a score."
    yield from reasons(failures)
    if len(scores) > 1:
        table = np.array(scores)
        spread = np.nanmean(np.nanstd(table, axis=0, ddof=1))
        between = np.nanstd(np.nanmean(table, axis=0), ddof=1)
        yield (
            f"Repeats: a paper's score differs between {len(scores)} boards by σ = {spread:.2f} on average; "
            f"papers differ from each other by σ = {between:.2f}."
        )
