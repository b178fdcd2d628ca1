"""`client.rewards`: what both clients offer of rewards."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

from assayer_client import rewards as calls
from assayer_client.event_stream import EventStream
from assayer_client.item_jobs import AsyncItemJobs, ItemJobs
from assayer_client.operations import AsyncRunner, Operation, Runner
from assayer_client.resources import Event
from assayer_client.rewards import AcceptedRewards, RewardOutcome, RewardsBody, RewardsResource

__all__ = ["AsyncRewards", "Rewards"]


class _OneRollout:
    debate_text = Operation(calls.debate_text)
    verify = Operation(calls.verify)
    compare = Operation(calls.compare)
    compare_all = Operation(calls.compare_all)


class Rewards(ItemJobs[RewardsBody, AcceptedRewards, RewardsResource, RewardOutcome], _OneRollout):
    """Of a client for programs that wait. Every method raises ApiProblem and ServiceUnreachable."""

    def __init__(
        self,
        runner: Runner,
        follow: Callable[[EventStream[Event], int], Iterator[Event]],
        sleep: Callable[[float], None],
    ) -> None:
        super().__init__(calls.REWARDS, runner, follow, sleep)


class AsyncRewards(AsyncItemJobs[RewardsBody, AcceptedRewards, RewardsResource, RewardOutcome], _OneRollout):
    """Rewards, to be awaited: the same methods with the same parameters and errors."""

    def __init__(
        self,
        runner: AsyncRunner,
        follow: Callable[[EventStream[Event], int], AsyncIterator[Event]],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        super().__init__(calls.REWARDS, runner, follow, sleep)
