"""What an error means for a job: a final problem, or another attempt after a pause."""

import logging
from typing import NamedTuple

from assayer.errors import (
    AnswerRefused,
    AssayerError,
    BudgetExhausted,
    ConfigurationError,
    CorpusError,
    FullTextError,
    InputError,
    LlmRejected,
    LlmUnavailable,
    NoFallback,
    ParserUnavailable,
    PartUnavailable,
    SourceBusy,
    SourceUnavailable,
    StorageError,
)
from orchestrator.jobs.models import Problem
from orchestrator.jobs.withheld_addresses import without_addresses

__all__ = ["Retry", "outcome_of_error", "problem_of_error"]

_LOG = logging.getLogger(__name__)

_OUTAGES = (PartUnavailable, LlmUnavailable, StorageError, SourceUnavailable, SourceBusy, ParserUnavailable)
"""Something that every other job needs as well is out of reach."""

_FINAL: tuple[tuple[type[AssayerError], str, str], ...] = (
    (InputError, "unusable-input", "The input cannot be used"),
    (BudgetExhausted, "budget-exhausted", "The budget is spent"),
    (LlmRejected, "llm-rejected", "The language model's endpoint refuses the service's requests"),
    (NoFallback, "llm-needed", "This needs a language model, and none is configured"),
    (AnswerRefused, "answer-refused", "The language model declined to answer"),
    (ConfigurationError, "service-misconfigured", "The service's settings do not allow this"),
    (CorpusError, "corpus-unusable", "The service's corpus of papers cannot be used"),
    (FullTextError, "unreadable-document", "The document cannot be read"),
)
"""Errors that another attempt would not change, with the problem's type and title."""


class Retry(NamedTuple):
    """The job goes back to the queue."""

    why: str
    seconds: float
    """Before it may start again."""
    attempt_failed: bool
    """The job itself is at fault, and has few attempts; otherwise something was out of reach."""


def outcome_of_error(error: AssayerError, attempt: int) -> Problem | Retry:
    """`attempt` counts from 1. An error that no rule names may be temporary: the job is tried again."""
    if isinstance(error, _OUTAGES):
        return Retry(_told(error), backoff_seconds(attempt), attempt_failed=False)
    for kind, slug, title in _FINAL:
        if isinstance(error, kind):
            return problem_of_error(slug, title, error)
    return Retry(_told(error), backoff_seconds(attempt), attempt_failed=True)


def problem_of_error(slug: str, title: str, error: AssayerError) -> Problem:
    return Problem(type=slug, title=title, detail=_told(error))


def _told(error: AssayerError) -> str:
    """Tenants read it; where a machine is stands in the log alone."""
    text = str(error)
    if isinstance(error, InputError):
        return text
    told = without_addresses(text)
    if told != text:
        _LOG.warning("told without addresses: %s", text)
    return told


def backoff_seconds(attempt: int) -> float:
    """Seconds; doubles with every attempt."""
    return float(min(5 * 2 ** (min(attempt, 9) - 1), 60))
