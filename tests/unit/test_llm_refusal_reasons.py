"""Reason of a refusal, or the wait before the request is sent again, in the words of many providers."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.llm.completion import UnusableResponse, parse_completion
from workers.llm.error_body import parse_error_body
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure, build_failure

_LONG_NAME = "projects/example-project/locations/example-central1/publishers/example/models/m-9.1"


def make_error_body(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


def classify(status: int, body: object) -> TransientLlmFailure | PermanentLlmFailure:
    return build_failure(status, parse_error_body(body), None)


@pytest.mark.parametrize(
    ("reason", "status", "body"),
    [
        (
            "quota",
            429,
            make_error_body("Your team has used all available credits or reached its monthly spending limit."),
        ),
        ("quota", 429, {"detail": "Inactive subscription or usage limit reached"}),
        ("quota", 429, make_error_body("You are using a Trial key, which is limited to 1000 API calls / month.")),
        ("quota", 429, make_error_body("Tokens per day limit exceeded - too many tokens processed.")),
        ("quota", 429, make_error_body("You exceeded your current quota, please check your plan and billing details.")),
        ("quota", 429, make_error_body("Quota exceeded, limit: 0, model: m. Please retry in 3.5s.")),
        ("quota", 412, make_error_body("Account example is suspended, possibly due to unpaid invoices.")),
        ("quota", 429, make_error_body("Please check your plan", type="exceeded_current_quota_error")),
        ("quota", 429, make_error_body("余额不足或无可用资源包,请充值。", code="1113")),
        ("quota", 403, {"code": 30001, "message": "Sorry, your account balance is insufficient"}),
        ("quota", 402, {"title": "Payment Required", "detail": "Credits expired"}),
        ("quota", 401, make_error_body("ExceededBudget: User over budget. Spend=10.1", type="budget_exceeded")),
        ("quota", 403, {"errors": [{"code": "token_quota_reached", "message": "The quota for this plan is reached."}]}),
        ("quota", 429, {"error": "You've reached your monthly token allowance."}),
        ("forbidden", 401, make_error_body("key not allowed to access model. It can only access models=['a']")),
        (
            "forbidden",
            403,
            make_error_body("The Example API has not been used in project 123 before or it is disabled."),
        ),
        ("forbidden", 403, {"detail": "Project `p` does not have access to model `m`"}),
        ("forbidden", 403, "RBAC: access denied"),
        ("forbidden", 200, make_error_body("Forbidden")),
        ("wrong_key", 401, make_error_body("Access denied due to invalid subscription key or wrong API endpoint.")),
        ("wrong_key", 401, {"status": 401, "error": "Unauthorized", "message": "Full authentication is required"}),
        ("wrong_key", 200, make_error_body("Unauthorized", statusCode=401)),
        ("wrong_key", 403, make_error_body("Your API key was reported as leaked. Please use another API key.")),
        ("wrong_key", 400, make_error_body("API Key not found. Please pass a valid API key.")),
        ("wrong_key", 500, make_error_body("OpenAIException - Incorrect API key provided")),
        ("unknown_model", 404, make_error_body(f"Publisher Model `{_LONG_NAME}` was not found.")),
        ("unknown_model", 400, make_error_body("example/m is not a valid model ID")),
        ("unknown_model", 400, make_error_body("The requested model 'm-4.1' is not supported by any provider.")),
        ("unknown_model", 400, make_error_body("/chat/completions: Invalid model name passed in model=m.")),
        ("unknown_model", 400, make_error_body("The provided model identifier is invalid.")),
        ("unknown_model", 404, make_error_body("Unable to access model m.")),
        ("unknown_model", 404, {"type": "error", "error": {"type": "not_found_error", "message": "model: m"}}),
        ("unknown_model", 404, make_error_body("No endpoints available matching your guardrail restrictions.")),
        ("unknown_model", 404, {"title": "Not Found", "detail": "Function '0-0': Not found for account 'example'"}),
        ("unknown_path", 404, "Not Found"),
        ("unknown_path", 404, {"message": "no Route matched with those values"}),
        ("unknown_path", 404, make_error_body("Invalid URL (POST /v1/v1/chat/completions)")),
        ("unknown_path", 405, {"detail": "Method Not Allowed"}),
        ("web_page", 403, "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>"),
        ("web_page", 407, "<HTML><HEAD><TITLE>ERROR: Cache Access Denied</TITLE></HEAD></HTML>"),
        ("web_page", 511, "<html><title>Network Authentication Required</title></html>"),
        (
            "bad_request",
            400,
            make_error_body("'max_tokens' is not supported with this model. Use 'max_completion_tokens'."),
        ),
        ("bad_request", 400, make_error_body("Range of max_tokens should be [1, 8192]")),
        ("bad_request", 400, make_error_body("temperature: Input should be greater than or equal to 0")),
        ("bad_request", 404, make_error_body("No endpoints found that can handle the requested parameters.")),
        ("bad_request", 400, make_error_body("Unknown parameter: 'content_filter'.", param="content_filter")),
        (
            "bad_request",
            400,
            make_error_body("Invalid schema for response_format: it exceeds the maximum nesting depth"),
        ),
        ("too_long", 400, make_error_body("Your input exceeds the context window of this model.")),
        ("too_long", 400, make_error_body("This model does not support more than 8192 tokens of input.")),
        ("too_long", 400, {"message": "max tokens of 8192 exceeded"}),
        ("too_long", 413, make_error_body("Request exceeds the maximum allowed number of bytes.")),
        ("too_long", 502, make_error_body("prompt is too long: 9000 tokens > 8192 maximum", code=400)),
        ("filtered", 400, make_error_body("Output blocked by content filtering policy")),
        ("filtered", 424, {"error": [{"code": 2016, "message": "Prompt blocked due to security configurations"}]}),
        ("filtered", 400, make_error_body("The request was rejected because it was considered high risk")),
        ("filtered", 400, make_error_body("Your request was rejected as a result of our safety system.")),
        ("filtered", 400, {"error": {"code": "400", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
    ],
)
def test_refusal_has_the_reason_that_the_endpoint_states(reason: str, status: int, body: object) -> None:
    failure = classify(status, body)
    assert isinstance(failure, PermanentLlmFailure)
    assert failure.reason == reason


@pytest.mark.parametrize(
    ("kind", "wait", "status", "body"),
    [
        (
            "rate_limited",
            1.0,
            429,
            make_error_body("Your account reached max concurrency: 1, please try again after 1 seconds"),
        ),
        (
            "rate_limited",
            12_345.0,
            429,
            make_error_body("Rate limit of 50 per 86400s exceeded. Please wait 12345 seconds."),
        ),
        ("rate_limited", None, 429, make_error_body("您的账户已达到速率限制，请您控制请求频率", code="1302")),
        ("rate_limited", None, 429, make_error_body("Service tier capacity exceeded for this model.")),
        (
            "rate_limited",
            None,
            429,
            make_error_body("This would exceed the rate limit. Please reduce the prompt length."),
        ),
        ("rate_limited", None, 429, make_error_body("Resource has been exhausted (e.g. check quota).")),
        ("rate_limited", None, 429, make_error_body("Quota exceeded for requests_per_minute_per_project.")),
        ("rate_limited", 20.0, 400, make_error_body("Rate limit exceeded, retry after 20")),
        ("rate_limited", None, 500, make_error_body("Resource exhausted", status="RESOURCE_EXHAUSTED")),
        ("rate_limited", 3.0, 429, make_error_body("Slow.", details=[{"retryDelay": {"seconds": 3}}])),
        ("rate_limited", 0.25, 429, {"error": "Slow.", "retry_after_ms": 250}),
        ("rate_limited", 15.0, 429, {"error": "Slow.", "retryAfterSeconds": "15s"}),
        ("server_error", None, 500, make_error_body("The server had an error while processing your request.")),
        ("server_error", None, 200, make_error_body("Overloaded", type="overloaded_error")),
        ("server_error", None, 503, {"error": "server busy, please try again"}),
        ("server_error", None, 503, {"error": "content moderation is unavailable"}),
        ("server_error", None, 400, {"error": "Model unloaded."}),
        ("server_error", None, 400, {"detail": "Function id '0': DEGRADED function cannot be invoked"}),
        ("server_error", 42.0, 503, make_error_body("Model is warming up. Estimated time: 42s")),
        ("server_error", None, 200, {"code": 500, "msg": "系统繁忙，请稍后重试", "data": None}),
        ("server_error", None, 424, {"error": "Request failed during generation"}),
        ("timeout", None, 504, "upstream request timeout"),
        ("timeout", None, 200, make_error_body("Too slow", code="deadline_exceeded")),
    ],
)
def test_temporary_refusal_has_its_kind_and_wait(kind: str, wait: float | None, status: int, body: object) -> None:
    failure = classify(status, body)
    assert isinstance(failure, TransientLlmFailure)
    assert (failure.fault.kind, failure.retry_after) == (kind, wait)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["<html>", "data: {}", "{}"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "errors", "message", "detail", "code", "retry_after", "metadata", "raw", "headers"]
            )
            | st.sampled_from(
                ["choices", "usage", "content", "candidates", "finish_reason", "base_resp", "stop_reason"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.integers(400, 599) | st.just(200), _JSON)
def test_any_error_body_becomes_a_failure_with_a_message(status: int, body: object) -> None:
    failure = classify(status, body)
    assert str(failure)
    assert len(str(failure)) <= 400


@given(_JSON)
def test_any_response_is_a_completion_or_unusable(body: object) -> None:
    for data in (json.dumps(body), f"data: {json.dumps(body)}", str(body)):
        with suppress(UnusableResponse):
            parse_completion(data.encode("utf-8", "replace"))
