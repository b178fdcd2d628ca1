"""Consequence of an error for a job: a final problem, or another attempt after a pause."""

import logging
import secrets
from typing import NamedTuple

from assayer.errors import (
    AnswerRefused,
    AssayerError,
    BudgetExhausted,
    ComponentUnavailable,
    ConfigurationError,
    CorpusError,
    Defect,
    FullTextError,
    InputError,
    LlmRejected,
    LlmUnavailable,
    NoFallback,
    ParserUnavailable,
    RequestRefused,
    SourceBusy,
    SourceUnavailable,
    StorageError,
)
from orchestrator.jobs.models import Problem
from orchestrator.jobs.withheld_addresses import withhold_addresses

_LOG = logging.getLogger(__name__)

_OUTAGE_ERRORS = (ComponentUnavailable, LlmUnavailable, StorageError, SourceUnavailable, SourceBusy, ParserUnavailable)
"""Errors that mean that a dependency of all jobs is unreachable."""

_FINAL_ERRORS: tuple[tuple[type[AssayerError], str, str], ...] = (
    (InputError, "unusable-input", "The input cannot be used"),
    (BudgetExhausted, "budget-exhausted", "The budget is spent"),
    (LlmRejected, "llm-rejected", "The language model's endpoint refuses the service's requests"),
    (NoFallback, "llm-needed", "This needs a language model, and none is configured"),
    (AnswerRefused, "answer-refused", "The language model declined to answer"),
    (RequestRefused, "llm-request-refused", "The language model's endpoint refused a request of this job"),
    (ConfigurationError, "service-misconfigured", "The service's settings do not allow this"),
    (CorpusError, "corpus-unusable", "The service's corpus of papers cannot be used"),
    (FullTextError, "unreadable-document", "The document cannot be read"),
)
"""Errors that another attempt would not change, with the problem's type and title."""


class Retry(NamedTuple):
    """Outcome that returns the job to the queue."""

    reason: str
    seconds: float
    """Seconds before the job can start again."""
    attempt_failed: bool
    """True if the job itself is at fault, so that only a few attempts are allowed; False if a dependency was
    unreachable."""


def decide_after_error(error: AssayerError, attempt: int) -> Problem | Retry:
    """Return the problem or the retry to which an error leads. `attempt` is numbered from 1. An error without a rule
    may be temporary, so it leads to a retry."""
    if isinstance(error, _OUTAGE_ERRORS):
        return Retry(_format_for_tenant(error), compute_backoff_seconds(attempt), attempt_failed=False)
    for kind, slug, title in _FINAL_ERRORS:
        if isinstance(error, kind):
            return build_error_problem(slug, title, error)
    return Retry(_format_for_tenant(error), compute_backoff_seconds(attempt), attempt_failed=True)


def build_error_problem(slug: str, title: str, error: AssayerError) -> Problem:
    return Problem(type=slug, title=title, detail=_format_for_tenant(error))


def _format_for_tenant(error: AssayerError) -> str:
    """Return the error's text without host addresses. The text of a defect is replaced by a reference to the log, which
    contains the full text."""
    text = str(error)
    if isinstance(error, Defect):
        reference = secrets.token_hex(4)
        _LOG.error("defect %s: %s", reference, text)
        return (
            f"Internal error. Give the operator the reference {reference}, which identifies the cause in "
            "the service's log."
        )
    if isinstance(error, InputError):
        return text
    public_text = withhold_addresses(text)
    if public_text != text:
        _LOG.warning("removed addresses from a message to a tenant; full message: %s", text)
    return public_text


def compute_backoff_seconds(attempt: int) -> float:
    """Return the backoff in seconds: 5 after the first attempt, doubled with every attempt, at most 60."""
    return float(min(5 * 2 ** (min(attempt, 9) - 1), 60))
