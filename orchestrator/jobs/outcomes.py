"""What an error means for a job: its verdict, or another try."""

from typing import NamedTuple

from assayer.errors import (
    AnswerRefused,
    AssayerError,
    BudgetExhausted,
    ConfigurationError,
    CorpusError,
    Defect,
    FullTextError,
    InputError,
    LlmRejected,
    NoFallback,
    ParserUnavailable,
    StorageError,
)
from orchestrator.jobs.models import Problem

__all__ = ["Again", "after", "problem"]

_FIRST_PAUSE, _LONGEST_PAUSE = 15.0, 300.0

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
    """The attempt failed, and a job has few of these. Otherwise this process could not go on, whatever the job."""


def after(error: AssayerError, attempt: int) -> Problem | Again:
    """`attempt` counts from 1. What no rule names may pass, and is tried again."""
    if isinstance(error, ParserUnavailable):  # no verdict on the document, unlike its siblings
        return Again(str(error), pause(attempt), blame=True)
    for kind, slug, title in _FINAL:
        if isinstance(error, kind):
            return problem(slug, title, error)
    if isinstance(error, Defect) and attempt == 1:
        return Again(str(error), 0.0, blame=True)
    return Again(str(error), pause(attempt), blame=not isinstance(error, StorageError))


def problem(slug: str, title: str, error: AssayerError) -> Problem:
    return Problem(type=slug, title=title, detail=str(error))


def pause(attempt: int) -> float:
    """Seconds; four times as long after every try."""
    return float(min(_FIRST_PAUSE * 4 ** (min(attempt, 9) - 1), _LONGEST_PAUSE))
