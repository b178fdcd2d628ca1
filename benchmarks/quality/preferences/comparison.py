"""One comparison of two reviews by a language model, asked in both orders: question, answer, task and outcome."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.llm import Llm, Task, ask
from assayer.models import EvaluationId, Label, Point, Report
from assayer.models.base import Frozen
from assayer.prompts import Prompts
from assayer.run.budget import Budget
from assayer.run.run import Run
from benchmarks.quality.kept import Kept, Outcome, do_the_rest, spent_on
from benchmarks.quality.points import Silent
from benchmarks.quality.report_text import plan_lines, quoted_words
from cluster.clock import SystemClock

__all__ = [
    "PREFERENCE",
    "RESPECTS",
    "PreferenceOutcome",
    "Respect",
    "ReviewPair",
    "ask_preferences",
    "review_text",
    "worth_of_second",
]

Respect = Literal["evidence", "actionability", "depth"]
Preferred = Literal["A", "B", "tie"]
RESPECTS: tuple[Respect, ...] = get_args(Respect)
_IDEA_CHARS = 6_000
_REVIEW_CHARS = 24_000
_Restated = Annotated[str, Field(max_length=400), TextRole.RESTATES]


class PreferenceQuestion(Frozen):
    idea: str
    first: str
    second: str


class RespectVerdict(Frozen):
    in_a: _Restated = Field(description="At most 30 words: what of review A weighs most in this respect.")
    in_b: _Restated = Field(description="At most 30 words: what of review B weighs most in this respect.")
    better: Preferred


class PreferenceAnswer(Frozen):
    evidence: RespectVerdict
    actionability: RespectVerdict
    depth: RespectVerdict


PREFERENCE = Task[PreferenceQuestion, PreferenceAnswer](
    name="quality.preference",
    prompts=Prompts("benchmarks.quality.preferences"),
    prompt="preference.v4.md",
    output=PreferenceAnswer,
    tier="strong",
    max_tokens=1_500,
)


class ReviewPair(NamedTuple):
    """Reports of one idea, each by one of two ways of making them."""

    name: str
    first: Report
    second: Report


class PreferenceOutcome(Outcome):
    second_shown_first: bool
    """In the first order; drawn by lot."""
    better: dict[Respect, Preferred] = Field(default_factory=dict)
    """In the first order, A being the review shown first; empty where there is no verdict."""
    reversed: dict[Respect, Preferred] = Field(default_factory=dict)
    """In the other order, in terms of that order."""


async def ask_preferences(
    llm: Llm, pairs: Sequence[ReviewPair], seed: int, budget: Budget, kept: Kept[PreferenceOutcome]
) -> None:
    """Both orders of each pair; which comes first is drawn by name and seed."""
    drawn = {pair.name: Random(f"{seed}:{pair.name}").random() < 0.5 for pair in pairs}

    async def one(pair: ReviewPair, seed: int) -> PreferenceOutcome:
        run = Run(EvaluationId(f"preference_{pair.name}_{seed}"), None, SystemClock(), Silent(), budget=budget)
        swapped = drawn[pair.name]
        shown = (pair.second, pair.first) if swapped else (pair.first, pair.second)
        return PreferenceOutcome(
            item=pair.name,
            seed=seed,
            second_shown_first=swapped,
            better=await _verdicts(llm, run, shown),
            reversed=await _verdicts(llm, run, shown[::-1]),
            spent=spent_on(run.journal.calls),
        )

    def failed(name: str, seed: int, why: str) -> PreferenceOutcome:
        return PreferenceOutcome(item=name, seed=seed, failure=why, second_shown_first=drawn[name])

    await do_the_rest(((pair, pair.name, seed) for pair in pairs), kept, one, failed)


async def _verdicts(llm: Llm, run: Run, shown: Sequence[Report]) -> dict[Respect, Preferred]:
    question = PreferenceQuestion(
        idea=shown[0].idea.text[:_IDEA_CHARS], first=review_text(shown[0]), second=review_text(shown[1])
    )
    answer = await ask(llm, PREFERENCE, question, run)
    return {
        "evidence": answer.evidence.better,
        "actionability": answer.actionability.better,
        "depth": answer.depth.better,
    }


def worth_of_second(outcome: PreferenceOutcome, respect: Respect) -> float | None:
    """1 where the second way's review is better in both orders, 0 where the first's is, a half for a tie or a verdict
    that the order turns; None where there is none."""
    if outcome.failure or respect not in outcome.better or respect not in outcome.reversed:
        return None
    one = _worth(outcome.better[respect], is_a=outcome.second_shown_first)
    other = _worth(outcome.reversed[respect], is_a=not outcome.second_shown_first)
    return (one + other) / 2


def _worth(better: Preferred, is_a: bool) -> float:
    return 0.5 if better == "tie" else float((better == "A") == is_a)


def review_text(report: Report) -> str:
    """What it says of the idea, without scores and without what would tell how it was made; at most 24,000 characters,
    whole points only, each once and with all its quotes, though another point has the same."""
    titles = {one.label: one.title for one in report.references}
    kept: list[str] = []
    left = _REVIEW_CHARS
    for said in dict.fromkeys(_said_once(report, titles)):
        if len(said) + 1 > left:
            break
        kept.append(said)
        left -= len(said) + 1
    return "\n".join(kept)


def _said_once(report: Report, titles: Mapping[Label, str]) -> Iterator[str]:
    listed = report.summary
    yield from _said([*listed.strengths, *listed.weaknesses, *listed.suggestions], titles)
    if report.plan_review:
        yield from plan_lines(report.plan_review, titles)
    for assessment in (one for part in report.parts for one in part.assessments):
        yield from _said(assessment.points, titles)


def _said(points: Iterable[Point], titles: Mapping[Label, str]) -> Iterator[str]:
    for one in points:
        lines = [f"{one.kind.capitalize()}: {one.text}"]
        for citation in one.citations:
            lines.append(f"    [{citation.label}] {titles.get(citation.label, 'unknown')}: {quoted_words(citation)}")
        yield "\n".join(lines)
