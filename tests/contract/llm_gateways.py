"""A gateway before a scripted endpoint, patient for milliseconds only."""

from typing import Any

from cluster.clock import SystemClock
from tests.contract.scripted_llm import ScriptedLlm
from workers.llm import LlmSettings
from workers.llm.chat_completion import LlmTransport
from workers.llm.gateway import LlmGateway
from workers.outbound.store import AnswerStore, InMemoryAnswerStore

SECRET = "sk-test-very-secret"  # noqa: S105 - opens nothing


def build_settings(llm: ScriptedLlm, **changes: Any) -> LlmSettings:
    settings = {
        "base_url": llm.base_url,
        "api_key": SECRET,
        "model": "m",
        "prices": {"m": (2.0, 10.0)},
        "backoff_initial_seconds": 0.001,
        "backoff_max_seconds": 0.01,
        "request_timeout_seconds": 10.0,
    }
    return LlmSettings.model_validate(settings | changes)


def create_gateway(
    llm: ScriptedLlm, answers: AnswerStore | None = None, transport: LlmTransport | None = None, **changes: Any
) -> LlmGateway:
    return LlmGateway(build_settings(llm, **changes), answers or InMemoryAnswerStore(), SystemClock(), transport)
