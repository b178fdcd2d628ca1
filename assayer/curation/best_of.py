"""Choose the best of several candidates, by pairwise comparisons or by individual scores.

The seed and the question determine the order in which candidates are shown, and ties are broken by that order. So
candidates proposed first have no advantage."""

from collections.abc import Sequence
from random import Random

from assayer.curation.candidates import convert_to_idea
from assayer.curation.options import CurationOptions
from assayer.curation.scoring import score_idea
from assayer.llm import Llm
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Absent, Idea
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import rank_ideas
from assayer.run.concurrency import Failed, gather_settled
from assayer.run.run import Run
from assayer_client.curation import BestBy, Candidate


async def place_candidates(
    candidates: Sequence[Candidate],
    criterion: BestBy,
    llm: Llm,
    run: Run,
    options: CurationOptions,
    ranking: RankingOptions,
    dimensions: tuple[RubricDimension, ...],
) -> tuple[Candidate, ...]:
    """Rank the candidates for one question, best first. A candidate for which every request failed has an absent place
    and comes last. Raises LlmRejected, LlmUnavailable or ComponentUnavailable if the endpoint or a service component
    fails."""
    shuffled_candidates = shuffle_candidates(candidates, options.seed)
    if len(shuffled_candidates) < 2:
        return tuple(item.model_copy(update={"rank": 1}) for item in shuffled_candidates)
    ideas = [convert_to_idea(item) for item in shuffled_candidates]
    if criterion == "comparisons":
        values = await _score_by_comparisons(ideas, llm, run, options, ranking)
    else:
        values = await _score_by_dimensions(ideas, llm, run, options, dimensions)
    # Equal candidates keep the shuffled order.
    scored_candidates = [
        (item, value) for item, value in zip(shuffled_candidates, values, strict=True) if not isinstance(value, Absent)
    ]
    scored_candidates.sort(key=lambda pair: -pair[1])
    places: list[tuple[Candidate, int | Absent]] = [
        (item, place) for place, (item, _) in enumerate(scored_candidates, start=1)
    ]
    places += [
        (item, value) for item, value in zip(shuffled_candidates, values, strict=True) if isinstance(value, Absent)
    ]
    return tuple(item.model_copy(update={"rank": place}) for item, place in places)


def shuffle_candidates(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """Shuffle the candidates into an order that depends only on the seed and the question."""
    shuffled_candidates = sorted(candidates, key=lambda candidate: candidate.number)
    question = shuffled_candidates[0].question if shuffled_candidates else ""
    Random(f"{seed} {question}").shuffle(shuffled_candidates)  # noqa: S311 - a display order need not be secret
    return shuffled_candidates


async def _score_by_comparisons(
    ideas: Sequence[Idea], llm: Llm, run: Run, options: CurationOptions, ranking: RankingOptions
) -> list[float | Absent]:
    option_changes = {
        "analysed_ideas": 0,
        "comparisons_per_idea": options.comparisons_per_candidate,
        "seed": options.seed,
    }
    idea_ranking = (await rank_ideas(ideas, llm, run, ranking.model_copy(update=option_changes))).ranking
    if not idea_ranking.judge.comparisons:
        return [Absent(reason="All comparisons of the candidates failed.")] * len(ideas)
    no_score = Absent(reason="No comparison of this candidate succeeded.")
    strengths = {
        idea.id: idea.strength if idea.comparisons else idea.unjudged or no_score for idea in idea_ranking.ideas
    }
    return [strengths[idea.id] for idea in ideas]


async def _score_by_dimensions(
    ideas: Sequence[Idea],
    llm: Llm,
    run: Run,
    options: CurationOptions,
    dimensions: tuple[RubricDimension, ...],
) -> list[float | Absent]:
    async def compute_mean_score(idea: Idea) -> float | Absent:
        return (await score_idea(idea, dimensions, llm, run, options)).mean

    means = await gather_settled(ideas, compute_mean_score)
    return [Absent(reason=str(item.error)) if isinstance(item, Failed) else item for item in means]
