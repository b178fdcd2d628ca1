"""`/v1/corpus/search`: the papers against which ideas are held."""

import asyncio
import logging
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from assayer.errors import CorpusError, LiteratureError, PartUnavailable
from orchestrator.api.corpus_resources import CorpusBody, CorpusOptions, CorpusQuery, CorpusSearch, search_of
from orchestrator.api.documented import problems
from orchestrator.api.problems import Refusal
from orchestrator.api.searching import SearchedCorpus
from orchestrator.api.security import Reader, json_only
from orchestrator.api.services import Offered, Services

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpus", tags=["corpus"])

_LOG = logging.getLogger(__name__)
_SECONDS = 30.0


@router.get("/search", responses=problems(422))
async def search(query: Annotated[CorpusQuery, Query()], _: Reader, services: Offered) -> CorpusSearch:
    """Papers that answer one query, of those that pass the filters. `venue`, `field` and `without` may be repeated."""
    return await _answered(services, (query.q,), query)


@router.post("/search", responses=problems(400, 413, 415, 422), dependencies=[Depends(json_only)])
async def search_many(body: CorpusBody, _: Reader, services: Offered) -> CorpusSearch:
    """Papers that answer each of many queries. Nothing is stored, so no key makes it happen once."""
    return await _answered(services, body.queries, body)


async def _answered(services: Services, queries: tuple[str, ...], options: CorpusOptions) -> CorpusSearch:
    """Raises Refusal."""
    retry = services.settings.retry_seconds
    try:
        async with asyncio.timeout(_SECONDS):
            return await _found(await _current(services), queries, options)
    except TimeoutError:
        raise Refusal("busy", f"The corpus did not answer within {_SECONDS:g} s.", retry_after=retry) from None
    except (LiteratureError, PartUnavailable) as error:
        # Its words name files and hosts of the operator.
        raise Refusal("unavailable", f"The search failed: {error.reason}.", retry_after=retry) from error


async def _current(services: Services) -> SearchedCorpus:
    if services.corpora is not None:
        try:
            return await services.corpora.current()
        except CorpusError as error:
            _LOG.warning("a search found no corpus: %s", error)
    raise Refusal("not-ready", "This service has no corpus to search.", retry_after=services.settings.retry_seconds)


async def _found(corpus: SearchedCorpus, queries: tuple[str, ...], options: CorpusOptions) -> CorpusSearch:
    version, filters = corpus.version, options.filters
    hits = await corpus.find(queries, options.limit, filters)
    passages = await corpus.find_passages(queries, options.limit, filters) if options.snippets else None
    return search_of(version, queries, hits, passages)
