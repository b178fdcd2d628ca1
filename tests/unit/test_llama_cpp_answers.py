"""Answers that a real llama.cpp gave (`python -m tests.record_llama_cpp`), as the gateway understands them."""

import json
from typing import Any

import pytest

from tests.record_llama_cpp import RECORDED
from workers.llm.completion import parse_completion
from workers.llm.error_body import parse_error_body
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure, build_failure


def read_recording(name: str) -> tuple[int, Any]:
    recorded = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
    return recorded["status"], recorded["body"]


def classify_recording(name: str) -> TransientLlmFailure | PermanentLlmFailure:
    status, body = read_recording(name)
    return build_failure(status, parse_error_body(body), None)


def test_answer_is_read_with_its_usage() -> None:
    completion = parse_completion(json.dumps(read_recording("answer")[1]).encode())
    assert set(json.loads(completion.text)) == {"stance", "weight"}
    assert completion.prompt_tokens
    assert completion.completion_tokens


@pytest.mark.parametrize(
    ("reported", "cached"),
    [
        ({"prompt_tokens": 36, "prompt_tokens_details": {"cached_tokens": 32}}, 32),
        ({"prompt_tokens": 36, "prompt_tokens_details": None, "prompt_cache_hit_tokens": 20}, 20),
        ({"prompt_tokens": 36, "prompt_tokens_details": {}, "cache_read_input_tokens": 50}, 36),
        ({"prompt_tokens": 36, "prompt_tokens_details": {"cached_tokens": "many"}}, 0),
    ],
    ids=["openai", "deepseek", "more than the prompt", "unreadable"],
)
def test_prompt_tokens_from_the_endpoints_cache_are_read(reported: dict[str, Any], cached: int) -> None:
    body = read_recording("answer")[1] | {"usage": reported}
    completion = parse_completion(json.dumps(body).encode())
    assert (completion.prompt_tokens, completion.cached_prompt_tokens) == (36, cached)


def test_answer_at_token_limit_is_marked_as_truncated() -> None:
    completion = parse_completion(json.dumps(read_recording("cut_off")[1]).encode())
    assert (completion.finish_reason, completion.completion_tokens) == ("length", 12)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("context_too_small", "too_long"), ("schema_refused", "bad_request"), ("wrong_key", "wrong_key")],
)
def test_rejected_request_is_a_permanent_failure_with_reason(name: str, reason: str) -> None:
    failure = classify_recording(name)
    assert isinstance(failure, PermanentLlmFailure)
    assert failure.reason == reason
    assert failure.body.message == read_recording(name)[1]["error"]["message"]


def test_loading_model_is_a_transient_failure() -> None:
    failure = classify_recording("loading")
    assert isinstance(failure, TransientLlmFailure)
    assert failure.is_overload
    assert "Loading model" in str(failure)


def test_recorded_responses_state_the_context_window() -> None:
    assert read_recording("props")[1]["default_generation_settings"]["n_ctx"] == 1_024
    assert read_recording("models")[1]["data"][0]["meta"]["n_ctx"] == 1_024
