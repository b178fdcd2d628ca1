"""Contract tests of shared state, for the in-memory twin and PostgreSQL alike."""

import asyncio

import pytest

from cluster.clock import SystemClock
from orchestrator.store import Database, PgSharedState
from workers.outbound.store import InMemorySharedState, SharedState


@pytest.fixture(params=["memory", "postgres"])
def state(request: pytest.FixtureRequest) -> SharedState:
    if request.param == "memory":
        return InMemorySharedState(SystemClock())
    database: Database = request.getfixturevalue("database")
    return PgSharedState(database)


async def test_initial_state_is_empty_and_clock_is_close_to_local_time(state: SharedState) -> None:
    text, now = await state.change("k", lambda text, now: (text, (text, now)))
    assert text == "{}"
    assert abs(now - SystemClock().now().timestamp()) < 600


async def test_concurrent_changes_are_serialized(state: SharedState) -> None:
    def count(text: str, _: float) -> tuple[str, int]:
        number = 0 if text == "{}" else int(text)
        return str(number + 1), number

    results = await asyncio.gather(*(state.change("k", count) for _ in range(40)))
    assert sorted(results) == list(range(40))


async def test_failed_change_leaves_state_unchanged(state: SharedState) -> None:
    def raise_key_error(text: str, _: float) -> tuple[str, int]:
        raise KeyError(text)

    await state.change("k", lambda text, _: ("1", None))
    with pytest.raises(KeyError):
        await state.change("k", raise_key_error)
    assert await state.change("k", lambda text, _: (text, text)) == "1"
