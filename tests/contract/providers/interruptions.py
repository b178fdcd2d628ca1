"""Failures that pass: the same request is sent again, after the wait that the provider asks for."""

import json
from dataclasses import dataclass

from tests.contract.providers.imitation import GOOD, Reply, build_completion, build_error, build_events, build_web_page


@dataclass(frozen=True)
class Interruption:
    name: str
    reply: Reply
    detail: str
    """Regular expression of the fault on record."""
    kind: str = "server_error"
    wait: float | None = None
    """Seconds that the provider asks to wait."""


def _build_delta(text: str, finish_reason: str | None = None) -> dict[str, object]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish_reason}]}


def _build_rate_limit(message: str, wait: float | None, name: str = "") -> Interruption:
    return Interruption(f"rate limit: {name or message}", build_error(429, message), "HTTP 429 ", "rate_limited", wait)


_LATIN = json.dumps({"error": {"message": "Limite dépassée", "retry_after": 3}}, ensure_ascii=False).encode("latin-1")
_OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

INTERRUPTIONS = (
    # Answers that the provider stopped
    Interruption(
        "OpenRouter: finish reason error", build_completion(GOOD[:50], "error"), "stopped the answer .*“error”"
    ),
    Interruption(
        "DeepSeek: out of resources", build_completion(GOOD[:50], "insufficient_system_resource"), "system_resource"
    ),
    Interruption(
        "SGLang: finish reason that is an object",
        build_completion("", {"type": "abort", "message": "The queue is full.", "status_code": 503}),
        "HTTP 503 The queue is full.",
    ),
    Interruption(
        "OpenRouter: error in a stream",
        build_events(
            ": PROCESSING",
            _build_delta("{"),
            {"error": {"code": 502, "message": "Provider disconnected"}, "choices": []},
        ),
        "HTTP 502 Provider disconnected",
    ),
    Interruption(
        "Anthropic through a gateway: event of a stream", build_events("event: error", _OVERLOADED), "529 Overloaded"
    ),
    Interruption(
        "stream without an end", build_events(_build_delta('{"weights": [')), "stream ended before the answer did"
    ),
    Interruption(
        "stream cut off in an event", build_events(_build_delta("{"), 'data: {"choices": [{"del'), "stream was cut off"
    ),
    # Errors with status 200
    Interruption("proxy: detail inside a 200", Reply(200, {"detail": "Upstream expired"}), "HTTP 502 Upstream expired"),
    Interruption(
        "Cloudflare: list of errors inside a 200",
        Reply(200, {"success": False, "errors": [{"code": 7009, "message": "Upstream gone"}]}),
        "HTTP 502 Upstream gone",
    ),
    Interruption("text inside a 200", Reply(200, "upstream went away", "text/plain"), "HTTP 502 upstream went away"),
    Interruption("empty response", Reply(200, ""), "the response is empty"),
    Interruption(
        "JSON that is cut off", Reply(200, json.dumps(build_completion(GOOD).body)[:90]), "cut off after 90 characters"
    ),
    Interruption(
        "answer in no known charset", Reply(200, b'{"choices": [{"message": {"content": "\xe9"}}]}'), "not UTF-8"
    ),
    # Pages
    Interruption(
        "sign-in page, labelled as JSON", build_web_page("WiFi", content_type="application/json"), "page titled “WiFi”"
    ),
    Interruption(
        "nginx: page", build_web_page("502 Bad Gateway", 502), "HTTP 502, a web page titled “502 Bad Gateway”"
    ),
    Interruption(
        "Cloudflare: page", build_web_page("524: A timeout", 524), "HTTP 524, a web page titled “524: A", "timeout"
    ),
    # Statuses
    Interruption("nginx: client closed the request", Reply(499, {"message": "closed"}), "HTTP 499 closed"),
    Interruption("Anthropic: overload", Reply(529, _OVERLOADED), "HTTP 529 Overloaded"),
    Interruption("status of a bad request", build_error(400, "Rate limit exceeded"), "400 Rate limit", "rate_limited"),
    Interruption(
        "gateway: provider's status in the body",
        build_error(500, "Slow down", code=429),
        "429 Slow down",
        "rate_limited",
    ),
    Interruption("error in Latin-1", Reply(429, _LATIN, "text/json; charset=latin-1"), "dépassée", "rate_limited", 3.0),
    # Waits
    _build_rate_limit(
        "Limit 30000, Used 29000, Requested 1400. Please try again in 1.2s. Visit https://example.org", 1.2
    ),
    _build_rate_limit("Please try again in 7m12s.", 432.0),
    _build_rate_limit("Please try again in 120ms.", 0.12),
    _build_rate_limit("Please retry after 86400 seconds.", 86_400.0),
    _build_rate_limit("No deployments available for selected model, Try again in 5 seconds. Passed model=m", 5.0),
    _build_rate_limit("Rate limit of 60 per 60s exceeded. Please wait 2 minutes and 5 seconds before retrying.", 125.0),
    _build_rate_limit("Slow down.", None),
    Interruption(
        "Gemini: per-minute quota with a wait in details, in a list",
        Reply(
            429,
            [
                {
                    "error": {
                        "code": 429,
                        "message": "You exceeded your current quota, please check your plan.",
                        "details": [
                            {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},
                            {"retryDelay": "38.5s"},
                        ],
                    }
                }
            ],
        ),
        "exceeded your current quota",
        "rate_limited",
        38.5,
    ),
    Interruption(
        "Hugging Face: model that loads",
        Reply(503, {"error": "Model example/m is currently loading", "estimated_time": 20.0}),
        "currently loading",
        wait=20.0,
    ),
    Interruption(
        "header as a date",
        build_error(429, "Wait.")._replace(
            headers={"Retry-After": "Fri, 20 Nov 2099 12:00:30 GMT", "Date": "Fri, 20 Nov 2099 12:00:00 GMT"}
        ),
        "429 Wait.",
        "rate_limited",
        30.0,
    ),
    Interruption(
        "header before the message",
        build_error(429, "Please retry after 86400 seconds.")._replace(headers={"Retry-After": "1m2s"}),
        "429",
        "rate_limited",
        62.0,
    ),
    Interruption(
        "OpenRouter: provider's headers in the body",
        build_error(
            429, "Provider returned error", metadata={"headers": {"Retry-After": "4"}, "raw": "upstream is busy"}
        ),
        "429 Provider returned error upstream is busy",
        "rate_limited",
        4.0,
    ),
    Interruption(
        "OpenRouter: payment in flight",
        build_error(402, "In flight", metadata={"headers": {"Retry-After": "2"}}),
        "402",
        wait=2.0,
    ),
)
