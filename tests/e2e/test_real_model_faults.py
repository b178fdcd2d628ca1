"""Behaviour of a real llama.cpp that is full, killed, loading or asked too much, and what a user is told of it."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import pytest
from pydantic import Field

from assayer.errors import LlmError, LlmUnavailable, MalformedAnswer
from assayer.llm import Task
from assayer.models import Frozen
from assayer.prompts import Prompts
from cluster.clock import SystemClock
from tests.contract.weighing import Question, a_question, a_run
from tests.e2e.program import Homes
from tests.large_model import LARGE_MODEL
from tests.polling import wait_until_async
from tests.real_model import SMALL_MODEL, model_settings, real_model
from workers.llm.gateway import LlmGateway
from workers.llm.settings import LlmSettings
from workers.local_model.model_files import find_model_file
from workers.local_model.server import LocalModel, LocalModelOptions, run_local_model, start_server
from workers.local_model.speed import count_tokens_in_progress
from workers.outbound.store import InMemoryAnswerStore

pytestmark = pytest.mark.slow

_REQUESTS = 64


class _Weight(Frozen):
    label: str
    stance: Literal["for", "against"]
    weight: int = Field(ge=0, le=5)


class _Weights(Frozen):
    weights: list[_Weight] = Field(max_length=2)


_WEIGHING: Task[Question, _Weights] = Task(
    name="tests.weights", prompts=Prompts("tests.contract"), prompt="weighing.v3.md", output=_Weights, max_tokens=500
)


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    with real_model(SMALL_MODEL, LocalModelOptions(context_tokens=1_024)) as running:
        yield running


def _create_gateway(base_url: str, api_key: str, **changes: Any) -> LlmGateway:
    settings = {
        "base_url": base_url,
        "api_key": api_key,
        "model": "m",
        "max_answer_tokens": 24,
        "repair_attempts": 0,
        "request_timeout_seconds": 600,
    }
    return LlmGateway(LlmSettings.model_validate(settings | changes), InMemoryAnswerStore(), SystemClock())


async def test_many_requests_at_once_are_all_answered_by_two_slots(model: LocalModel) -> None:
    limit = {"start": _REQUESTS, "max": _REQUESTS}
    async with _create_gateway(model.base_url, model.api_key, concurrency=limit) as gateway:
        questions = [gateway.run(_WEIGHING, a_question(f"Plan {number}."), a_run()) for number in range(_REQUESTS)]
        outcomes = await asyncio.gather(*questions, return_exceptions=True)
    # Cut off after 24 tokens, and nothing else went wrong.
    faults = [fault.kind for outcome in outcomes if isinstance(outcome, MalformedAnswer) for fault in outcome.faults]
    assert faults == ["truncated"] * _REQUESTS


async def test_prompt_exceeding_context_window_is_rejected_with_server_message(model: LocalModel) -> None:
    async with _create_gateway(model.base_url, model.api_key) as gateway:
        with pytest.raises(LlmError, match=r"exceeds the available context size \(1024 tokens\)"):
            await gateway.run(_WEIGHING, a_question("Corals are heard at night. " * 400), a_run())


async def test_server_killed_during_answers_is_reported_as_unavailable(model: LocalModel) -> None:
    with run_local_model(find_model_file(SMALL_MODEL)) as doomed:
        async with _create_gateway(doomed.base_url, doomed.api_key, max_answer_tokens=500, max_attempts=2) as gateway:
            tasks = [asyncio.create_task(gateway.run(_WEIGHING, a_question(f"{n}."), a_run())) for n in range(4)]
            await wait_until_async(
                lambda: asyncio.to_thread(count_tokens_in_progress, doomed), lambda tokens: tokens[1] > 0
            )
            os.kill(doomed.process_id, signal.SIGKILL)
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    lost = [outcome for outcome in outcomes if isinstance(outcome, LlmUnavailable)]
    assert len(lost) >= 2
    assert all("ASSAYER_LLM__BASE_URL is correct" in error.hint for error in lost)


async def test_request_sent_while_the_model_loads_is_answered_later() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = start_server(find_model_file(SMALL_MODEL), LocalModelOptions(arguments=("--port", str(port))), "key")
    try:
        async with _create_gateway(
            f"http://127.0.0.1:{port}/v1", "key", max_attempts=30, backoff_max_seconds=1
        ) as gateway:
            with pytest.raises(MalformedAnswer) as caught:
                await gateway.run(_WEIGHING, a_question(), a_run())
    finally:
        process.terminate()
        process.wait()
    *waited, last = [fault.kind for fault in caught.value.faults]
    assert set(waited) <= {"connection", "server_error"}
    assert last == "truncated"


def test_local_model_command_reports_speed_and_removes_temporary_files(homes: Homes) -> None:
    small = {"LLM__MAX_ANSWER_TOKENS": 24, "LLM__REPAIR_ATTEMPTS": 0}
    program = homes.create_home("local-model").with_settings(**small)
    temporary = program.home / "temporary"
    temporary.mkdir()
    program = replace(program, settings={**program.settings, "TMPDIR": str(temporary)})
    (program.home / "idea.md").write_text("We have a language model copy a passage before it answers questions. " * 3)
    result = program.run("evaluate", "idea.md", "--local-model", SMALL_MODEL)
    assert "tokens per second on this machine. At this speed, an idea takes about " in result.err
    assert result.code in (0, 2), result.err
    assert not list(temporary.iterdir())  # the server's log is deleted when it has ended


def test_larger_model_gives_valid_answers_at_the_first_attempt(homes: Homes) -> None:
    if not LARGE_MODEL.exists():
        pytest.fail(f"{LARGE_MODEL} is not there. Make it: make large-model.")
    with real_model(str(LARGE_MODEL), LocalModelOptions(context_tokens=4_096)) as large:
        program = homes.create_home("large-model").with_settings(**model_settings(large, 400))

        async def ask() -> int:
            async with _create_gateway(large.base_url, large.api_key, max_answer_tokens=200) as gateway:
                return (await gateway.run(_WEIGHING, a_question(), a_run())).record.attempts

        assert asyncio.run(ask()) == 1
        item = '{"question": "How?", "idea": "We rehearse stored examples.", "abstract": "We rehearse examples."}'
        (program.home / "items.jsonl").write_text(item, "utf-8")
        result = program.run("reward", "items.jsonl")
    assert result.code in (0, 1), result.err
