"""What an error means for a job: its verdict, or another try."""

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

__all__ = ["Again", "after", "problem"]

_OUT_OF_REACH = (PartUnavailable, LlmUnavailable, StorageError, SourceUnavailable, SourceBusy, ParserUnavailable)
"""What every other job would have met as well."""

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
"""Trying again changes nothing; the problem's type and title."""


class Again(NamedTuple):
    """The job goes back into the queue."""

    why: str
    seconds: float
    """Before it may be begun again."""
    blame: bool
    """The attempt itself went wrong, and a job has few of these; otherwise something was out of reach."""


def after(error: AssayerError, attempt: int) -> Problem | Again:
    """`attempt` counts from 1. What no rule names may pass, and is tried again."""
    if isinstance(error, _OUT_OF_REACH):
        return Again(str(error), pause(attempt), blame=False)
    for kind, slug, title in _FINAL:
        if isinstance(error, kind):
            return problem(slug, title, error)
    return Again(str(error), pause(attempt), blame=True)


def problem(slug: str, title: str, error: AssayerError) -> Problem:
    return Problem(type=slug, title=title, detail=str(error))


def pause(attempt: int) -> float:
    """Seconds; doubles with every try."""
    return float(min(5 * 2 ** (min(attempt, 9) - 1), 60))
