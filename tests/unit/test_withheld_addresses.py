"""Parts of an error message that tenants must not see."""

import logging

import pytest

from assayer.errors import InputError, LlmRejected, LlmUnavailable
from orchestrator.jobs.models import Problem
from orchestrator.jobs.retry_policy import Retry, decide_after_error
from orchestrator.jobs.withheld_addresses import withhold_addresses


@pytest.mark.parametrize(
    "address",
    [
        *("http://10.0.0.5:8000/v1", "https://llm.internal/v1", "10.0.0.5", "127.0.0.1:5432", "llm.internal:8000"),
        *("vllm-0:8000", "[::1]:8000", "fd00::5", "localhost:5432/assayer", "postgresql://db.internal:5432/assayer"),
    ],
)
def test_address_is_withheld_and_rest_of_sentence_kept(address: str) -> None:
    assert withhold_addresses(f"It ({address}) is down: {address}.") == (
        "It ((address withheld)) is down: (address withheld)."
    )


@pytest.mark.parametrize(
    "text",
    ["Set ASSAYER_LLM__BASE_URL: it usually ends in /v1.", "the last: HTTP 503 Busy.", "row 12:30", "Python 3.11.7: x"],
)
def test_text_without_addresses_is_unchanged(text: str) -> None:
    assert withhold_addresses(text) == text


@pytest.mark.parametrize("kind", [LlmRejected, LlmUnavailable])
def test_tenant_error_hides_address_and_operator_log_keeps_it(
    kind: type[LlmRejected | LlmUnavailable], caplog: pytest.LogCaptureFixture
) -> None:
    error = kind("The LLM endpoint http://10.0.0.5:8000/v1 is down.", "Check that it runs.")
    with caplog.at_level(logging.WARNING):
        outcome = decide_after_error(error, 1)
    stated_reason = outcome.reason if isinstance(outcome, Retry) else outcome.detail
    assert stated_reason == "The LLM endpoint (address withheld) is down. Check that it runs."
    assert "http://10.0.0.5:8000/v1" in caplog.text


def test_input_errors_quote_user_text_unchanged() -> None:
    outcome = decide_after_error(InputError("The title http://my.example:80/ is no title."), 1)
    assert isinstance(outcome, Problem)
    assert "http://my.example:80/" in outcome.detail
