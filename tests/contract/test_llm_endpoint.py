"""One request to an endpoint: who it says it is, and how much of an answer it takes."""

import base64
from typing import Any

import pytest

from cluster.clock import SystemClock
from tests.contract.llm_gateways import the_settings
from tests.contract.scripted_llm import Reply, ScriptedLlm, say
from workers.llm import endpoint
from workers.llm.endpoint import EndpointClient
from workers.llm.errors import TransientLlmFailure

BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Ist 1 < 2? \u2713"}]}
BASIC = f"Basic {base64.b64encode(b'name:word').decode()}"


@pytest.mark.parametrize(
    ("user", "key", "said"),
    [
        ("", "sk-1", "Bearer sk-1"),
        ("", "", "Bearer none"),
        ("name:word@", "", BASIC),
        ("name:word@", "sk-1", "Bearer sk-1"),
    ],
)
async def test_a_key_comes_before_a_password_in_the_address(user: str, key: str, said: str) -> None:
    async with ScriptedLlm(say("yes")) as llm:
        url = llm.base_url.replace("http://", f"http://{user}")
        client = EndpointClient(the_settings(llm, base_url=url, api_key=key), SystemClock())
        try:
            assert (await client.send(BODY)).text == "yes"
        finally:
            await client.aclose()
        assert llm.authorizations == [said]
        assert llm.requests == [BODY]
        assert "word" not in client.address


async def test_an_answer_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MOST_BYTES", 1_000)
    async with ScriptedLlm(Reply(200, " " * 5_000), say("yes")) as llm:
        client = EndpointClient(the_settings(llm), SystemClock())
        try:
            with pytest.raises(TransientLlmFailure, match="no connection: ClientPayloadError"):
                await client.send(BODY)
            assert (await client.send(BODY)).text == "yes"
        finally:
            await client.aclose()
