"""Where a call for a shard goes, and which shards fall to a process, as Serve tells both of the processes that run; no
Ray is started."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from ray import serve

from cluster.serving import pool_members as members
from cluster.serving.pool_members import note_pool_members, pool_members
from cluster.serving.shard_router import OPEN_SHARDS, ShardRouter
from cluster.serving.shared_shards import ShardSharing, SharedShards
from index.shards.rendezvous import list_shards_of_process, order_by_rendezvous

NAMES = ("red", "green", "blue", "grey")


def _create_replica(name: str, open_shards: tuple[int, ...] = ()) -> Any:
    return SimpleNamespace(replica_id=SimpleNamespace(unique_id=name), routing_stats={OPEN_SHARDS: open_shards})


def _call(*args: Any, method: str = "ask") -> Any:
    return SimpleNamespace(args=list(args), metadata=SimpleNamespace(call_method=method))


def _choose_replicas(replicas: list[Any], call: Any, copies: int = 2) -> list[list[str]]:
    router = ShardRouter.__new__(ShardRouter)
    router.initialize_state(copies=copies)
    ranks = asyncio.run(router.choose_replicas(replicas, call))
    return [[item.replica_id.unique_id for item in some] for some in ranks]


@pytest.mark.parametrize("shard", range(6))
def test_request_is_routed_only_to_replicas_holding_its_shard(shard: int) -> None:
    expected = order_by_rendezvous(shard, NAMES)[:2]
    assert _choose_replicas([_create_replica(name) for name in NAMES], _call(shard, "version")) == [expected]


def test_replica_with_the_shard_open_is_preferred() -> None:
    first, second, *_ = order_by_rendezvous(3, NAMES)
    replicas = [_create_replica(name, (3,) if name == second else ()) for name in NAMES]
    assert _choose_replicas(replicas, _call(3, "version")) == [[second], [first]]


def test_urgent_request_is_routed_by_its_shard_argument() -> None:
    expected = order_by_rendezvous(3, NAMES)[:2]
    assert _choose_replicas(
        [_create_replica(name) for name in NAMES], _call("ask", 3, "version", method="urgently")
    ) == [expected]


def test_next_replica_in_order_replaces_a_dead_replica() -> None:
    first, second, third, _ = order_by_rendezvous(3, NAMES)
    remaining = [_create_replica(name) for name in NAMES if name != first]
    assert _choose_replicas(remaining, _call(3, "version")) == [[second, third]]


def test_request_without_a_shard_is_routed_to_any_replica() -> None:
    assert _choose_replicas([_create_replica(name) for name in NAMES], _call(method="list_held_shards")) == [
        list(NAMES)
    ]


class Handle:
    """Handle of the own pool; its first call makes Serve report the processes."""

    def __init__(self) -> None:
        self.called: list[str] = []

    def options(self, method_name: str) -> Any:
        async def remote() -> None:
            self.called.append(method_name)

        return SimpleNamespace(remote=remote)


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch) -> Handle:
    new_handle = Handle()
    context = SimpleNamespace(replica_id=SimpleNamespace(unique_id="red"), deployment="pool of a test", app_name="app")
    monkeypatch.setattr(serve, "get_replica_context", lambda: context)
    monkeypatch.setattr(serve, "get_deployment_handle", lambda *_: new_handle)
    monkeypatch.setattr(members, "_MEMBERS", {})
    return new_handle


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def _list_assigned_shards(shards: SharedShards, clock: Clock, *names: str) -> list[int]:
    """Return the shards assigned once these processes have been known for a while."""
    note_pool_members("pool of a test", [*names])
    await shards.list_assigned_shards()
    clock.now += 6
    return await shards.list_assigned_shards()


async def test_replica_without_known_members_opens_no_shards(handle: Handle) -> None:
    shards = SharedShards(ShardSharing(12, 2, 4))
    assert await shards.list_assigned_shards() == []
    await asyncio.sleep(0)
    assert handle.called == ["list_held_shards"]
    await shards.list_assigned_shards()
    assert handle.called == ["list_held_shards"], "once is enough"


async def test_replica_opens_its_share_of_shards_among_running_replicas(handle: Handle) -> None:
    clock = Clock()
    shards = SharedShards(ShardSharing(12, 2, 2), clock)
    assert await _list_assigned_shards(shards, clock, *NAMES) == list_shards_of_process("red", 12, NAMES, 2)
    assert pool_members("pool of a test") == tuple(sorted(NAMES))
    assert await _list_assigned_shards(shards, clock, *NAMES[:2]) == list(range(12)), "of two processes both hold all"


async def test_first_replica_opens_no_shards_before_the_others_start(handle: Handle) -> None:
    clock = Clock()
    shards = SharedShards(ShardSharing(12, 1, len(NAMES)), clock)
    open_shards: set[int] = set()
    for count in range(1, len(NAMES)):
        note_pool_members("pool of a test", [*NAMES[:count]])
        open_shards |= {*await shards.list_assigned_shards()}
        clock.now += 30
        open_shards |= {*await shards.list_assigned_shards()}
    assert open_shards == set()
    assert await _list_assigned_shards(shards, clock, *NAMES) == list_shards_of_process("red", 12, NAMES, 1)


async def test_shards_of_a_lost_replica_are_taken_over_after_a_delay(handle: Handle) -> None:
    clock = Clock()
    shards = SharedShards(ShardSharing(12, 1, len(NAMES)), clock)
    before = await _list_assigned_shards(shards, clock, *NAMES)
    remaining = [name for name in NAMES if name != "green"]
    assert await _list_assigned_shards(shards, clock, *remaining) == []
    assert shards.choose_shards_to_close(range(12)) == [], "nothing is closed meanwhile either"
    clock.now += 60
    after = await shards.list_assigned_shards()
    assert {*before} < {*after} == {*list_shards_of_process("red", 12, remaining, 1)}


async def test_reassigned_shard_is_closed_once_it_is_no_longer_requested(handle: Handle) -> None:
    clock = Clock()
    shards = SharedShards(ShardSharing(12, 1, 1), clock)
    assert await _list_assigned_shards(shards, clock, "red") == list(range(12))
    own_shards = await _list_assigned_shards(shards, clock, *NAMES)
    other_shards = [number for number in range(12) if number not in own_shards]
    shards.note_asked(other_shards[0])
    assert shards.choose_shards_to_close(range(12)) == other_shards[1:]
    clock.now += 400
    assert shards.choose_shards_to_close(range(12)) == other_shards
