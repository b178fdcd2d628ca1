"""Errors keep their type and their words across processes."""

import pickle

import pytest

from assayer import errors
from assayer.errors import AssayerError, LlmError, error_text
from assayer.models import Fault

ERRORS = [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, AssayerError)]


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_survives_pickling(name: str) -> None:
    kind = getattr(errors, name)
    error = kind("What was wrong.", "What to do.")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    assert type(copy) is kind
    assert str(copy) == "What was wrong. What to do."


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_documented_and_has_a_distinct_reason(name: str) -> None:
    assert name in (errors.__doc__ or "")
    reasons = [getattr(errors, name).reason for name in ERRORS if name != "LlmError"]  # which inherits it
    assert name == "LlmError" or reasons.count(getattr(errors, name).reason) == 1


def test_faults_survive_pickling() -> None:
    fault = Fault(kind="empty", detail="no content")
    copy = pickle.loads(pickle.dumps(LlmError("failed", "", (fault,))))  # noqa: S301  # our own bytes
    assert copy.faults == (fault,)


def test_error_without_message_is_described_by_its_class() -> None:
    assert error_text(TimeoutError()) == "TimeoutError"
    assert error_text(LlmError("It failed.", "Wait.")) == "It failed. Wait."
