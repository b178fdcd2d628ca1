"""`/v1/corpus/search`: the papers against which ideas are held."""

import asyncio
import datetime as dt
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from assayer.errors import LiteratureError
from assayer.ports import Literature
from orchestrator.api.corpus_resources import CorpusBody, CorpusQuery, CorpusSearch, search_of
from orchestrator.api.documented import problems
from orchestrator.api.problems import Refusal
from orchestrator.api.security import Reader, json_only
from orchestrator.api.services import Offered, Services

__all__ = ["router"]

router = APIRouter(prefix="/v1/corpus", tags=["corpus"])

_SECONDS = 30.0


@router.get("/search", responses=problems(422))
async def search(query: Annotated[CorpusQuery, Query()], _: Reader, services: Offered) -> CorpusSearch:
    """Papers that answer one query."""
    return await _answered(services, (query.q,), query.limit, query.before, query.snippets)


@router.post("/search", responses=problems(400, 413, 415, 422), dependencies=[Depends(json_only)])
async def search_many(body: CorpusBody, _: Reader, services: Offered) -> CorpusSearch:
    """Papers that answer each of many queries. Nothing is stored, so no key makes it happen once."""
    return await _answered(services, body.queries, body.limit, body.before, body.snippets)


async def _answered(
    services: Services, queries: tuple[str, ...], limit: int, before: dt.date | None, snippets: bool
) -> CorpusSearch:
    """Raises Refusal."""
    corpus, retry = services.corpus, services.settings.retry_seconds
    if corpus is None:
        raise Refusal("not-ready", "This service has no corpus to search.", retry_after=retry)
    try:
        async with asyncio.timeout(_SECONDS):
            return await _found(corpus, queries, limit, before, snippets)
    except TimeoutError:
        raise Refusal("busy", f"The corpus did not answer within {_SECONDS:g} s.", retry_after=retry) from None
    except LiteratureError as error:
        # Its words name files and hosts of the operator.
        raise Refusal("unavailable", f"The search failed: {error.reason}.", retry_after=retry) from error


async def _found(
    corpus: Literature, queries: tuple[str, ...], limit: int, before: dt.date | None, snippets: bool
) -> CorpusSearch:
    version = corpus.version
    hits = await corpus.search(queries, limit, before)
    passages = await corpus.snippets(queries, limit, before) if snippets else None
    return search_of(version, queries, hits, passages)
