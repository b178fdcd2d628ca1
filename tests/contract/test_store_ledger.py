"""Sums over the ledger."""

from assayer.models import Absent, Fault
from orchestrator.store import Database, PgAnswerCache, PgLedger
from tests.contract.store_records import answered, call, failed


async def test_totals_by_task_count_what_was_sent_and_hits_apart(database: Database) -> None:
    answers, ledger = PgAnswerCache(database), PgLedger(database)
    fault = Fault(kind="truncated", detail="cut at 4000 tokens")
    await answers.record(answered("a", record=call("x", faults=(fault,))), None)
    await answers.record(answered("a", record=call("x", cached=True, faults=(fault,))), None)
    await answers.record(failed("b"), None)

    methods, x = await ledger.totals("task")

    assert (methods.name, methods.calls, methods.failed, methods.cached) == ("scholareval.methods", 1, 1, 0)
    assert (x.name, x.calls, x.failed, x.cached) == ("x", 2, 0, 1)
    assert (x.prompt_tokens, x.completion_tokens, x.cost_usd) == (100, 10, 0.25)
    assert (x.latency_seconds, x.attempts, x.faults) == (2.0, 2, 1)


async def test_totals_unknown_price_is_absent_with_a_reason(database: Database) -> None:
    answers, ledger = PgAnswerCache(database), PgLedger(database)
    await answers.record(answered("a", record=call(model="priced")), None)
    await answers.record(answered("b", record=call(model="unpriced", cost_usd=None)), None)

    priced, unpriced = await ledger.totals("model")

    assert priced.cost_usd == 0.25
    assert unpriced.cost_usd == Absent(reason="The price of 1 calls is not known.")


async def test_totals_of_one_run_leave_the_others_out(database: Database) -> None:
    answers, ledger = PgAnswerCache(database), PgLedger(database)
    for run_id in ("one", "two", "two"):
        await answers.record(answered("a", run_id), None)

    assert [(total.name, total.calls) for total in await ledger.totals("run")] == [("one", 1), ("two", 2)]
    assert [total.calls for total in await ledger.totals("task", "two")] == [2]
    assert await ledger.totals("task", "three") == []
