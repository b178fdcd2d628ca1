"""Requests that may wait are sent in batches at half price, and no fault makes an answer be paid twice."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from assayer.errors import MalformedAnswer, StorageError
from assayer.llm import Answer
from assayer.models.llm_batches import BatchCall
from cluster.clock import SystemClock
from orchestrator.store import Database, PgAnswerCache, PgClaims, PgLedger
from orchestrator.store.llm_batches import PgBatchBook
from simulator.process import Simulator
from tests.contract.batch_tier_stand import ask_all, ask_each, build_statement, create_overnight_run, open_stand
from tests.contract.weighing import WEIGHING, a_question, a_run
from tests.polling import wait_until_async
from workers.llm.batches.remote_batches import write_batch_lines
from workers.outbound.store import InMemoryAnswerStore

_REPAIRED_SEED = 1
"""A seed with which every faulty answer is repaired, so that no request fails."""


@pytest.fixture
def simulated(simulator: Simulator) -> Simulator:
    simulator.configure(batch_seconds=0.1)
    return simulator


async def test_requests_of_several_runs_share_a_half_price_batch(simulated: Simulator, database: Database) -> None:
    async with open_stand(simulated, database) as stand:
        answers = await ask_all(stand.gateway, [create_overnight_run(f"run{number}") for number in range(4)], 5)
        stats = simulated.read_stats()
        assert (stats.batches, stats.batch_answers, stats.requests) == (1, 20, 0)
        assert isinstance(stand.answers, InMemoryAnswerStore)
        paid = sum(row.record.cost_usd or 0.0 for row in stand.answers.ledger)
        assert paid == pytest.approx((2.0 * stats.prompt_tokens + 10.0 * stats.completion_tokens) / 2e6)
        assert {answer.record.attempts for answer in answers} == {1}
        again = await ask_all(stand.gateway, [create_overnight_run("later")], 5)
    assert all(answer.record.cached for answer in again)
    assert simulated.read_stats().batches == 1


@pytest.mark.parametrize(
    ("trouble", "live"),
    [
        ({"batch_line_error_rate": 0.3}, range(1, 20)),
        ({"batch_stall_rate": 1.0, "batch_window_seconds": 0.5}, range(10, 11)),
        ({"batch_cancelled_rate": 1.0}, range(10, 11)),
        ({"batch_failed_rate": 1.0}, range(20, 21)),
        ({"batch_lost_reply_rate": 0.6}, range(1)),
        ({"server_error_rate": 0.3, "batch_line_error_rate": 0.5}, range(1, 40)),
    ],
    ids=["lines", "expired", "cancelled", "failed", "lost replies", "live errors"],
)
async def test_requests_unanswered_by_batch_use_live_endpoint_without_double_payment(
    simulated: Simulator, database: Database, trouble: dict[str, float], live: range
) -> None:
    simulated.configure(**trouble)
    async with open_stand(simulated, database) as stand:
        answers = await ask_all(stand.gateway, [create_overnight_run()], 20)
        assert isinstance(stand.answers, InMemoryAnswerStore)
        paid = sum(row.record.cost_usd or 0.0 for row in stand.answers.ledger)
    stats = simulated.read_stats()
    assert len(answers) == 20
    assert stats.requests in live
    assert stats.repeated_answers == 0
    assert paid == pytest.approx((2.0 * stats.billed_prompt_tokens + 10.0 * stats.billed_completion_tokens) / 1e6)


async def test_batch_past_deadline_is_cancelled_and_live_endpoint_takes_over(
    simulated: Simulator, database: Database
) -> None:
    simulated.configure(batch_seconds=600.0)
    async with open_stand(simulated, database) as stand:
        await ask_all(stand.gateway, [create_overnight_run(seconds=1.5)], 6)
    stats = simulated.read_stats()
    assert (stats.batches, stats.repeated_answers) == (1, 0)
    assert stats.answered == 6
    assert stats.batch_answers < 6


async def test_requests_past_their_deadline_skip_the_batch(simulated: Simulator, database: Database) -> None:
    async with open_stand(simulated, database) as stand:
        await ask_all(stand.gateway, [create_overnight_run(seconds=-1)], 3)
    assert (simulated.read_stats().requests, simulated.read_stats().batches) == (3, 0)


async def test_urgent_request_does_not_wait_for_identical_batched_request(
    simulated: Simulator,
    database: Database,
) -> None:
    simulated.configure(batch_seconds=600.0)
    async with open_stand(simulated, database) as stand:
        waiting = asyncio.create_task(ask_all(stand.gateway, [create_overnight_run()], 1))
        await wait_until_async(lambda: asyncio.to_thread(simulated.read_stats), lambda stats: stats.batches == 1)
        answer = await stand.gateway.run(WEIGHING, a_question(build_statement(0)), a_run("urgent"))
        assert not answer.record.cached
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_cancelled_caller_pays_nothing_and_finds_answer_later(simulated: Simulator, database: Database) -> None:
    simulated.configure(batch_seconds=0.5)
    async with open_stand(simulated, database) as stand:
        waiting = asyncio.create_task(ask_all(stand.gateway, [create_overnight_run()], 4))
        await wait_until_async(lambda: asyncio.to_thread(simulated.read_stats), lambda stats: stats.batches == 1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await ask_all(stand.gateway, [create_overnight_run()], 4)
        assert isinstance(stand.answers, InMemoryAnswerStore)
        paid = [row.record.cost_usd for row in stand.answers.ledger]
    assert simulated.read_stats().batch_answers == 4
    assert sorted(cost > 0 for cost in paid if cost is not None) == [False] * 4 + [True] * 4


async def test_caller_cancelled_between_answer_and_repair_pays_once(simulated: Simulator, database: Database) -> None:
    simulated.configure(answer_fault_rate=0.5, answer_faults={"invalid_json": 1.0}, batch_seconds=0.3)
    async with open_stand(simulated, database) as stand:
        waiting = asyncio.create_task(ask_all(stand.gateway, [create_overnight_run("one")], 12))
        await wait_until_async(lambda: asyncio.to_thread(simulated.read_stats), lambda stats: stats.batches == 2)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        ended = await asyncio.gather(
            *ask_each(stand.gateway, [create_overnight_run("two")], 12), return_exceptions=True
        )
        assert isinstance(stand.answers, InMemoryAnswerStore)
        records = [row.record for row in stand.answers.ledger]
    assert {type(item) for item in ended} == {Answer, MalformedAnswer}, "half the answers are faulty, so some are lost"
    stats, paid = simulated.read_stats(), sum(record.cost_usd or 0.0 for record in records if not record.cached)
    assert max(record.attempts for record in records) > 1
    assert paid == pytest.approx((2.0 * stats.billed_prompt_tokens + 10.0 * stats.billed_completion_tokens) / 1e6)


async def test_processes_sharing_a_database_send_and_pay_each_request_once(
    simulated: Simulator, database: Database
) -> None:
    simulated.configure(seed=_REPAIRED_SEED, answer_fault_rate=0.3)
    stores = PgAnswerCache(database), PgBatchBook(database, "endpoint"), PgClaims(database)
    async with open_stand(simulated, database, *stores) as stand, open_stand(simulated, database, *stores) as two:
        await asyncio.gather(
            ask_all(stand.gateway, [create_overnight_run("one")], 8),
            ask_all(two.gateway, [create_overnight_run("two")], 8),
        )
    stats = simulated.read_stats()
    rows = [*await PgLedger(database).list_rows("one"), *await PgLedger(database).list_rows("two")]
    paid = sum(row.record.cost_usd or 0.0 for row in rows if not row.record.cached)
    assert stats.repeated_answers == 0
    assert paid == pytest.approx((2.0 * stats.billed_prompt_tokens + 10.0 * stats.billed_completion_tokens) / 1e6)


class ForgetfulBook(PgBatchBook):
    """Book that fails, the first time, to record that a batch was sent."""

    forgets = True

    async def mark_sent(self, batch_id: str, remote_id: str) -> None:
        if self.forgets:
            self.forgets = False
            raise StorageError("The database went away.")
        await super().mark_sent(batch_id, remote_id)


async def test_unrecorded_batch_is_found_at_the_endpoint(simulated: Simulator, database: Database) -> None:
    async with open_stand(simulated, database, book=ForgetfulBook(database, "endpoint")) as stand:
        await ask_all(stand.gateway, [create_overnight_run()], 8)
    stats = simulated.read_stats()
    assert (stats.batches, stats.batch_answers, stats.repeated_answers) == (1, 8, 0)


_CHILD = """
import asyncio, sys
from pydantic import SecretStr
from simulator.process import Simulator
from orchestrator.store import Database, DatabaseSettings, PgAnswerCache, PgClaims
from orchestrator.store.llm_batches import PgBatchBook
from tests.contract.batch_tier_stand import ask_all, ask_each, open_stand, create_overnight_run

