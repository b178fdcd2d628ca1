"""Each quirk of a provider is handled, or refused with the provider's own message."""

import re
from dataclasses import replace

import pytest
from tenacity import RetryCallState

from assayer.errors import AnswerRefused, LlmRejected, LlmUnavailable, RequestRefused
from assayer.llm import ask
from tests.contract.providers.answer_quirks import ANSWER_QUIRKS
from tests.contract.providers.imitation import (
    GOOD,
    ImitatedProvider,
    Reply,
    build_completion,
    build_error,
    build_web_page,
    open_gateway,
)
from tests.contract.providers.interruptions import INTERRUPTIONS, Interruption
from tests.contract.providers.quirks import ANSWERED, AnsweredQuirk
from tests.contract.providers.refusals import REFUSED, RefusedQuirk
from tests.contract.weighing import WEIGHING, a_question, a_run
from workers.llm.errors import TransientLlmFailure
from workers.llm.retry_and_repair import AnswerServices

LONG = replace(WEIGHING, max_tokens=6_000)


@pytest.mark.parametrize("case", ANSWERED + ANSWER_QUIRKS, ids=lambda case: case.name)
async def test_provider_quirk_is_learned_once_and_all_requests_succeed(case: AnsweredQuirk) -> None:
    async with (
        ImitatedProvider(case.quirk) as provider,
        open_gateway(provider, **{"path": "/v1"} | case.settings) as gateway,
    ):
        first = await gateway.run(LONG, a_question("One."), a_run())
        sends = len(provider.requests)
        second = await gateway.run(LONG, a_question("Two."), a_run())
    assert [len(answer.value.weights) for answer in (first, second)] == [2, 2]
    assert (sends, len(provider.requests) - sends) == case.sends
    last = provider.requests[-1]
    assert not set(case.lacks) & last.body.keys()
    assert last.form == case.form
    assert ("additionalProperties" in last.text) == (case.form != "json_schema")
    if case.prompt_tokens is not None:
        assert first.record.prompt_tokens == case.prompt_tokens


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
async def test_refusal_quotes_the_message_of_the_provider(case: RefusedQuirk) -> None:
    kind = RequestRefused if case.concerns_one else LlmRejected
    async with (
        ImitatedProvider(lambda _: case.reply) as provider,
        open_gateway(provider, **case.settings) as gateway,
    ):
        with pytest.raises(kind, match=f"(?s){case.sees}"):
            await gateway.run(LONG, a_question(), a_run())
        assert len(provider.requests) == case.sends


@pytest.mark.parametrize("case", INTERRUPTIONS, ids=lambda case: case.name)
async def test_interrupted_request_is_sent_again_after_the_stated_wait(
    case: Interruption, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float | None] = []

    def wait(_: AnswerServices, state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome is not None else None
        assert isinstance(failure, TransientLlmFailure)
        waits.append(failure.retry_after)
        return 0.0

    monkeypatch.setattr(AnswerServices, "compute_delay", wait)
    async with (
        ImitatedProvider(lambda request: case.reply if request.number == 1 else None) as provider,
        open_gateway(provider, retry_after_max_seconds=1e6) as gateway,
    ):
        record = (await gateway.run(LONG, a_question(), a_run())).record
    assert [request.body for request in provider.requests] == [provider.requests[0].body] * 2
    (fault,) = record.faults
    assert fault.kind == case.kind
    assert re.search(case.detail, fault.detail)
    assert waits == [None if case.wait is None else pytest.approx(case.wait)]


async def test_wait_that_is_too_long_ends_the_request_at_once_and_is_named() -> None:
    daily = build_error(429, "Rate limit reached on tokens per day (TPD): Limit 1, Used 1. Please try again in 7m12s.")
    async with ImitatedProvider(lambda _: daily) as provider, open_gateway(provider) as gateway:
        with pytest.raises(LlmUnavailable, match=r"in 1 try.*tokens per day.*asked to wait 432 s.*Try again later"):
            await gateway.run(LONG, a_question(), a_run())


async def test_sign_in_page_is_named_when_it_does_not_go_away() -> None:
    async with (
        ImitatedProvider(lambda _: build_web_page("Sign in")) as provider,
        open_gateway(provider, max_attempts=2) as gateway,
    ):
        with pytest.raises(LlmUnavailable, match=r"web page titled “Sign in” instead of JSON.*HTTPS_PROXY"):
            await gateway.run(LONG, a_question(), a_run())


@pytest.mark.parametrize(
    ("reply", "model_name"),
    [
        (build_completion(None, "SAFETY"), "SAFETY"),
        (build_completion(GOOD[:40], "RECITATION"), "RECITATION"),
        (build_completion("", "sensitive"), "sensitive"),
        (Reply(200, {"choices": [{"finish_reason": "content_filter: PROHIBITED_CONTENT"}]}), "PROHIBITED_CONTENT"),
        (Reply(200, {"promptFeedback": {"blockReason": "BLOCKLIST"}}), "prompt blocked: BLOCKLIST"),
    ],
    ids=["SAFETY", "RECITATION", "sensitive", "no message", "Gemini, native"],
)
async def test_filtered_answer_is_a_refused_request_that_names_the_reason(reply: Reply, model_name: str) -> None:
    async with ImitatedProvider(lambda _: reply) as provider, open_gateway(provider) as gateway:
        with pytest.raises(RequestRefused, match=f"content filter stopped the answer .*“.*{model_name}”"):
            await gateway.run(LONG, a_question(), a_run())
        assert len(provider.requests) == 2


@pytest.mark.parametrize("finish_reason", ["length", "MAX_TOKENS", "model_length", "max_output_tokens"])
async def test_truncated_answer_is_recognised_in_all_words_for_it(finish_reason: str) -> None:
    async with (
        ImitatedProvider(
            lambda request: build_completion(GOOD[:40], finish_reason) if request.number == 1 else None
        ) as provider,
        open_gateway(provider) as gateway,
    ):
        record = (await gateway.run(LONG, a_question(), a_run())).record
    assert [fault.kind for fault in record.faults] == ["truncated"]
    assert [request.max_output_tokens for request in provider.requests] == [6_000, 12_000]


async def test_request_refusal_is_quoted_in_the_reason_and_journal() -> None:
    run = a_run()
    too_long = build_error(400, "Input is too long for requested model.")
    async with ImitatedProvider(lambda _: too_long) as provider, open_gateway(provider) as gateway:
        with pytest.raises(RequestRefused) as caught:
            await ask(gateway, LONG, a_question(), run)
    assert caught.value.reason == "the LLM endpoint refused the request (“Input is too long for requested model”)"
    (fault,) = run.journal.list_faults()
    assert (fault.kind, fault.occurrences, fault.recovered) == ("refused_request", 1, 0)
    assert "Input is too long for requested model." in fault.example


@pytest.mark.parametrize(
    "reply",
    [build_completion(None, refusal="I will not."), build_completion("", "refusal")],
    ids=["refusal as text", "Anthropic: as reason"],
)
async def test_model_refusal_is_distinguished_from_endpoint_refusal(reply: Reply) -> None:
    async with ImitatedProvider(lambda _: reply) as provider, open_gateway(provider) as gateway:
        with pytest.raises(AnswerRefused):
            await gateway.run(LONG, a_question(), a_run())
