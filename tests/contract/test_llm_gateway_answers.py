"""Every kind of malformed answer ends in a valid object or a typed error, and every fault is recorded."""

import dataclasses

import pytest

from assayer.errors import LlmRejected, MalformedAnswer, RequestRefused
from assayer.models import FaultKind
from tests.contract.llm_gateways import SECRET, create_gateway
from tests.contract.scripted_llm import Reply, ScriptedLlm, refuse, say
from tests.contract.weighing import WEIGHING, Weighing, a_question, a_run, an_answer
from workers.outbound.store import InMemoryAnswerStore

GOOD = an_answer()


async def test_valid_answer_is_returned_with_usage_and_cost() -> None:
    used = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 64}}
    body = say(GOOD, usage=None).body
    assert isinstance(body, dict)
    async with ScriptedLlm(Reply(200, body | {"usage": used})) as llm, create_gateway(llm) as gateway:
        answer = await gateway.run(WEIGHING, a_question(), a_run())
        assert [weight.label for weight in answer.value.weights] == ["P1", "P2"]
        record = answer.record
        assert (record.task, record.version, record.model) == ("tests.weighing", 3, "m")
        assert (record.prompt_tokens, record.cached_prompt_tokens, record.completion_tokens) == (100, 64, 20)
        assert record.cost_usd == pytest.approx((100 * 2 + 20 * 10) / 1e6)
        assert (record.attempts, record.faults, record.cached) == (1, (), False)
        assert llm.authorizations == [f"Bearer {SECRET}"]
        assert llm.requests[0]["response_format"]["type"] == "json_schema"
        assert gateway.models == ("m",)


@pytest.mark.parametrize(
    ("faulty", "kind"),
    [
        (say(f"```json\n{GOOD}\n```"), "wrapped"),
        (say(f"Certainly! {GOOD}"), "wrapped"),
        (say(an_answer(weight="3")), "coerced"),
    ],
)
async def test_recoverable_answer_is_accepted_and_its_fault_recorded(faulty: Reply, kind: FaultKind) -> None:
    async with ScriptedLlm(faulty) as llm, create_gateway(llm) as gateway:
        answer = await gateway.run(WEIGHING, a_question(), a_run())
        assert [weight.weight for weight in answer.value.weights] == [3, 3]
        assert [fault.kind for fault in answer.record.faults] == [kind]
        assert len(llm.requests) == 1


@pytest.mark.parametrize(
    ("faulty", "kind", "retry_message"),
    [
        (say(GOOD[:-2]), "truncated", "cut off"),
        (say(GOOD[:40], "length"), "truncated", "cut off"),
        (say(GOOD.replace("[", "(", 1)), "invalid_json", "not valid JSON"),
        (say("It is sound."), "invalid_json", "no JSON object"),
        (say(an_answer(stance="maybe")), "schema_violation", "weights.0.stance: Input should be 'for'"),
        (say(an_answer(weight=6)), "schema_violation", "weights.1.weight"),
        (say(GOOD.replace('"remark"', '"note"')), "schema_violation", "note: Extra inputs are not permitted"),
        (say(an_answer(["P1"])), "failed_check", "There is no weight for P2."),
        (say(f"```{an_answer(['P1', 'P2', 'P9'])}```"), "failed_check", "P9 was not given."),
        (say(""), "empty", "the answer is empty"),
        (say(None), "empty", "the answer is empty"),
        (say(None, refusal="I will not."), "refusal", "declined"),
        (say(None, "content_filter"), "refused_request", "content filter"),
        (say("I'm sorry, I cannot assist with that."), "refusal", "declined"),
    ],
)
async def test_unusable_answer_is_retried_with_its_errors(faulty: Reply, kind: FaultKind, retry_message: str) -> None:
    async with ScriptedLlm(faulty, say(GOOD)) as llm, create_gateway(llm) as gateway:
        answer = await gateway.run(WEIGHING, a_question(), a_run())
        assert [fault.kind for fault in answer.record.faults] == [kind]
        assert (answer.record.attempts, answer.record.prompt_tokens) == (2, 200)
        first, second = (request["messages"] for request in llm.requests)
        assert second[: len(first)] == first
        assert [message["role"] for message in second[len(first) :]] == ["assistant", "user"]
        assert retry_message in second[-1]["content"]


