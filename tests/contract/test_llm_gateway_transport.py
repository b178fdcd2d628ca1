"""Transport errors between the gateway and the endpoint: retried, or refused immediately with a clear message."""

import datetime as dt
from email.utils import format_datetime

import pytest

from assayer.errors import BudgetExhausted, LlmRejected, LlmUnavailable, MalformedAnswer
from assayer.models import FaultKind
from assayer.run.budget import Budget
from tests.contract.llm_gateways import SECRET, create_gateway
from tests.contract.scripted_llm import Dropped, Reply, Script, ScriptedLlm, refuse, say
from tests.contract.weighing import WEIGHING, a_question, a_run, an_answer
from workers.outbound.store import InMemoryAnswerStore

GOOD = say(an_answer())


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (refuse(429, "Slow down."), "rate_limited"),
        (refuse(408, "Too slow."), "timeout"),
        (refuse(409, "Conflict."), "server_error"),
        (refuse(500, "Oops."), "server_error"),
        (refuse(503, "Loading."), "server_error"),
        (Reply(502, "<html>Bad gateway</html>"), "server_error"),
        (Reply(200, "<html>Welcome to the hotel's network</html>"), "server_error"),
        (Reply(200, {"error": {"message": "provider failed"}}), "server_error"),
        (Dropped(), "connection"),
    ],
)
async def test_transient_failure_is_retried_and_recorded(trouble: Script, kind: FaultKind) -> None:
    async with ScriptedLlm(trouble, trouble, GOOD) as llm, create_gateway(llm) as gateway:
        record = (await gateway.run(WEIGHING, a_question(), a_run())).record
        assert [fault.kind for fault in record.faults] == [kind, kind]
        assert record.attempts == 3
        assert record.latency_seconds > 0


@pytest.mark.parametrize(
    "refusal",
    [
        refuse(429, "Slow down."),
        refuse(500, "Oops."),
        Reply(502, "<html>Bad gateway</html>"),
        Reply(200, {"error": {"message": "provider failed"}}),
    ],
)
async def test_rejected_requests_are_not_charged(refusal: Reply) -> None:
    budget = Budget()
    async with ScriptedLlm(refusal, GOOD) as llm, create_gateway(llm) as gateway:
        record = (await gateway.run(WEIGHING, a_question(), a_run("run", budget))).record
    assert record.prompt_tokens == budget.spent_prompt_tokens == 100


@pytest.mark.parametrize(
    ("trouble", "read"),
    [
        (Dropped(), None),
        (Reply(200, "<html>cut short"), None),
        (Reply(200, {"object": "response"}), None),
        (Reply(200, {"error": {"message": "gone"}, "usage": {"prompt_tokens": 70, "completion_tokens": 30}}), 70),
    ],
)
async def test_possibly_processed_requests_are_charged_at_least_their_prompt(trouble: Script, read: int | None) -> None:
    answers, budget = InMemoryAnswerStore(), Budget(max_usd=1.0)
    async with ScriptedLlm(trouble, GOOD) as llm, create_gateway(llm, answers) as gateway:
        record = (await gateway.run(WEIGHING, a_question(), a_run("run", budget))).record
    assert record.prompt_tokens == budget.spent_prompt_tokens
    assert record.prompt_tokens == 100 + read if read else record.prompt_tokens > 150
    assert record.completion_tokens == (50 if read else 20)
    assert record.cost_usd == pytest.approx(budget.spent_usd)


async def test_request_timeout_is_recorded_and_its_prompt_charged() -> None:
    answers, budget = InMemoryAnswerStore(), Budget(max_usd=1.0)
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.open.clear()
        async with create_gateway(llm, answers, request_timeout_seconds=0.05, max_attempts=2) as gateway:
            with pytest.raises(LlmUnavailable, match=r"in 2 tries.*no response within 0\.05 s") as caught:
                await gateway.run(WEIGHING, a_question(), a_run("run", budget))
    assert [fault.kind for fault in caught.value.faults] == ["timeout", "timeout"]
    (row,) = answers.ledger
    assert (row.outcome, row.record.attempts) == ("failed", 2)
    assert row.record.prompt_tokens == budget.spent_prompt_tokens > 100
    assert row.record.cost_usd == pytest.approx(budget.spent_usd)
    assert budget.spent_usd > 0


async def test_budget_ends_requests_that_are_never_answered() -> None:
    budget = Budget(max_prompt_tokens=1_000)
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm:
        llm.open.clear()
        async with create_gateway(llm, request_timeout_seconds=0.02, max_attempts=100) as gateway:
            with pytest.raises(BudgetExhausted):
                await gateway.run(WEIGHING, a_question(), a_run("run", budget))
        assert 2 <= len(llm.requests) <= 20
    assert 0 < budget.spent_prompt_tokens <= 1_000


@pytest.mark.parametrize(
    "wordless",
    [{"choices": []}, {"choices": None}, {"choices": [{"finish_reason": "stop"}]}],
)
async def test_answer_without_choices_is_malformed_and_charged(wordless: dict[str, object]) -> None:
    answers, budget = InMemoryAnswerStore(), Budget(max_usd=1.0)
    body = wordless | {"usage": {"prompt_tokens": 5_000, "completion_tokens": 0}}
    async with ScriptedLlm(otherwise=lambda _: Reply(200, body)) as llm, create_gateway(llm, answers) as gateway:
        with pytest.raises(MalformedAnswer) as caught:
            await gateway.run(WEIGHING, a_question(), a_run("run", budget))
        assert len(llm.requests) == 3
    assert [fault.kind for fault in caught.value.faults] == ["empty"] * 3
    (row,) = answers.ledger
    assert row.record.prompt_tokens == budget.spent_prompt_tokens == 15_000
    assert budget.spent_usd == pytest.approx(0.03)


