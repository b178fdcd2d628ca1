"""Outcomes of a job's items: reuse for equal items, and totals.

Each item ends with either a result, in which unavailable parts are absent with a reason, or a problem."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from assayer.models import Absent
from assayer_client.curation import (
    CandidateIdeas,
    CandidateIdeasOutcome,
    CuratedPaper,
    CurationOutcome,
    IdeaScores,
    ItemsResult,
    PaidOutcome,
    ScoreOutcome,
)
from assayer_client.item_jobs import ItemOutcome
from assayer_client.rewards import Reward, RewardOutcome, RewardsResult

OutcomeT = TypeVar("OutcomeT", bound=ItemOutcome)

_NO_USAGE = {"llm_requests": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}


def copy_for_duplicate(outcome: OutcomeT, item: int, name: str) -> OutcomeT:
    """Return a copy of an outcome for a later item with the same text. The copy has no cost and no token usage."""
    changed_fields: dict[str, Any] = {"item": item, "id": name, "duplicate_of": outcome.item, "seconds": 0.0}
    if isinstance(outcome, PaidOutcome):
        changed_fields |= _NO_USAGE
    elif isinstance(outcome, RewardOutcome) and outcome.reward is not None:
        changed_fields["reward"] = outcome.reward.model_copy(update=_NO_USAGE)
    return outcome.model_copy(update=changed_fields)


def classify_outcome(outcome: PaidOutcome) -> Literal["succeeded", "absent", "problem"]:
    match outcome:
        case CurationOutcome(paper=CuratedPaper(kind=kind)):
            is_absent = isinstance(kind, Absent)
        case CandidateIdeasOutcome(candidate_ideas=CandidateIdeas(candidates=candidates)):
            is_absent = not candidates
        case ScoreOutcome(scores=IdeaScores(scores=scores)):
            is_absent = all(isinstance(score.score, Absent) for score in scores)
        case _:
            return "problem"
    return "absent" if is_absent else "succeeded"


def classify_reward_outcome(
    outcome: RewardOutcome,
) -> Literal["match", "no_match", "absent", "decided_by_guard", "problem"]:
    if outcome.reward is None:
        return "problem"
    if outcome.reward.guard is not None:
        return "decided_by_guard"
    if isinstance(outcome.reward.value, Absent):
        return "absent"
    return "match" if outcome.reward.value else "no_match"


def summarise_items(
    kind: Literal["curation", "candidate_ideas", "score"], outcomes: Sequence[PaidOutcome]
) -> ItemsResult:
    counts = Counter(map(classify_outcome, outcomes))
    return ItemsResult(
        kind=kind, **_select_counts(counts, "succeeded", "absent", "problem"), **_compute_totals(outcomes, outcomes)
    )


def summarise_rewards(judge: str, outcomes: Sequence[RewardOutcome]) -> RewardsResult:
    counts = Counter(map(classify_reward_outcome, outcomes))
    rewards = [outcome.reward for outcome in outcomes if outcome.reward is not None]
    count_fields = _select_counts(counts, "match", "no_match", "decided_by_guard", "absent", "problem")
    return RewardsResult(judge=judge, **count_fields, **_compute_totals(outcomes, rewards))


def _select_counts(counts: Counter[Any], *names: str) -> dict[str, Any]:
    return {name: counts[name] for name in names}


def _compute_totals(outcomes: Sequence[ItemOutcome], paid_outcomes: Sequence[PaidOutcome | Reward]) -> dict[str, Any]:
    """Return the number of items, and the usage and cost of the items that were paid for."""
    unknown_cost = next((item.cost_usd for item in paid_outcomes if isinstance(item.cost_usd, Absent)), None)
    known_cost = sum(item.cost_usd for item in paid_outcomes if not isinstance(item.cost_usd, Absent))
    return {
        "items": len(outcomes),
        "repeated": sum(outcome.duplicate_of is not None for outcome in outcomes),
        "llm_requests": sum(item.llm_requests for item in paid_outcomes),
        "prompt_tokens": sum(item.prompt_tokens for item in paid_outcomes),
        "completion_tokens": sum(item.completion_tokens for item in paid_outcomes),
        "cost_usd": round(known_cost, 6) if unknown_cost is None else unknown_cost,
    }
