"""Asks which of two papers in a group got the better decision, in both orders; the first order is random."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple

from assayer.llm import Llm, ask
from assayer.models import EvaluationId, Idea, IdeaId
from assayer.ranking.comparison import PairQuestion, build_comparison_task
from assayer.ranking.options import RankingOptions
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from benchmarks.quality.grapheval.data import InnoEval, Pair
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, measure_missing, sum_spending
from benchmarks.quality.papers import build_idea
from cluster.clock import SystemClock

Better = Literal["first", "second", "tie"]
_SIDES: Mapping[str, Better] = {"A": "first", "B": "second", "tie": "tie"}


class ShownPair(NamedTuple):
    """A pair in the order in which a judge first sees it."""

    name: str
    difficulty: str
    pair: Pair
    first: Idea
    second: Idea

    @property
    def better_is_first(self) -> bool:
        return self.first.source == self.pair.better


class PairOutcome(Outcome):
    first: IdeaId
    """Id of the paper shown first."""
    better: Better | None = None
    """None without a verdict, and `failure` says why."""
    reversed: Better | None = None
    """The verdict in the reversed order, in terms of that order."""


def draw_shown_pairs(data: InnoEval, seed: int) -> list[ShownPair]:
    """Return all pairs; which paper is shown first is random for each pair and seed and independent of the file's
    order."""
    ideas = {paper.id: build_idea(paper) for paper in data.grouped}
    shown_list = []
    for difficulty, pairs in data.pairs.items():
        for number, pair in enumerate(pairs):  # one pair occurs twice in the data
            name = f"{difficulty}:{number:03}"
            pair_ids = [pair.better, pair.worse]
            Random(f"{seed}:{name}").shuffle(pair_ids)
            shown_list.append(ShownPair(name, difficulty, pair, ideas[pair_ids[0]], ideas[pair_ids[1]]))
    return shown_list


async def ask_pairs(
    llm: Llm,
    options: RankingOptions,
    pairs: Sequence[ShownPair],
    seed: int,
    outcome_file: OutcomeFile[PairOutcome],
) -> None:
    """Ask about the pairs that have not been asked with this seed yet, in both orders."""

    async def ask_pair(pair: ShownPair, seed: int) -> PairOutcome:
        run = Run(EvaluationId(f"pair_{pair.name}_{seed}"), None, SystemClock(), NoProgress())
        verdict = await _ask_verdict(llm, options, run, pair.first, pair.second)
        reversed_verdict = await _ask_verdict(llm, options, run, pair.second, pair.first)
        return PairOutcome(
            item=pair.name,
            seed=seed,
            first=IdeaId(pair.first.source),
            better=verdict,
            reversed=reversed_verdict,
            spent=sum_spending(run.journal.calls),
        )

    firsts = {pair.name: IdeaId(pair.first.source) for pair in pairs}

    def build_failure(name: str, seed: int, reason: str) -> PairOutcome:
        return PairOutcome(item=name, seed=seed, failure=reason, first=firsts[name])

    await measure_missing(((pair, pair.name, seed) for pair in pairs), outcome_file, ask_pair, build_failure)


async def _ask_verdict(llm: Llm, options: RankingOptions, run: Run, first: Idea, second: Idea) -> Better:
    question = PairQuestion(
        dimensions=options.dimensions,
        first=first.text[: options.idea_chars],
        second=second.text[: options.idea_chars],
    )
    answer = await ask(llm, build_comparison_task(len(question.dimensions)), question, run)
    number = next(
        position for position, dimension in enumerate(options.dimensions, start=1) if dimension.name == options.order_by
    )
    return _SIDES[answer.get_entry(number).better]


def score_outcome(outcome: PairOutcome, pair: Pair) -> float:
    """Return the mean over both orders of 1 for the right verdict and 0.5 for a tie; 0 without a verdict."""
    if outcome.better is None or outcome.reversed is None:
        return 0.0
    is_first = outcome.first == pair.better
    return (_score_verdict(outcome.better, is_first) + _score_verdict(outcome.reversed, not is_first)) / 2


def _score_verdict(better: Better, stood_first: bool) -> float:
    return 0.5 if better == "tie" else float((better == "first") == stood_first)