async def test_truncated_answer_is_retried_with_higher_token_limit() -> None:
    async with ScriptedLlm(say(GOOD[:9], "length"), say(GOOD)) as llm, create_gateway(llm) as gateway:
        await gateway.run(WEIGHING, a_question(), a_run())
        assert [request["max_tokens"] for request in llm.requests] == [500, 1000]


async def test_permanently_malformed_answer_fails_with_faults_and_cost_recorded() -> None:
    answers = InMemoryAnswerStore()
    async with ScriptedLlm(say(""), say("?"), say(an_answer(["P1"]))) as llm, create_gateway(llm, answers) as gateway:
        with pytest.raises(MalformedAnswer, match=r"tests\.weighing in 3 tries.*no weight for P2") as caught:
            await gateway.run(WEIGHING, a_question(), a_run())
    kinds = ["empty", "invalid_json", "failed_check"]
    assert [fault.kind for fault in caught.value.faults] == kinds
    (row,) = answers.ledger
    assert (row.outcome, row.record.attempts, row.record.prompt_tokens) == ("failed", 3, 300)
    assert row.record.cost_usd == pytest.approx(3 * (100 * 2 + 20 * 10) / 1e6)
    assert [fault.kind for fault in row.record.faults] == kinds
    assert answers.answers == {}


@pytest.mark.parametrize("status", [400, 422])
async def test_unknown_rejection_concerns_only_its_request_once_model_has_answered(status: int) -> None:
    odd = refuse(status, "The stars are not right.")
    async with ScriptedLlm(odd, say(GOOD), odd, say(GOOD)) as llm, create_gateway(llm) as gateway:
        with pytest.raises(LlmRejected, match="stars are not right"):
            await gateway.run(WEIGHING, a_question("One."), a_run())
        await gateway.run(WEIGHING, a_question("Two."), a_run())
        with pytest.raises(RequestRefused, match=r"has answered other requests.*stars are not right"):
            await gateway.run(WEIGHING, a_question("Three."), a_run())
        await gateway.run(WEIGHING, a_question("Four."), a_run())


async def test_answer_rejected_as_malformed_by_endpoint_is_retried() -> None:
    error = {"message": "Failed to generate JSON.", "code": "json_validate_failed", "failed_generation": GOOD[:40]}
    async with ScriptedLlm(Reply(400, {"error": error}), say(GOOD)) as llm, create_gateway(llm) as gateway:
        record = (await gateway.run(WEIGHING, a_question(), a_run())).record
        assert [fault.kind for fault in record.faults] == ["truncated"]
        assert llm.requests[1]["messages"][-2]["content"] == GOOD[:40]


async def test_unknown_price_leaves_the_cost_absent() -> None:
    async with ScriptedLlm(say(GOOD)) as llm, create_gateway(llm, prices={}) as gateway:
        assert (await gateway.run(WEIGHING, a_question(), a_run())).record.cost_usd is None


ADVISED = dataclasses.replace(WEIGHING, advice=lambda question, answer: [TOO_HEAVY] if _is_heavy(answer) else [])
TOO_HEAVY = "A weight of 5 is rarely right."
HEAVY = an_answer(weight=5)


def _is_heavy(answer: Weighing) -> bool:
    return any(item.weight == 5 for item in answer.weights)


@pytest.mark.parametrize(
    ("second", "weight"),
    [(say(GOOD), 3), (say(HEAVY), 5), (say("It is sound."), 5), (refuse(400, "no"), 5)],
    ids=["better", "no-better", "malformed", "rejected"],
)
async def test_valid_answer_is_retried_once_for_advice_and_never_lost(second: Reply, weight: int) -> None:
    async with ScriptedLlm(say(HEAVY), second) as llm, create_gateway(llm) as gateway:
        answer = await gateway.run(ADVISED, a_question(), a_run())
        assert answer.value.weights[-1].weight == weight
        assert TOO_HEAVY in llm.requests[1]["messages"][-1]["content"]
        assert len(llm.requests) == 2
