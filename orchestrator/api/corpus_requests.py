"""Requests that the corpus answers while the caller waits: one version for all of a request, and a deadline."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from assayer.errors import CorpusError, LiteratureError, PartUnavailable
from orchestrator.api.problems import HttpProblem
from orchestrator.api.searchable_corpus import SearchableCorpus
from orchestrator.api.services import Services

__all__ = ["answered_by_corpus"]

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_SECONDS = 30.0


async def answered_by_corpus(services: Services, what: str, ask: Callable[[SearchableCorpus], Awaitable[T]]) -> T:
    """`what` is asked, in a word. Raises HttpProblem."""
    retry = services.settings.retry_seconds
    try:
        async with asyncio.timeout(_SECONDS):
            return await ask(await _current(services))
    except TimeoutError:
        raise HttpProblem("busy", f"The corpus did not answer within {_SECONDS:g} s.", retry_after=retry) from None
    except (LiteratureError, PartUnavailable) as error:
        # Its words name files and hosts of the operator.
        raise HttpProblem("unavailable", f"The {what} failed: {error.reason}.", retry_after=retry) from error


async def _current(services: Services) -> SearchableCorpus:
    if services.corpora is not None:
        try:
            return await services.corpora.current()
        except CorpusError as error:
            _LOG.warning("a request found no corpus: %s", error)
    raise HttpProblem("not-ready", "This service has no corpus to search.", retry_after=services.settings.retry_seconds)