async def main(base_url, database_url):
    simulated = Simulator()
    simulated.base_url = base_url
    async with Database(DatabaseSettings(url=SecretStr(database_url))) as database:
        book = PgBatchBook(database, "endpoint")
        async with open_stand(simulated, database, PgAnswerCache(database), book, PgClaims(database)) as stand:
            await ask_all(stand.gateway, [create_overnight_run("one"), create_overnight_run("two")], 6)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_batch_of_a_killed_process_is_found_and_not_resent(
    simulated: Simulator, database: Database, database_url: str
) -> None:
    simulated.configure(batch_seconds=2.0)
    root = Path(__file__).parents[2]
    arguments = ("-c", _CHILD, simulated.base_url, database_url)
    child = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=root)
    await wait_until_async(lambda: asyncio.to_thread(simulated.read_stats), lambda stats: stats.batches == 1)
    child.kill()
    await child.wait()
    await database.execute("DELETE FROM reply_claims")  # they expire by themselves, in less than a minute
    book = PgBatchBook(database, "endpoint")
    async with open_stand(simulated, database, PgAnswerCache(database), book, PgClaims(database)) as stand:
        await ask_all(stand.gateway, [create_overnight_run("one"), create_overnight_run("two")], 6)
    stats = simulated.read_stats()
    assert (stats.batches, stats.batch_answers, stats.requests, stats.repeated_answers) == (1, 12, 0, 0)
    rows = [*await PgLedger(database).list_rows("one"), *await PgLedger(database).list_rows("two")]
    paid = sum(row.record.cost_usd or 0.0 for row in rows)
    assert paid == pytest.approx((2.0 * stats.billed_prompt_tokens + 10.0 * stats.billed_completion_tokens) / 1e6)


def test_requests_with_common_prefixes_are_adjacent_in_batch_file() -> None:
    until = SystemClock().now()
    bodies = ['{"a": "idea 2, claim"}', '{"a": "other"}', '{"a": "idea 2, aim"}', '{"a": "idea 1"}']
    calls = [
        BatchCall(key=f"{number}" * 64, run_id="run", model="m", body=body, until=until)
        for number, body in enumerate(bodies)
    ]
    lines = [json.loads(line) for line in write_batch_lines(calls).splitlines()]
    assert [line["body"]["a"] for line in lines] == ["idea 1", "idea 2, aim", "idea 2, claim", "other"]
    assert lines[0]["custom_id"] == "3" * 64
