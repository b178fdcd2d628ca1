"""Contract tests of answer stores, for the in-memory twin and PostgreSQL alike."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from assayer.errors import StorageError
from assayer.models import LedgerRow
from orchestrator.store import Database, DatabaseSettings, PgAnswerCache, PgLedger
from orchestrator.store.database import Connection
from tests.contract.store_records import answer, build_answered_row, build_failed_row, call
from workers.outbound.store import AnswerStore, InMemoryAnswerStore


@dataclass(frozen=True)
class Store:
    answers: AnswerStore
    ledger: Callable[[], Awaitable[list[LedgerRow]]]


def create_in_memory_store() -> Store:
    answers = InMemoryAnswerStore()

    async def ledger() -> list[LedgerRow]:
        return answers.ledger

    return Store(answers, ledger)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> Store:
    if request.param == "memory":
        return create_in_memory_store()
    database: Database = request.getfixturevalue("database")
    return Store(PgAnswerCache(database), lambda: PgLedger(database).list_rows("run"))


async def test_find_unknown_key_is_none(store: Store) -> None:
    assert await store.answers.find("nothing") is None


async def test_recorded_answer_is_returned_unchanged(store: Store) -> None:
    stored_answer = answer("k", '{"b": 1.50,  "a": "ü \\u0000 \\"[1]"}')

    await store.answers.record(build_answered_row("k"), stored_answer)

    assert await store.answers.find("k") == stored_answer


async def test_record_failure_leaves_a_row_and_no_answer(store: Store) -> None:
    row = build_failed_row("k", error="It said: \u201eno\u201c.")

    await store.answers.record(row, None)

    assert await store.answers.find("k") is None
    assert await store.ledger() == [row]


async def test_record_second_answer_keeps_the_first(store: Store) -> None:
    first, second = answer("k", '"first"'), answer("k", '"second"')

    await store.answers.record(build_answered_row("k"), first)
    await store.answers.record(build_answered_row("k"), second)

    assert await store.answers.find("k") == first
    assert len(await store.ledger()) == 2


async def test_unusable_answer_is_replaced_only_once(store: Store) -> None:
    bad, first, second = (answer("k", value) for value in ('"bad"', '"first"', '"second"'))

    await store.answers.record(build_answered_row("k"), bad)
    await store.answers.record(build_answered_row("k"), first, replaced=bad)
    await store.answers.record(build_answered_row("k"), second, replaced=bad)

    assert await store.answers.find("k") == first
    assert len(await store.ledger()) == 3


async def test_cache_hit_is_recorded_as_a_separate_ledger_row(store: Store) -> None:
    paid, hit = build_answered_row("k"), build_answered_row("k", record=call(cached=True, cost_usd=None))

    await store.answers.record(paid, answer("k"))
    await store.answers.record(hit, None)

    rows = await store.ledger()
    assert len(rows) == 2
    assert all(row in rows for row in (paid, hit))


async def test_concurrent_records_keep_a_single_answer_and_every_ledger_row(store: Store) -> None:
    values = [f'"{number}"' for number in range(100)]

    await asyncio.gather(*(store.answers.record(build_answered_row("k"), answer("k", value)) for value in values))

    cached = await store.answers.find("k")
    assert cached is not None
    assert cached.value in values
    assert len(await store.ledger()) == 100


async def test_recorded_answer_ends_its_claim_and_is_found_by_others(database: Database) -> None:
    store = PgAnswerCache(database)
    await store.find_or_claim("k", "mine", 60.0)

    await store.record(build_answered_row("k"), answer("k"), claimant="mine")

    assert await store.find_or_claim("k", "other", 60.0) == answer("k")
    assert await database.fetch("SELECT FROM reply_claims") == []


async def test_claim_is_not_ended_by_another_claimant(database: Database) -> None:
    store = PgAnswerCache(database)
    await store.find_or_claim("k", "mine", 60.0)

    await store.record(build_failed_row("k"), None, claimant="other")

    assert await store.find_or_claim("k", "other", 60.0) == "elsewhere"


async def test_concurrent_claimants_request_each_answer_only_once(database: Database) -> None:
    store = PgAnswerCache(database)

    async def ask(claimant: str, key: str) -> bool:
        while (claim := await store.find_or_claim(key, claimant, 60.0)) == "elsewhere":
            await store.find_unclaimed([key])
        if claim == "claimed":
            await store.record(build_answered_row(key), answer(key), claimant=claimant)
        return claim == "claimed"

    results = await asyncio.gather(*(ask(f"c{number}", f"k{number % 5}") for number in range(60)))

    assert sum(results) == 5


async def test_paid_answer_waits_for_the_database_longer_than_other_statements(
    database: Database, database_url: str
) -> None:
    """Simulates a minute without a database: an answer that is not stored is charged to no tenant, and paid for
    again."""
    settings = DatabaseSettings(url=SecretStr(database_url), max_connections=1, patience_seconds=0.5)
    claimant_gone, back = asyncio.Event(), asyncio.Event()

    async def hold(_: Connection) -> bool:
        claimant_gone.set()
        return await back.wait()

    async with Database(settings) as impatient_database:
        holding = asyncio.create_task(impatient_database.run(hold, 30.0))
        await claimant_gone.wait()
        writing = asyncio.create_task(PgAnswerCache(impatient_database).record(build_answered_row("k"), answer("k")))
        for _ in range(2):
            with pytest.raises(StorageError, match="no free connection"):
                await impatient_database.fetch("SELECT 1")
        assert not writing.done()
        back.set()
        await asyncio.gather(holding, writing)

    assert await PgAnswerCache(database).find("k") == answer("k")