@pytest.mark.parametrize("form", ["ms", "seconds", "date"])
async def test_retry_after_is_honoured(form: str) -> None:
    day = dt.datetime.now(dt.UTC).replace(microsecond=0) + dt.timedelta(seconds=2)
    headers, wait = {
        "ms": ({"retry_after_ms": "150"}, dt.timedelta(seconds=0.15)),
        "seconds": ({"retry_after": "0.2"}, dt.timedelta(seconds=0.2)),
        "date": ({"retry_after": format_datetime(day, usegmt=True)}, None),
    }[form]
    async with ScriptedLlm(refuse(429, "Wait.", None, **headers), GOOD) as llm, create_gateway(llm) as gateway:
        earliest = day if wait is None else dt.datetime.now(dt.UTC) + wait
        await gateway.run(WEIGHING, a_question(), a_run())
        assert dt.datetime.now(dt.UTC) >= earliest


async def test_excessive_retry_after_makes_the_endpoint_unavailable() -> None:
    async with (
        ScriptedLlm(refuse(429, "Come back tomorrow.", None, retry_after="86400")) as llm,
        create_gateway(llm) as gateway,
    ):
        with pytest.raises(LlmUnavailable, match="asked to wait 86400 s"):
            await gateway.run(WEIGHING, a_question(), a_run())


async def test_persistent_failure_is_reported_as_unavailable_and_recorded() -> None:
    answers = InMemoryAnswerStore()
    async with (
        ScriptedLlm(otherwise=lambda _: refuse(503, "Overloaded.")) as llm,
        create_gateway(llm, answers, max_attempts=3) as gateway,
    ):
        with pytest.raises(LlmUnavailable, match=r"in 3 tries.*HTTP 503 Overloaded.*ASSAYER_LLM__BASE_URL"):
            await gateway.run(WEIGHING, a_question(), a_run())
        assert len(llm.requests) == 3
    (row,) = answers.ledger
    assert (row.outcome, row.record.attempts, len(row.record.faults)) == ("failed", 3, 3)
    assert row.record.prompt_tokens == 0


async def test_unreachable_endpoint_is_a_connection_fault() -> None:
    async with ScriptedLlm() as llm:
        gone = llm
    budget = Budget()
    async with create_gateway(gone, max_attempts=2) as gateway:
        with pytest.raises(LlmUnavailable) as caught:
            await gateway.run(WEIGHING, a_question(), a_run("run", budget))
        assert [fault.kind for fault in caught.value.faults] == ["connection", "connection"]
        assert budget.spent_prompt_tokens == 0
        with pytest.raises(LlmUnavailable, match=r"is down.*ASSAYER_LLM__BASE_URL"):
            await gateway.probe()


REJECTIONS = [
    (refuse(401, f"Incorrect API key provided: {SECRET}"), "rejected the API key", "ASSAYER_LLM__API_KEY"),
    (refuse(403, "Not for you."), "permission to use model 'm'", "ASSAYER_LLM__API_KEY"),
    (
        refuse(404, "The model `m` does not exist.", "model_not_found"),
        "does not know the model 'm'",
        "ASSAYER_LLM__MODEL",
    ),
    (Reply(404, {"detail": "Not Found"}), "no chat completions API", "ASSAYER_LLM__BASE_URL"),
    (refuse(400, f"Bad thing in {SECRET}"), "refused the request.*Bad thing", "ASSAYER_LLM__MODEL"),
    (refuse(429, "Pay first.", "insufficient_quota"), "no quota left", "ASSAYER_LLM__API_KEY"),
]


@pytest.mark.parametrize(("refusal", "words", "setting"), REJECTIONS)
async def test_permanent_rejection_is_reported_immediately_without_the_key(
    refusal: Reply, words: str, setting: str
) -> None:
    async with ScriptedLlm(refusal, refusal) as llm, create_gateway(llm) as gateway:
        with pytest.raises(LlmRejected, match=words) as caught:
            await gateway.run(WEIGHING, a_question(), a_run())
        assert len(llm.requests) == 1
        assert setting in caught.value.hint
        with pytest.raises(LlmRejected, match=words) as probed:
            await gateway.probe()
        for error in (caught.value, probed.value):
            assert SECRET not in f"{error!s} {error.__cause__!s} {error.faults}"


async def test_rejected_structured_output_error_names_its_setting() -> None:
    refusal = refuse(400, "response_format is not supported")
    async with ScriptedLlm(refusal) as llm, create_gateway(llm, structured="json_schema") as gateway:
        with pytest.raises(LlmRejected, match="ASSAYER_LLM__STRUCTURED"):
            await gateway.run(WEIGHING, a_question(), a_run())


async def test_probe_checks_every_configured_model() -> None:
    async with ScriptedLlm(say("yes"), say("yes")) as llm, create_gateway(llm, fast_model="small") as gateway:
        assert await gateway.probe() == f"m and small at {llm.base_url} answer."
        assert [request["model"] for request in llm.requests] == ["m", "small"]


async def test_probe_reports_busy_endpoint_as_present_but_unavailable() -> None:
    async with ScriptedLlm(refuse(503, "Loading model.")) as llm, create_gateway(llm) as gateway:
        with pytest.raises(LlmUnavailable, match=r"responds, but model .* gives no answer.*Loading model"):
            await gateway.probe()


async def test_connection_is_kept_between_requests() -> None:
    async with ScriptedLlm(otherwise=lambda _: GOOD) as llm, create_gateway(llm) as gateway:
        for number in range(3):
            await gateway.run(WEIGHING, a_question(f"{number}"), a_run())
        assert len(llm.connections) == 1
