"""The batch book in PostgreSQL."""

import datetime as dt

import pytest

from assayer.models.llm_batches import BatchCall, CollectedCall, GatherRules, LineResult, OutgoingBatch
from orchestrator.store import Database
from orchestrator.store.llm_batches import PgBatchBook
from workers.llm.batches.batch_book import BatchBook

AT_ONCE = GatherRules(0.0, 60.0, 100, 10_000)
PATIENT = GatherRules(3_600.0, 3_600.0, 100, 10_000)


@pytest.fixture
def book(database: Database) -> BatchBook:
    return PgBatchBook(database, "endpoint", settled_seconds=0.0)


def build_call(
    key: str, model: str = "m", body: str = '{"ü": "\\u0000"}', minutes: float = 60, run: str = "one"
) -> BatchCall:
    until = dt.datetime.now(dt.UTC) + dt.timedelta(minutes=minutes)
    return BatchCall(key=key, run_id=run, model=model, body=body, until=until)


async def gather_batch(book: BatchBook, *calls: BatchCall) -> OutgoingBatch:
    """The batch in which the first of these calls leaves."""
    for call in calls:
        await book.enqueue(call)
    batch = await book.gather(AT_ONCE)
    assert batch is not None
    return batch


async def test_requests_for_a_model_share_a_batch_and_are_collected_when_closed(book: BatchBook) -> None:
    calls = [build_call("a"), build_call("b"), build_call("c", model="other")]
    batch = await gather_batch(book, *calls, calls[0])
    assert await book.list_open_batches() == [batch]
    assert sorted(await book.list_calls(batch.id), key=lambda call: call.key) == calls[:2]
    assert batch.until == calls[0].until
    assert await book.collect("a") is None
    await book.mark_sent(batch.id, "batch_7")
    assert [open_batch.remote_id for open_batch in await book.list_open_batches()] == ["batch_7"]
    await book.close(batch.id, [LineResult("a", '{"said": "ü\\u0000"}'), LineResult("b", None, "too late")])
    assert await book.list_open_batches() == []
    assert sorted(await book.find_ended(["a", "b", "c"])) == ["a", "b"]
    assert await book.collect("a") == CollectedCall('{"said": "ü\\u0000"}', "")
    assert await book.collect("b") == CollectedCall(None, "too late")


async def test_answer_is_billed_to_a_single_run(book: BatchBook) -> None:
    batch = await gather_batch(book, build_call("a"))
    await book.close(batch.id, [LineResult("a", "{}")])
    billed = [await book.claim_billing(["a", "unknown"], run) for run in ("one", "two", "one")]
    assert billed == [{"a"}, set(), {"a"}]


async def test_settled_answer_remains_collectable_and_new_request_starts_over(book: BatchBook) -> None:
    batch = await gather_batch(book, build_call("a"))
    await book.settle(["a"])
    assert await book.collect("a") is None, "what is out cannot be settled"
    await book.close(batch.id, [LineResult("a", "{}")])
    await book.settle(["a"])
    assert await book.collect("a") is not None
    again = build_call("a", run="three")
    second = await gather_batch(book, again)
    assert await book.find_ended(["a"]) == []
    assert await book.list_calls(second.id) == [again]


async def test_batch_is_sent_when_idle_or_full(book: BatchBook) -> None:
    for key in "abc":
        await book.enqueue(build_call(key))
    assert await book.gather(PATIENT) is None
    full = await book.gather(PATIENT._replace(most_requests=2))
    assert full is not None
    assert len(await book.list_calls(full.id)) == 2
    assert await book.gather(PATIENT._replace(most_bytes=1)) is not None, "one call leaves, whatever its size"
    assert await book.gather(AT_ONCE) is None


async def test_request_missing_from_batch_results_is_returned_with_error(book: BatchBook) -> None:
    batch = await gather_batch(book, build_call("a"))
    await book.close(batch.id, [LineResult("somebody else's", "{}")])
    await book.close(batch.id, [LineResult("a", "{}")])
    assert await book.collect("a") == CollectedCall(None, "the batch ended without a result for it")


async def test_request_past_its_deadline_is_returned_before_batching(book: BatchBook) -> None:
    await book.enqueue(build_call("late", minutes=-1))
    await book.enqueue(build_call("early"))
    await book.expire_overdue()
    assert await book.find_ended(["late", "early", "unknown"]) == ["late", "unknown"]


async def test_forget_older_counts_unsettled_answers(book: BatchBook) -> None:
    batch = await gather_batch(book, *map(build_call, "abcd"))
    await book.close(batch.id, [LineResult("a", "{}"), LineResult("b", "{}"), LineResult("c", None)])
    await book.settle(["b"])
    assert await book.delete_older(3_600) == 0
    assert await book.delete_older(-1) == 1
    assert await book.collect("a") is None


async def test_cancellation_time_of_a_batch_is_recorded(book: BatchBook) -> None:
    batch = await gather_batch(book, build_call("a"))
    await book.mark_cancelled(batch.id)
    assert [open_batch.cancelled_at is not None for open_batch in await book.list_open_batches()] == [True]


async def test_recently_settled_request_is_not_sent_again(database: Database) -> None:
    """A caller that looked for the answer just before it was stored finds it here."""
    book = PgBatchBook(database, "endpoint", settled_seconds=60.0)
    batch = await gather_batch(book, build_call("a"))
    await book.close(batch.id, [LineResult("a", "{}")])
    assert await book.claim_billing(["a"], "one") == {"a"}
    await book.settle(["a"])
    await book.enqueue(build_call("a", run="two"))
    assert await book.collect("a") == CollectedCall("{}", "")
    assert await book.claim_billing(["a"], "two") == set()
