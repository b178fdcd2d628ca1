"""Meaning of each error for a job."""

import inspect
import re

import pytest

from assayer import errors
from assayer.errors import (
    AssayerError,
    BudgetExhausted,
    Defect,
    InputError,
    LlmRejected,
    LlmUnavailable,
    MalformedAnswer,
    NoFallback,
    ParserUnavailable,
    StorageError,
    Unreadable,
)
from orchestrator.jobs.models import Problem
from orchestrator.jobs.retry_policy import Retry, compute_backoff_seconds, decide_after_error

ALL = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, AssayerError)]


@pytest.mark.parametrize(
    ("error", "type"),
    [
        (InputError("The idea is empty.", "Write it."), "unusable-input"),
        (Unreadable("The PDF is encrypted."), "unreadable-document"),
        (BudgetExhausted("The budget is spent."), "budget-exhausted"),
        (LlmRejected("Wrong key."), "llm-rejected"),
        (NoFallback("No model."), "llm-needed"),
    ],
)
def test_permanent_error_is_not_retried_and_keeps_its_message(error: AssayerError, type: str) -> None:
    verdict = decide_after_error(error, attempt=1)
    assert isinstance(verdict, Problem)
    assert (verdict.type, verdict.detail) == (type, str(error))


@pytest.mark.parametrize(
    ("kind", "counts"),
    [
        (LlmUnavailable, False),
        (StorageError, False),
        (ParserUnavailable, False),
        (Defect, True),
        (MalformedAnswer, True),
    ],
)
def test_error_is_retried_and_counts_as_failed_attempt_unless_a_service_is_unavailable(
    kind: type[AssayerError], counts: bool
) -> None:
    decision = decide_after_error(kind("Nobody answers."), attempt=1)
    assert isinstance(decision, Retry)
    assert decision.attempt_failed == counts
    assert decision.seconds > 0


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind is not Defect], ids=lambda kind: kind.__name__)
def test_every_error_outcome_includes_the_error_message(kind: type[AssayerError]) -> None:
    outcome = decide_after_error(kind("This went wrong."), attempt=2)
    assert "This went wrong." in (outcome.reason if isinstance(outcome, Retry) else outcome.detail)


def test_backoff_grows_with_attempts_up_to_two_minutes() -> None:
    pauses = [compute_backoff_seconds(attempt) for attempt in range(1, 200)]
    assert pauses == sorted(pauses)
    assert 0 < pauses[0] < pauses[1] < pauses[-1] <= 120


def test_defect_is_logged_and_tenant_sees_only_a_reference(caplog: pytest.LogCaptureFixture) -> None:
    outcome = decide_after_error(Defect("assayer failed: KeyError: '/srv/secret'.", "Please report it."), 1)
    assert isinstance(outcome, Retry)
    assert "secret" not in outcome.reason
    (reference,) = re.findall(r"reference ([0-9a-f]{8})", outcome.reason)
    assert f"{reference}: assayer failed: KeyError: '/srv/secret'" in caplog.text
