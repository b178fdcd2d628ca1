"""Each quirk of a provider is handled, or refused with the provider's own message."""

from dataclasses import replace

import pytest

from assayer.errors import AnswerRefused, LlmRejected, RequestRefused
from assayer.llm import ask
from tests.contract.providers.answer_quirks import ANSWER_QUIRKS
from tests.contract.providers.imitation import Imitation, an_opened_gateway, error, said
from tests.contract.providers.quirks import ANSWERED, REFUSED, Answered, Refused
from tests.contract.weighing import WEIGHING, a_question, a_run

LONG = replace(WEIGHING, max_tokens=6_000)


@pytest.mark.parametrize("case", ANSWERED + ANSWER_QUIRKS, ids=lambda case: case.name)
async def test_provider_quirk_is_learned_once_and_all_requests_succeed(case: Answered) -> None:
    async with (
        Imitation(case.quirk) as provider,
        an_opened_gateway(provider, **{"path": "/v1"} | case.settings) as gateway,
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
async def test_refusal_quotes_the_message_of_the_provider(case: Refused) -> None:
    kind = RequestRefused if case.concerns_one else LlmRejected
    async with Imitation(lambda _: case.reply) as provider, an_opened_gateway(provider) as gateway:
        with pytest.raises(kind, match=case.sees):
            await gateway.run(LONG, a_question(), a_run())
        assert len(provider.requests) == case.sends


async def test_request_refusal_is_quoted_in_the_reason_and_journal() -> None:
    run = a_run()
    too_long = error(400, "Input is too long for requested model.")
    async with Imitation(lambda _: too_long) as provider, an_opened_gateway(provider) as gateway:
        with pytest.raises(RequestRefused) as caught:
            await ask(gateway, LONG, a_question(), run)
    assert caught.value.reason == "the LLM endpoint refused the request (“Input is too long for requested model”)"
    (fault,) = run.journal.faults()
    assert (fault.kind, fault.occurrences, fault.recovered) == ("refused_request", 1, 0)
    assert "Input is too long for requested model." in fault.example


async def test_model_refusal_is_distinguished_from_endpoint_refusal() -> None:
    async with (
        Imitation(lambda _: said(None, refusal="I will not.")) as provider,
        an_opened_gateway(provider) as gateway,
    ):
        with pytest.raises(AnswerRefused):
            await gateway.run(LONG, a_question(), a_run())
