"""Corpus searches for which the caller waits. Each request uses a single corpus version and has a deadline."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from assayer.errors import ComponentUnavailable, CorpusError, LiteratureError
from orchestrator.problems import HttpProblem
from orchestrator.web.searchable_corpus import SearchableCorpus
from orchestrator.web.services import Services

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_TIMEOUT_SECONDS = 30.0


async def run_corpus_search(services: Services, search: Callable[[SearchableCorpus], Awaitable[T]]) -> T:
    """Run a search on the current corpus. Raises HttpProblem if there is no corpus, the search fails, or it takes more
    than 30 seconds."""
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            return await search(await _get_current_corpus(services))
    except TimeoutError:
        raise HttpProblem("busy", f"The corpus search took longer than {_TIMEOUT_SECONDS:g} s.") from None
    except (LiteratureError, ComponentUnavailable) as error:
        # The error's message contains the operator's file and host names, so the response states only the reason.
        raise HttpProblem("unavailable", f"The search failed: {error.reason}.") from error


async def _get_current_corpus(services: Services) -> SearchableCorpus:
    if services.corpora is not None:
        try:
            return await services.corpora.current()
        except CorpusError as error:
            _LOG.warning("no corpus could be opened for a request: %s", error)
    raise HttpProblem("not-ready", "This service has no corpus to search.")
