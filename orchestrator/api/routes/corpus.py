"""Routes `/v1/corpus/search`, which search the corpus of papers with which ideas are compared."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from assayer.models import Filters, Hit, Paper, PaperId, Passage, Window
from assayer_client.corpus import (
    CorpusAnswer,
    CorpusBody,
    CorpusHit,
    CorpusOptions,
    CorpusPaper,
    CorpusPassage,
    CorpusSearch,
    PaperName,
    Words,
)
from orchestrator.web.authentication import Reader
from orchestrator.web.corpus_requests import run_corpus_search
from orchestrator.web.searchable_corpus import SearchableCorpus

_MAX_QUERY_VALUES = 20


class CorpusQuery(CorpusOptions):
    """A corpus query in a URL. It allows fewer names than a body, because URLs are limited in length."""

    q: Words
    venue: tuple[PaperName, ...] = Field(default=(), max_length=_MAX_QUERY_VALUES)
    """Return only papers from these venues. Give full names; case is ignored."""
    field: tuple[PaperName, ...] = Field(default=(), max_length=_MAX_QUERY_VALUES)
    """Return only papers from these fields of study."""
    exclude: tuple[PaperName, ...] = Field(default=(), max_length=_MAX_QUERY_VALUES)
    """Ids of papers to exclude."""


router = APIRouter(prefix="/v1/corpus", tags=["corpus"])


@router.get("/search")
async def search_corpus(query: Annotated[CorpusQuery, Query()], context: Reader) -> CorpusSearch:
    """Search the corpus with a single query and optional filters. `venue`, `field` and `exclude` can be repeated."""
    return await run_corpus_search(context.services, lambda corpus: _search(corpus, (query.q,), query))


@router.post("/search")
async def search_corpus_many(body: CorpusBody, context: Reader) -> CorpusSearch:
    """Search the corpus with many queries at once. Nothing is stored, so no idempotency key is needed."""
    return await run_corpus_search(context.services, lambda corpus: _search(corpus, body.queries, body))


async def _search(corpus: SearchableCorpus, queries: tuple[str, ...], options: CorpusOptions) -> CorpusSearch:
    version, filters = corpus.version, _build_filters(options)
    hits = await corpus.find(queries, options.limit, filters)
    passages = await corpus.find_passages(queries, options.limit, filters) if options.snippets else None
    return build_search_resource(version, queries, hits, passages)


def build_search_resource(
    version: str, queries: tuple[str, ...], hits: list[list[Hit]], passages: list[list[Passage]] | None
) -> CorpusSearch:
    answers = (
        CorpusAnswer(
            query=query,
            hits=tuple(CorpusHit(**build_paper_fields(hit.paper), score=hit.similarity) for hit in hits[index]),
            passages=None if passages is None else tuple(map(_build_passage, passages[index])),
        )
        for index, query in enumerate(queries)
    )
    return CorpusSearch(corpus=version, answers=tuple(answers))


def _build_filters(options: CorpusOptions) -> Filters:
    return Filters(
        window=Window(after=options.after, before=options.before),
        venues=frozenset(options.venue),
        fields=frozenset(options.field),
        retracted=options.retracted,
        without=frozenset(map(PaperId, options.exclude)),
    )


def build_paper_fields(paper: Paper) -> dict[str, Any]:
    """Return the fields of a CorpusPaper."""
    date = paper.publication_date
    return CorpusPaper(
        id=paper.id,
        title=paper.title,
        authors=paper.authors,
        year=date.year if date else None,
        publication_date=date,
        venue=paper.venue,
        url=paper.url,
        identifiers={name: value for name, value in paper.identifiers.model_dump().items() if value},
        citation_count=paper.citation_count,
        retracted=paper.retraction is not None and paper.retraction.kind != "concern",
    ).model_dump()


def _build_passage(passage: Passage) -> CorpusPassage:
    return CorpusPassage(
        paper=passage.paper.id,
        title=passage.paper.title,
        section=passage.section,
        text=passage.text,
        score=passage.similarity,
        cites=passage.cites,
    )
