"""The simulator over real HTTP: the faults it is told to make, and what it counts."""

import asyncio
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from pydantic import ValidationError

from simulator.counters import Stats
from simulator.process import Simulator
from simulator.settings import ANSWER_FAULTS, HARMLESS
from tests.contract.simulated import QUESTION, Judgements, ask, ask_for_text, open_client, send_raw


@pytest.fixture
def client(simulator: Simulator) -> Iterator[openai.OpenAI]:
    with open_client(simulator) as opened_client:
        yield opened_client


def test_rate_limit_response_includes_retry_after(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.configure(rate_limit_rate=1, retry_after=0.25)
    with pytest.raises(openai.RateLimitError) as caught:
        ask(client)
    assert caught.value.response.headers["retry-after"] == "0.25"
    assert caught.value.code == "rate_limit_exceeded"
    assert simulator.read_stats().injected == {"rate_limited": 1}


def test_injected_server_errors_vary_in_status_code(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.configure(server_error_rate=1)
    for number in range(20):
        with pytest.raises(openai.InternalServerError):
            ask(client, f"{number}")
    stats = simulator.read_stats()
    assert set(stats.by_status) == {"500", "502", "503"}
    assert stats.injected == {"server_error": 20}


def test_dropped_connections_raise_connection_errors_and_are_counted(
    client: openai.OpenAI, simulator: Simulator
) -> None:
    simulator.configure(drop_rate=1)
    for number in range(10):
        with pytest.raises(openai.APIConnectionError):
            ask(client, f"{number}")
    stats = simulator.read_stats()
    assert stats.injected == {"dropped": 10}
    assert (stats.answered, stats.in_flight, stats.by_status) == (0, 0, {})
    simulator.configure(drop_rate=0)
    ask_for_text(client)


def _list_outcomes(client: openai.OpenAI) -> list[tuple[str | None, str | None, str]]:
    outcomes = []
    for number in range(60):
        choice = ask(client, f"{QUESTION} {number}").choices[0]
        outcomes.append((choice.message.content, choice.message.refusal, choice.finish_reason))
    return outcomes


def _is_usable(content: str | None) -> bool:
    try:
        answer = Judgements.model_validate_json(content or "")
    except ValidationError:
        return False
    return all(judgement.label in {"P1", "P2"} and "[P9" not in judgement.reason for judgement in answer.judgements)


def test_answer_faults_match_the_counters(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.configure(answer_fault_rate=0.6)
    outcomes = _list_outcomes(client)
    injected = simulator.read_stats().injected
    assert set(injected) <= set(ANSWER_FAULTS)
    assert len(injected) >= 8
    harmful = sum(count for kind, count in injected.items() if kind not in HARMLESS)
    assert sum(not _is_usable(content) for content, _, _ in outcomes) == harmful
    assert sum(refusal is not None for _, refusal, _ in outcomes) == injected.get("refusal", 0)
    assert sum(reason == "length" for _, _, reason in outcomes) == injected.get("truncated", 0)


def test_same_requests_after_reset_get_the_same_faults(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.configure(answer_fault_rate=0.4)
    first, before = _list_outcomes(client), simulator.reset()
    second, after = _list_outcomes(client), simulator.reset()
    assert first == second
    assert before.injected == after.injected
    simulator.configure(seed=1)
    assert _list_outcomes(client) != first


# Counters and knobs


def test_counters_add_up_to_what_the_client_saw(client: openai.OpenAI, simulator: Simulator) -> None:
    usages = [ask(client, f"{QUESTION} {number % 3}").usage for number in range(5)]
    stats = simulator.read_stats()
    assert (stats.requests, stats.answered, stats.distinct_prompts) == (5, 5, 3)
    assert (stats.repeated_prompts, stats.repeated_answers) == (2, 2)
    assert stats.prompt_tokens == sum(usage.prompt_tokens for usage in usages)
    assert stats.completion_tokens == sum(usage.completion_tokens for usage in usages)
    assert stats.in_flight == 0
    assert stats.peak_in_flight == 1


def test_retry_after_faulty_answer_is_not_a_repeated_prompt(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.configure(answer_fault_rate=1, answer_faults={"empty": 1})
    ask(client)
    simulator.configure(answer_fault_rate=0)
    ask(client)
    stats = simulator.read_stats()
    assert (stats.repeated_answers, stats.repeated_prompts) == (1, 0)


async def test_disconnected_client_is_counted_as_abandoned(simulator: Simulator) -> None:
    simulator.configure(latency_mean=600, latency_spread=0)

    async def wait_for_in_flight(count: int) -> Stats:
        async with asyncio.timeout(60):
            while (stats := await asyncio.to_thread(simulator.read_stats)).in_flight != count:
                pass
        return stats

    async with openai.AsyncOpenAI(base_url=simulator.base_url, api_key="k", max_retries=0) as client:
        question: Any = {"model": "simulated", "messages": [{"role": "user", "content": QUESTION}]}
        task = asyncio.create_task(client.chat.completions.create(**question))
        await wait_for_in_flight(1)
        task.cancel()
        await asyncio.wait([task])
    stats = await wait_for_in_flight(0)
    assert (stats.in_flight, stats.abandoned, stats.answered) == (0, 1, 0)


def test_unusable_settings_are_refused_and_change_nothing(simulator: Simulator) -> None:
    before = simulator.read_settings()
    with pytest.raises(ValueError, match="unheard_of"):
        simulator.configure(seed=9, unheard_of=1)
    with pytest.raises(ValueError, match="less than or equal to 1"):
        simulator.configure(drop_rate=2)
    assert send_raw(simulator, "PUT", "/_simulator/settings", "[")[0] == 400
    assert simulator.read_settings() == before
