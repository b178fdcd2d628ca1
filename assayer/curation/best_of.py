"""The best of several candidates: by pairwise comparisons of all, or by single scores of each.

Candidates are shown in an order that is drawn anew from the seed and the question, and ties are broken by the same
order: being proposed first is worth nothing.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from assayer.curation.candidates import as_idea
from assayer.curation.options import CurationOptions
from assayer.curation.scoring import score_idea
from assayer.llm import Llm
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Absent, Idea, IdeaId
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import rank_ideas
from assayer.run.concurrency import Failed, gather_settled
from assayer.run.run import Run
from assayer_client.curation import BestBy, Candidate


class _Shown(NamedTuple):
    candidate: Candidate
    idea: Idea


async def place_candidates(
    candidates: Sequence[Candidate],
    by: BestBy,
    llm: Llm,
    run: Run,
    options: CurationOptions,
    ranking: RankingOptions,
    dimensions: tuple[RubricDimension, ...],
) -> tuple[Candidate, ...]:
    """Rank the candidates of one question, best first. A candidate without any evidence of its worth gets an absent
    place and comes last. Raises LlmRejected, LlmUnavailable and PartUnavailable."""
    shown = [_Shown(item, as_idea(item)) for item in shuffled(candidates, options.seed)]
    if len(shown) < 2:
        return tuple(item.candidate.model_copy(update={"place": 1}) for item in shown)
    if by == "comparisons":
        worth = await _by_comparisons(shown, llm, run, options, ranking)
    else:
        worth = await _by_scores(shown, llm, run, options, dimensions)
    return _placed(shown, worth)


def shuffled(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """Return the candidates in an order that depends on the seed and the question, not on the input order."""
    drawn = sorted(candidates, key=lambda candidate: candidate.number)
    question = drawn[0].question if drawn else ""
    Random(f"{seed} {question}").shuffle(drawn)  # noqa: S311 - an order to show things in is no secret
    return drawn


async def _by_comparisons(
    shown: Sequence[_Shown], llm: Llm, run: Run, options: CurationOptions, ranking: RankingOptions
) -> dict[IdeaId, float | Absent]:
    changed = {"analysed_ideas": 0, "calls_per_idea": options.calls_per_candidate, "seed": options.seed}
    found = (await rank_ideas([item.idea for item in shown], llm, run, ranking.model_copy(update=changed))).ranking
    if not found.judge.comparisons:
        return {item.idea.id: Absent(reason="No comparison of the candidates was answered.") for item in shown}
    never = Absent(reason="No comparison of it was answered.")
    return {idea.id: idea.strength if idea.comparisons else idea.unjudged or never for idea in found.ideas}


async def _by_scores(
    shown: Sequence[_Shown],
    llm: Llm,
    run: Run,
    options: CurationOptions,
    dimensions: tuple[RubricDimension, ...],
) -> dict[IdeaId, float | Absent]:
    async def one(item: _Shown) -> float | Absent:
        return (await score_idea(item.idea, dimensions, llm, run, options)).mean

    means = await gather_settled(shown, one)
    return {
        item.idea.id: Absent(reason=str(mean.error)) if isinstance(mean, Failed) else mean
        for item, mean in zip(shown, means, strict=True)
    }


def _placed(shown: Sequence[_Shown], worth: dict[IdeaId, float | Absent]) -> tuple[Candidate, ...]:
    """Assign places to the candidates; equal candidates keep the shuffled order."""
    known = [(item, value) for item in shown if not isinstance(value := worth[item.idea.id], Absent)]
    known.sort(key=lambda pair: -pair[1])
    placed = [item.candidate.model_copy(update={"place": place}) for place, (item, _) in enumerate(known, start=1)]
    unknown = [
        item.candidate.model_copy(update={"place": value})
        for item in shown
        if isinstance(value := worth[item.idea.id], Absent)
    ]
    return (*placed, *unknown)
