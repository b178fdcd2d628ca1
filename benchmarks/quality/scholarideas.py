"""Evaluates ScholarIdeas' ideas and measures how much of the experts' statements the reports cover."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from assayer.llm import Llm, ask
from assayer.models import EvaluationId, Idea
from assayer.reports.json_and_csv import render_json
from assayer.run.concurrency import Failed, gather_settled
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, Spending, get_usd, measure_missing, sum_spending
from benchmarks.quality.report_text import split_text
from benchmarks.quality.rubrics import COVERAGE, CoverageQuestion, Rubric, compute_nearest_cosines
from cluster.clock import SystemClock
from cluster.engine import Engine

_STATEMENTS = 20
"""Number of statements that one call compares with a report."""
_REVIEW_CHARS = 60_000
"""Maximum characters of a review in one call. A longer review is split, and what any part covers counts as covered."""


class ReportOutcome(Outcome):
    """Outcome for one idea; the report is in a separate file."""


class CoverageOutcome(Outcome):
    scores: dict[int, int] = Field(default_factory=dict)
    """Scores from 1 to 5 by rubric number; rubrics without an answer are absent."""


async def ask_reports(
    engine: Engine, method: str, ideas: Sequence[Idea], outcome_file: OutcomeFile[ReportOutcome], folder: Path
) -> None:
    """Evaluate the ideas that have not been evaluated yet; reports are written to the existing `folder`."""

    async def evaluate(idea: Idea, seed: int) -> ReportOutcome:
        report = (await engine.evaluate(idea, method, idea.cutoff, NoProgress())).report
        (folder / f"{idea.source}.json").write_text(render_json(report), "utf-8")
        provenance = report.provenance
        spent = Spending(
            calls=report.coverage.llm_requests,
            prompt_tokens=provenance.prompt_tokens,
            completion_tokens=provenance.completion_tokens,
            usd=get_usd(provenance.cost_usd),
        )
        return ReportOutcome(item=idea.source, seed=seed, spent=spent)

    def build_failure(name: str, seed: int, reason: str) -> ReportOutcome:
        return ReportOutcome(item=name, seed=seed, failure=reason)

    await measure_missing(((idea, idea.source, 0) for idea in ideas), outcome_file, evaluate, build_failure)


async def ask_coverage(
    llm: Llm, reviews: Mapping[str, str], rubrics: Sequence[Rubric], outcome_file: OutcomeFile[CoverageOutcome]
) -> None:
    async def score_idea(idea: str, seed: int) -> CoverageOutcome:
        run = Run(EvaluationId(f"coverage_{idea}"), None, SystemClock(), NoProgress())
        idea_rubrics = [rubric for rubric in rubrics if rubric.idea == idea]
        batches = [idea_rubrics[start : start + _STATEMENTS] for start in range(0, len(idea_rubrics), _STATEMENTS)]
        pieces_and_rubrics = [
            (passage, batch) for batch in batches for passage in split_text(reviews[idea], _REVIEW_CHARS)
        ]

        async def score(item: tuple[str, Sequence[Rubric]]) -> dict[int, int]:
            passage, batch = item
            question = CoverageQuestion(review=passage, statements=tuple(rubric.statement for rubric in batch))
            answer = await ask(llm, COVERAGE, question, run)
            score_by_label = {entry.label: entry.score for entry in answer.judgements}
            return {rubric.number: score_by_label[f"S{position}"] for position, rubric in enumerate(batch, start=1)}

        outcomes = await gather_settled(pieces_and_rubrics, score)
        run.keep_successes(outcomes, "rubric")
        failure_texts = [str(outcome.error) for outcome in outcomes if isinstance(outcome, Failed)]
        scores = select_highest(
            [None if isinstance(outcome, Failed) else outcome for outcome in outcomes],
            [[rubric.number for rubric in batch] for _, batch in pieces_and_rubrics],
        )
        return CoverageOutcome(
            item=idea, seed=seed, failure="; ".join(failure_texts), scores=scores, spent=sum_spending(run.journal.calls)
        )

    def build_failure(name: str, seed: int, reason: str) -> CoverageOutcome:
        return CoverageOutcome(item=name, seed=seed, failure=reason)

    await measure_missing(((idea, idea, 0) for idea in reviews), outcome_file, score_idea, build_failure)


def select_highest(
    answers: Sequence[Mapping[int, int] | None], numbers_by_answer: Sequence[Sequence[int]]
) -> dict[int, int]:
    """Return the best score of any part of a review, by rubric. A rubric for which a part has no answer has no
    judgement, since that part might cover it."""
    scores: dict[int, int] = {}
    for answer in answers:
        for number, value in (answer or {}).items():
            scores[number] = max(value, scores.get(number, value))
    unknown_numbers = {
        number
        for answer, numbers in zip(answers, numbers_by_answer, strict=True)
        if answer is None
        for number in numbers
    }
    return {number: value for number, value in scores.items() if number not in unknown_numbers}


def measure_similarity(
    rubrics: Sequence[Rubric],
    sentences_by_idea: Mapping[str, Sequence[str]],
    texts: Mapping[str, Sequence[str]],
    vectorise: Callable[[Sequence[str]], NDArray[np.float32]],
) -> dict[str, NDArray[np.float64]]:
    """Return the cosine of every rubric with the nearest sentence, by source of the sentences.

    The sources are the idea's report, the report of the next idea in the same discipline, and the idea's own text.
    `sentences_by_idea` and `texts` contain sentences by idea."""
    vectors = {
        idea: vectorise(list(idea_sentences)) if idea_sentences else np.empty((0, 0), np.float32)
        for idea, idea_sentences in sentences_by_idea.items()
    }
    idea_vectors = {idea: vectorise(list(idea_sentences)) for idea, idea_sentences in texts.items()}
    no_vectors = np.empty((0, 0), np.float32)
    values_by_source: dict[str, list[float]] = {
        "its report": [],
        "the report of another idea": [],
        "the idea itself": [],
    }
    for idea in dict.fromkeys(rubric.idea for rubric in rubrics):
        statements = vectorise([rubric.statement for rubric in rubrics if rubric.idea == idea])
        values_by_source["its report"] += compute_nearest_cosines(statements, vectors.get(idea, no_vectors)).tolist()
        values_by_source["the report of another idea"] += compute_nearest_cosines(
            statements, vectors.get(_find_other_idea(idea, sentences_by_idea), no_vectors)
        ).tolist()
        values_by_source["the idea itself"] += compute_nearest_cosines(statements, idea_vectors[idea]).tolist()
    return {source: np.array(values) for source, values in values_by_source.items()}


def _find_other_idea(idea: str, sentences_by_idea: Mapping[str, object]) -> str:
    """Return the next idea of the same discipline, cyclically."""
    peers = [name for name in sentences_by_idea if name.partition("_")[0] == idea.partition("_")[0]]
    later_peers = [peer for peer in peers if peer > idea]
    return (later_peers or peers or [idea])[0]
