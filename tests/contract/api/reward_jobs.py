"""Rewards that are finished without a worker."""

from collections.abc import Sequence
from typing import Any

from assayer.models import Absent
from assayer_client.rewards import Reward, RewardOutcome, RewardsResult
from orchestrator.jobs.item_outcomes import summarise_rewards
from orchestrator.jobs.models import JobVerdict, Lease
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases, PgRewards
from tests.contract.api.service import Service

REWARD_ITEM = {
    "question": "How can forgetting be foreseen?",
    "idea": "We rehearse the examples that a small model predicts will be overwritten.",
    "abstract": "We predict which examples the next round of fine-tuning overwrites, and rehearse those.",
}


def build_reward_outcome(item: int, value: int | None = 1, **changes: Any) -> RewardOutcome:
    """Return the outcome of an item; without a value, its judges failed."""
    content = Absent(reason="Every analyst was lost.") if value is None else value
    reward = Reward.model_validate(
        {"value": content, "reason": "It says so.", "judge": "two_analysts", "cost_usd": 0.01}
    )
    return RewardOutcome(item=item, reward=reward, seconds=0.5, **changes)


async def store_outcomes(service: Service, lease: Lease, *outcomes: RewardOutcome, before: int = 0) -> None:
    """Store outcomes as the worker with this lease; `before` is the number of items already stored."""
    assert await PgRewards(service.database).store(lease, outcomes, before)


async def finish_rewards(service: Service, lease: Lease, outcomes: Sequence[RewardOutcome]) -> RewardsResult:
    """Mark the leased job as succeeded with these outcomes."""
    result = summarise_rewards("two_analysts", outcomes)
    verdict = JobVerdict(state="succeeded", result=result.model_dump(mode="json"), cost_usd=0.02)
    assert await PgLeases(service.database, QueueSettings()).finish(lease, verdict)
    return result
