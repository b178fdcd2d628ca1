"""No answer is paid for twice, and every call writes a row to the ledger."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from assayer.errors import BudgetExhausted, LlmRejected, MalformedAnswer, StorageError
from assayer.run.budget import Budget
from orchestrator.store import PgAnswerCache
from tests.contract.llm_gateways import create_gateway
from tests.contract.scripted_llm import ScriptedLlm, refuse, say
from tests.contract.weighing import WEIGHING, Question, Weighing, a_question, a_run, an_answer
from workers.outbound.store import AnswerStore, InMemoryAnswerStore

GOOD = say(an_answer())


class SlowAnswers(InMemoryAnswerStore):
    """Answer store whose writes wait until they are released."""

    def __init__(self) -> None:
        super().__init__()
        self.writing = asyncio.Event()
        self.go = asyncio.Event()

    async def record(self, *arguments: Any, **options: Any) -> None:
        self.writing.set()
        await self.go.wait()
        await super().record(*arguments, **options)


class BrokenAnswers(InMemoryAnswerStore):
    async def record(self, *_: Any, **__: Any) -> None:
        raise StorageError("The disk is full.")


@pytest.fixture(params=["memory", "postgres"])
def answers(request: pytest.FixtureRequest) -> AnswerStore:
    return InMemoryAnswerStore() if request.param == "memory" else PgAnswerCache(request.getfixturevalue("database"))


async def test_unshared_answers_are_cached_per_tenant(answers: AnswerStore) -> None:
    async with ScriptedLlm(GOOD, GOOD, GOOD) as llm, create_gateway(llm, answers) as gateway:
        runs = [replace(a_run(f"{owner}{number}"), answers_of=owner) for owner in ("a", "b", "") for number in (1, 2)]
        cached = [(await gateway.run(WEIGHING, a_question(), run)).record.cached for run in runs]
        assert len(llm.requests) == 3
    assert cached == [False, True] * 3


async def test_samples_are_requested_and_cached_separately_with_their_own_seeds() -> None:
    answers = InMemoryAnswerStore()
    samples = [replace(WEIGHING, sample=number, temperature=0.7) for number in range(3)]
    async with ScriptedLlm(GOOD, GOOD, GOOD) as llm, create_gateway(llm, answers, seed=5) as gateway:
        for task in (*samples, *samples):
            await gateway.run(task, a_question(), a_run("one"))
        assert [(request["temperature"], request["seed"]) for request in llm.requests] == [(0.7, 5), (0.7, 6), (0.7, 7)]
    assert len({row.key for row in answers.ledger}) == 3


async def test_cached_answer_keeps_its_original_cost_and_faults() -> None:
    answers = InMemoryAnswerStore()
    async with ScriptedLlm(say(""), GOOD) as llm:
        async with create_gateway(llm, answers) as gateway:
            first = await gateway.run(WEIGHING, a_question(), a_run("one"))
        async with create_gateway(llm, answers) as gateway:
            second = await gateway.run(WEIGHING, a_question(), a_run("two"))
        assert len(llm.requests) == 2
    assert second.value == first.value
    assert second.record == first.record.model_copy(update={"cached": True})
    assert [fault.kind for fault in second.record.faults] == ["empty"]
    assert [(row.run_id, row.outcome, row.record.cached) for row in answers.ledger] == [
        ("one", "answered", False),
        ("two", "answered", True),
    ]


@pytest.mark.parametrize("change", [{"model": "n"}, {"temperature": 0.5}, {"seed": 1}])
async def test_cache_key_covers_model_temperature_and_seed(change: dict[str, Any]) -> None:
    answers = InMemoryAnswerStore()
    async with ScriptedLlm(GOOD, GOOD) as llm:
        for changes in ({}, change):
            async with create_gateway(llm, answers, **changes) as gateway:
                await gateway.run(WEIGHING, a_question(), a_run())
    assert len(answers.answers) == 2


@pytest.mark.parametrize(("names", "kept_count"), [(("", ""), 2), (("ours", "ours"), 1), (("ours", "theirs"), 2)])
async def test_answers_are_shared_across_urls_only_with_same_endpoint_name(
    names: tuple[str, str], kept_count: int
) -> None:
    answers = InMemoryAnswerStore()
    for name in names:
        async with ScriptedLlm(GOOD) as llm, create_gateway(llm, answers, endpoint_name=name) as gateway:
            await gateway.run(WEIGHING, a_question(), a_run())
    assert len(answers.answers) == kept_count


async def test_json_mode_is_not_part_of_the_cache_key() -> None:
    answers = InMemoryAnswerStore()
    async with ScriptedLlm(GOOD) as llm:
        for structured in ("json_schema", "json_object"):
            async with create_gateway(llm, answers, structured=structured) as gateway:
                await gateway.run(WEIGHING, a_question(), a_run())


async def test_cached_answer_failing_a_stricter_check_is_renewed_once(answers: AnswerStore) -> None:
    stricter = replace(WEIGHING, check=lambda question, answer: [] if answer.remark == "New." else ["No."])
    renewed = say(an_answer().replace("All [P1] {good}.", "New."))
    async with ScriptedLlm(GOOD, renewed) as llm, create_gateway(llm, answers) as gateway:
        await gateway.run(WEIGHING, a_question(), a_run())
        renewals = [await gateway.run(stricter, a_question(), a_run()) for _ in range(2)]
        assert len(llm.requests) == 2
    assert [answer.value.remark for answer in renewals] == ["New.", "New."]
    assert [answer.record.cached for answer in renewals] == [False, True]


async def test_answer_is_stored_before_it_is_returned() -> None:
    answers = SlowAnswers()
    async with ScriptedLlm(GOOD) as llm, create_gateway(llm, answers) as gateway:
        task = asyncio.create_task(gateway.run(WEIGHING, a_question(), a_run()))
        await answers.writing.wait()
        assert not task.done()
        answers.go.set()
        await task
        assert len(answers.answers) == 1


async def test_paid_answer_is_stored_despite_cancelled_caller() -> None:
    answers = SlowAnswers()
    async with ScriptedLlm(GOOD) as llm:
        async with create_gateway(llm, answers) as gateway:
            task = asyncio.create_task(gateway.run(WEIGHING, a_question(), a_run()))
            await answers.writing.wait()
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            answers.go.set()
        assert len(answers.answers) == 1


async def test_answer_store_failure_is_raised_and_request_can_be_repeated() -> None:
    async with ScriptedLlm(GOOD, GOOD) as llm, create_gateway(llm, BrokenAnswers()) as gateway:
        for _ in range(2):
            with pytest.raises(StorageError, match="disk is full"):
                await gateway.run(WEIGHING, a_question(), a_run())


async def test_sent_request_is_charged_despite_cancelled_caller() -> None:
    answers, budget = InMemoryAnswerStore(), Budget(max_usd=10.0)
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.open.clear()
        async with create_gateway(llm, answers) as gateway:
            task = asyncio.create_task(gateway.run(WEIGHING, a_question(), a_run("run", budget)))
            await llm.arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    (row,) = answers.ledger
    assert (row.outcome, row.record.attempts) == ("cancelled", 1)
    assert row.record.prompt_tokens == budget.spent_prompt_tokens > 50
    assert row.record.cost_usd == pytest.approx(budget.spent_usd)
    assert budget.spent_usd > 0


async def test_queued_request_is_not_charged_when_cancelled() -> None:
    answers, budget = InMemoryAnswerStore(), Budget()
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.open.clear()
        async with create_gateway(llm, answers, concurrency={"start": 1, "max": 1}) as gateway:
            first = asyncio.create_task(gateway.run(WEIGHING, a_question("one"), a_run("first")))
            await llm.arrived.wait()
            second = asyncio.create_task(gateway.run(WEIGHING, a_question("two"), a_run("run", budget)))
            for _ in range(200):
                await asyncio.sleep(0)
            for task in (second, first):
                task.cancel()
            await asyncio.gather(first, second, return_exceptions=True)
    assert budget.spent_prompt_tokens == 0
    assert [row.record.prompt_tokens > 0 for row in answers.ledger if row.run_id == "run"] == [False]


async def test_identical_concurrent_requests_are_sent_once() -> None:
    answers = InMemoryAnswerStore()
    async with ScriptedLlm(GOOD) as llm, create_gateway(llm, answers) as gateway:
        results = await asyncio.gather(*(gateway.run(WEIGHING, a_question(), a_run(f"{n}")) for n in range(50)))
        assert len(llm.requests) == 1
    assert len({result.value.model_dump_json() for result in results}) == 1
    assert sorted(result.record.cached for result in results) == [False] + [True] * 49
    assert len(answers.ledger) == 50


async def test_failure_of_shared_request_reaches_all_callers() -> None:
    answers = InMemoryAnswerStore()
    async with ScriptedLlm(refuse(401, "No.")) as llm, create_gateway(llm, answers) as gateway:
        results = await asyncio.gather(
            *(gateway.run(WEIGHING, a_question(), a_run()) for _ in range(5)), return_exceptions=True
        )
        assert len(llm.requests) == 1
    assert [type(result) for result in results] == [LlmRejected] * 5
    assert len({id(result) for result in results}) == 5
    assert [row.outcome for row in answers.ledger] == ["failed"] * 5


async def test_shared_request_continues_after_its_first_caller_is_cancelled() -> None:
    answers = InMemoryAnswerStore()
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm, create_gateway(llm, answers) as gateway:
        llm.open.clear()
        leader = asyncio.create_task(gateway.run(WEIGHING, a_question(), a_run("leader")))
        await llm.arrived.wait()
        follower = asyncio.create_task(gateway.run(WEIGHING, a_question(), a_run("follower")))
        await asyncio.sleep(0)
        leader.cancel()
        llm.open.set()
        answer = await follower
        assert answer.value.weights
        assert answer.record.cached
        assert len(llm.requests) == 1
    assert leader.cancelled()
    assert [(row.run_id, row.outcome) for row in answers.ledger] == [("leader", "answered"), ("follower", "answered")]


async def test_request_over_budget_does_not_block_identical_requests() -> None:
    async with ScriptedLlm(GOOD) as llm, create_gateway(llm) as gateway:
        poor, rich = await asyncio.gather(
            gateway.run(WEIGHING, a_question(), a_run("poor", Budget(max_usd=0.0))),
            gateway.run(WEIGHING, a_question(), a_run("rich")),
            return_exceptions=True,
        )
    assert isinstance(poor, BudgetExhausted)
    assert not isinstance(rich, BaseException)


async def test_cached_answers_are_free() -> None:
    answers = InMemoryAnswerStore()
    budget = Budget(max_usd=0.006)
    async with ScriptedLlm(GOOD) as llm, create_gateway(llm, answers) as gateway:
        await gateway.run(WEIGHING, a_question(), a_run("one", budget))
        spent = budget.spent_usd
        assert spent == pytest.approx(0.0004)
        await gateway.run(WEIGHING, a_question(), a_run("two", budget))
        await gateway.run(WEIGHING, a_question(), a_run("three", Budget(max_usd=0.0)))
        assert budget.spent_usd == spent


async def test_exception_in_task_check_releases_the_request_in_flight() -> None:
    def raise_key_error(question: Question, answer: Weighing) -> list[str]:
        raise KeyError("P3")

    async with ScriptedLlm(GOOD, *[say("?")] * 3) as llm, create_gateway(llm) as gateway:
        with pytest.raises(KeyError):
            await gateway.run(replace(WEIGHING, check=raise_key_error), a_question(), a_run())
        with pytest.raises(MalformedAnswer):
            await gateway.run(WEIGHING, a_question(), a_run())
