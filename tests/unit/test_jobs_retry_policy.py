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
from orchestrator.jobs.retry_policy import Retry, backoff_seconds, outcome_of_error

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
def test_what_trying_again_does_not_change_is_a_verdict_that_says_what_the_error_says(
    error: AssayerError, type: str
) -> None:
    verdict = outcome_of_error(error, attempt=1)
    assert isinstance(verdict, Problem)
    assert (verdict.type, verdict.detail) == (type, str(error))


@pytest.mark.parametrize("kind", [LlmUnavailable, StorageError, ParserUnavailable])
def test_what_is_out_of_reach_is_tried_again_after_a_pause_and_no_fault_of_the_job(kind: type[AssayerError]) -> None:
    again = outcome_of_error(kind("Nobody answers."), attempt=1)
    assert isinstance(again, Retry)
    assert not again.attempt_failed
    assert again.seconds > 0


@pytest.mark.parametrize("kind", [Defect, MalformedAnswer])
def test_what_may_pass_is_tried_again_and_counts_as_a_failure(kind: type[AssayerError]) -> None:
    again = outcome_of_error(kind("Something broke."), attempt=1)
    assert isinstance(again, Retry)
    assert again.attempt_failed


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind is not Defect], ids=lambda kind: kind.__name__)
def test_every_error_has_an_outcome_that_explains_itself(kind: type[AssayerError]) -> None:
    outcome = outcome_of_error(kind("This went wrong."), attempt=2)
    assert "This went wrong." in (outcome.why if isinstance(outcome, Retry) else outcome.detail)


def test_pauses_grow_with_every_try_and_stay_below_two_minutes() -> None:
    pauses = [backoff_seconds(attempt) for attempt in range(1, 200)]
    assert pauses == sorted(pauses)
    assert 0 < pauses[0] < pauses[1] < pauses[-1] <= 120


def test_defect_reaches_the_tenant_as_a_reference_and_its_text_the_log(caplog: pytest.LogCaptureFixture) -> None:
    outcome = outcome_of_error(Defect("assayer failed: KeyError: '/srv/secret'.", "Please report it."), 1)
    assert isinstance(outcome, Retry)
    assert "secret" not in outcome.why
    (reference,) = re.findall(r"reference ([0-9a-f]{8})", outcome.why)
    assert f"{reference}: assayer failed: KeyError: '/srv/secret'" in caplog.text
