"""Semantic Scholar (`https://api.semanticscholar.org`): Academic Graph API v1 and Recommendations API v1.

A key allows one request per second over all endpoints, so each request covers as much as possible: 100 papers per
search page, 500 per batch, 1,000 references. Results are filtered by date again, because Semantic Scholar dates a paper
that has only a year to 1 January, and this program dates it to the last day of the year."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeVar

from pydantic import BaseModel

from assayer.cutoff import keep_within_window, papers_within
from assayer.models import OPEN, Identifiers, Operation, Paper, Window
from workers.literature_apis.capabilities import Snippet
from workers.literature_apis.query_encoding import encode_path_segment, strip_to_words
from workers.literature_apis.record_fields import clean_prose
from workers.literature_apis.semantic_scholar_records import (
    FIELDS,
    SOURCE,
    CitingPage,
    PaperBatch,
    RecommendedPapers,
    ReferencePage,
    SearchPage,
    SemanticScholarPaper,
    SnippetMatch,
    SnippetPage,
    build_request_id,
    get_snippet_section,
    parse_identifiers,
    parse_paper,
)
from workers.outbound.source_requests import (
    RequestContext,
    SourceFetcher,
    SourceRequest,
    SourceResponse,
    build_malformed_error,
    fetch_json,
    fetch_parsed,
    parse_json,
)

_GRAPH, _RECOMMENDATIONS = "graph/v1", "recommendations/v1"
_PAGE_PAPERS, _MAX_OFFSET = 100, 1_000
_REFERENCES_PAGE, _MAX_REFERENCE_OFFSET = 1_000, 9_999
_MAX_CITING_PAGES = 3
"""Maximum number of pages of 1,000 entries each, so that a very widely cited work costs at most three requests."""
_MAX_SNIPPETS, _MAX_RECOMMENDED = 1_000, 500
_BATCH_IDS = 500
_ALWAYS_KNOWN = "649def34f8be52c8b66281af98ae884c09aef38b"
"""Id of the paper about Semantic Scholar itself, from its documentation, which is added to every batch. A batch without
any known id is refused (400, `No valid paper ids given`); with this id in it, unknown ids are returned as null."""

S = TypeVar("S", bound=BaseModel)
Params = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SemanticScholar:
    """Client for Semantic Scholar. Implements SearchesPapers, SearchesSnippets, RecommendsPapers, ListsReferences,
    ListsCitingPapers, ResolvesIdentifiers and LocatesPdfs."""

    remote: SourceFetcher
    name: ClassVar[str] = SOURCE

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Search by relevance, for at most 1,000 results."""
        # Semantic Scholar finds no matches for hyphenated words.
        words = strip_to_words(query).replace("-", " ")
        records, offset, max_papers = list[SemanticScholarPaper](), 0, min(limit, _MAX_OFFSET)
        while words and len(records) < max_papers:
            size = min(_PAGE_PAPERS, max_papers - len(records), _MAX_OFFSET - offset)
            page_params = (("offset", str(offset)), ("limit", str(size)))
            params = (("query", words), ("fields", FIELDS), *page_params, *_build_date_params(window))
            page = await self._get("search", f"{_GRAPH}/paper/search", params, SearchPage, context) or SearchPage()
            records += page.data
            if page.next is None or page.next <= offset or page.next >= _MAX_OFFSET:
                break
            offset = page.next
        return _parse_papers(records, window)[:max_papers]

    async def snippets(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Snippet]:
        """Search snippets with two requests: one for the snippets, one for the records of their papers and of the
        papers that these cite."""
        words = strip_to_words(query)
        if not words:
            return []
        params = (("query", words), ("limit", str(min(limit, _MAX_SNIPPETS))), *_build_date_params(window))
        page = await self._get("snippets", f"{_GRAPH}/snippet/search", params, SnippetPage, context)
        matches = page.data if page else ()
        corpus_ids = dict.fromkeys(
            number for match in matches for number in (match.paper.corpus_id, *match.cited) if number
        )
        records = await self._fetch_batch([f"CorpusId:{number}" for number in corpus_ids], "snippets", context)
        records_by_number = {number: record for number, record in zip(corpus_ids, records, strict=True) if record}
        snippets = (_parse_snippet(match, records_by_number) for match in matches)
        return keep_within_window(filter(None, snippets), window, lambda snippet: snippet.paper.publication_date)

    async def recommend(self, papers: Sequence[Identifiers], limit: int, context: RequestContext) -> list[Paper]:
        names = list(dict.fromkeys(name for paper in papers if (name := build_request_id(paper))))
        recommended = await self._recommend(names, limit, context)
        if recommended is None and len(names) > 1:
            known_ids = [record.paper_id for record in await self._fetch_batch(names, "neighbours", context) if record]
            recommended = await self._recommend(known_ids, limit, context)
        recommended_papers = _parse_papers(recommended or ())
        # Semantic Scholar sometimes recommends a paper to itself.
        return [
            paper for paper in recommended_papers if not any(_is_same_paper(paper.identifiers, item) for item in papers)
        ][:limit]

    async def references(self, paper: Identifiers, limit: int, context: RequestContext) -> list[Paper]:
        """Return the references, except those that Semantic Scholar could not match to a paper."""
        name, papers, offset = build_request_id(paper), list[Paper](), 0
        while name and len(papers) < limit and offset < _MAX_REFERENCE_OFFSET:
            size = min(_REFERENCES_PAGE, _MAX_REFERENCE_OFFSET - offset)
            params = (("fields", FIELDS), ("offset", str(offset)), ("limit", str(size)))
            path = f"{_GRAPH}/paper/{encode_path_segment(name, ':')}/references"
            page = await self._get("references", path, params, ReferencePage, context)
            papers += _parse_papers(datum.paper for datum in page.data) if page else ()
            if page is None or page.next is None or page.next <= offset:
                break
            offset = page.next
        return papers[:limit]

    async def citing(self, paper: Identifiers, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Return citing papers among the first few thousand listed, because the API cannot filter this list by date."""
        name, papers, offset = build_request_id(paper), list[Paper](), 0
        for _ in range(_MAX_CITING_PAGES if name else 0):
            params = (("fields", FIELDS), ("offset", str(offset)), ("limit", str(_REFERENCES_PAGE)))
            path = f"{_GRAPH}/paper/{encode_path_segment(name, ':')}/citations"
            page = await self._get("citations", path, params, CitingPage, context)
            papers += _parse_papers((datum.paper for datum in page.data), window) if page else ()
            if page is None or page.next is None or page.next <= offset or len(papers) >= limit:
                break
            offset = page.next
        return papers[:limit]

    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        records_by_paper = await self._fetch_records(papers, "papers", context)
        return [parse_paper(records_by_paper[paper]) if paper in records_by_paper else None for paper in papers]

    async def pdf_urls(self, paper: Identifiers, context: RequestContext) -> tuple[str, ...]:
        record = (await self._fetch_records([paper], "open_access", context)).get(paper)
        parsed_paper = parse_paper(record) if record else None
        return parsed_paper.pdf_urls if parsed_paper else ()

    async def _fetch_records(
        self, papers: Sequence[Identifiers], operation: Operation, context: RequestContext
    ) -> dict[Identifiers, SemanticScholarPaper]:
        request_ids = {paper: name for paper in papers if (name := build_request_id(paper))}
        names = list(dict.fromkeys(request_ids.values()))
        records_by_name = dict(zip(names, await self._fetch_batch(names, operation, context), strict=True))
        return {paper: record for paper, name in request_ids.items() if (record := records_by_name[name])}

    async def _fetch_batch(
        self, names: Sequence[str], operation: Operation, context: RequestContext
    ) -> list[SemanticScholarPaper | None]:
        """Return one record per name, in order; None for an unknown name."""
        records = list[SemanticScholarPaper | None]()
        for start in range(0, len(names), _BATCH_IDS - 1):
            batch = names[start : start + _BATCH_IDS - 1]
            body = json.dumps({"ids": [*batch, _ALWAYS_KNOWN]})
            request = SourceRequest(SOURCE, operation, f"{_GRAPH}/paper/batch", (("fields", FIELDS),), body)
            answer = await fetch_parsed(self.remote, request, context, partial(_read_batch, size=len(batch) + 1))
            records += answer[:-1]
        return records

    async def _recommend(
        self, names: Sequence[str], limit: int, context: RequestContext
    ) -> Sequence[SemanticScholarPaper] | None:
        """Return recommended papers; None if any of the names is unknown.

        For a single paper, all of computer science is searched, because the other pool holds only recent papers. If
        that yields nothing, or for several papers, Semantic Scholar chooses the pool."""
        if not names:
            return None
        params = (("limit", str(min(limit + len(names), _MAX_RECOMMENDED))), ("fields", FIELDS))
        if len(names) == 1:
            path = f"{_RECOMMENDATIONS}/papers/forpaper/{encode_path_segment(names[0], ':')}"
            single_paper_list = await self._get(
                "neighbours", path, (*params, ("from", "all-cs")), RecommendedPapers, context
            )
            if single_paper_list is None or single_paper_list.papers:
                return single_paper_list.papers if single_paper_list else None
        body = json.dumps({"positivePaperIds": names})
        request = SourceRequest(SOURCE, "neighbours", f"{_RECOMMENDATIONS}/papers/", params, body)
        all_papers_list = await fetch_json(self.remote, request, context, RecommendedPapers)
        return all_papers_list.papers if all_papers_list else None

    async def _get(
        self, operation: Operation, path: str, params: Params, model: type[S], context: RequestContext
    ) -> S | None:
        """Return the parsed response, or None if Semantic Scholar does not know the requested item."""
        return await fetch_json(self.remote, SourceRequest(SOURCE, operation, path, params), context, model)


def _read_batch(response: SourceResponse, size: int) -> tuple[SemanticScholarPaper | None, ...]:
    records = parse_json(response, PaperBatch, SOURCE).root
    if len(records) != size:
        raise build_malformed_error(
            SOURCE,
            f"{SOURCE} returned {len(records)} records for a batch of {size} ids.",
            "Try again later. If the error persists, the API may have changed: update assayer or report the error.",
        )
    return records


def _build_date_params(window: Window) -> Params:
    if window == OPEN:
        return ()
    return (("publicationDateOrYear", f"{window.after or ''}:{window.before or ''}"),)


def _parse_papers(records: Iterable[SemanticScholarPaper], window: Window = OPEN) -> list[Paper]:
    """Return the papers in order, without duplicates."""
    papers = {paper.id: paper for paper in papers_within(filter(None, map(parse_paper, records)), window)}
    return list(papers.values())


def _is_same_paper(identifiers: Identifiers, other: Identifiers) -> bool:
    pairs = (
        (identifiers.s2, other.s2),
        (identifiers.doi, other.doi),
        (identifiers.arxiv, other.arxiv),
        (identifiers.acl, other.acl),
    )
    return any(left and left == right for left, right in pairs)


def _parse_snippet(match: SnippetMatch, records_by_number: Mapping[str, SemanticScholarPaper]) -> Snippet | None:
    """Convert a match to a snippet, or return None if its paper's record is missing or it has no text."""
    record, text = records_by_number.get(match.paper.corpus_id), clean_prose(match.snippet.text)
    paper = parse_paper(record) if record else None
    if paper is None or not text:
        return None
    cited = (parse_identifiers(records_by_number[number]) for number in match.cited if number in records_by_number)
    return Snippet(paper, get_snippet_section(match), text, tuple(item for item in cited if item != Identifiers()))
