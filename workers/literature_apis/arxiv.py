"""arXiv (`https://export.arxiv.org`): query its API, which returns Atom feeds, and convert feed entries to papers.

arXiv allows one request every three seconds over one connection, so ids are requested 200 at a time. It reports errors
as feeds with one entry, and occasionally returns an empty page although there are results."""

import datetime as dt
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from lxml import etree

from assayer.cutoff import papers_within
from assayer.errors import SourceRefused
from assayer.literature.paper_identity import add_arxiv_id, find_doi, parse_arxiv_id
from assayer.literature.withdrawals import says_withdrawn
from assayer.models import OPEN, Identifiers, Operation, Paper, PreprintVersions, Retraction, Window
from workers.literature_apis.record_fields import (
    check_link,
    clean_line,
    clean_prose,
    clean_title,
    list_distinct_links,
    make_paper_id,
    parse_date,
)
from workers.outbound.metrics import PARSE_FAILURES
from workers.outbound.source_requests import (
    RequestContext,
    SourceFetcher,
    SourceRequest,
    build_malformed_error,
    fetch_parsed,
)

_PAGE_PAPERS = 200
_MAX_OFFSET = 2_000
_MAX_WORDS = 24
_WORD = re.compile(r"[a-z0-9]{2,}")
_FIRST_DAY, _LAST_DAY = dt.date(1991, 1, 1), dt.date(2999, 12, 31)
_STOP_WORD_LIST = """
    a about against all also among an and any are as at based be been between both but by can could do does each for
    from had has have how if in into is it its may more most new no not of on onto or our over should such than that
    the their them then there these they this those through to toward towards under up use used using via was we
    were what when where whether which while who why will with within without would you your"""
_STOP_WORDS = frozenset(_STOP_WORD_LIST.split())


def build_search_query(text: str, window: Window) -> str:
    """Convert the text to a query in arXiv's query language; empty if the text contains no significant word.

    Results need not contain all words; more matching words rank higher. Only the text's letters and digits are kept, in
    lower case, so that nothing in it acts as an operator (AND, OR, ANDNOT), field, quote, bracket or wildcard."""
    plain_text = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    words = [word for word in dict.fromkeys(_WORD.findall(plain_text)) if word not in _STOP_WORDS]
    if not words:
        return ""
    word_query = " OR ".join(f"all:{word}" for word in words[:_MAX_WORDS])
    if window == OPEN:
        return word_query
    first_day, last_day = window.after or _FIRST_DAY, window.before or _LAST_DAY
    return f"({word_query}) AND submittedDate:[{first_day:%Y%m%d}0000 TO {last_day:%Y%m%d}2359]"


SOURCE = "arxiv"


class ArxivPage(NamedTuple):
    papers: tuple[Paper, ...]
    total: int
    """Number of papers in the whole result, as reported by arXiv."""


@dataclass(frozen=True)
class Arxiv:
    """Client for arXiv. Implements SearchesPapers, ResolvesIdentifiers, ReportsRetractions and LocatesPdfs. Papers are
    dated by their first version."""

    remote: SourceFetcher
    name: ClassVar[str] = SOURCE

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Search title, abstract, authors and comments, for at most 2,000 results."""
        query_text, papers, start, max_papers = (
            build_search_query(query, window),
            list[Paper](),
            0,
            min(limit, _MAX_OFFSET),
        )
        while query_text and start < max_papers:
            size = min(_PAGE_PAPERS, max_papers - start)
            params = (("search_query", query_text), ("sortBy", "relevance"), ("sortOrder", "descending"))
            page = await self._fetch_page(params, start, size, "search", context)
            papers += page.papers
            start += size
            if start >= page.total:
                break
        return papers_within(papers, window)

    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        papers_by_id = await self._fetch_papers(papers, "papers", context)
        return [papers_by_id.get(_find_arxiv_id(paper)) for paper in papers]

    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        papers_by_id = await self._fetch_papers(papers, "retractions", context)
        papers_with_records = ((paper, papers_by_id.get(_find_arxiv_id(paper))) for paper in papers)
        return {paper: record.retraction for paper, record in papers_with_records if record and record.retraction}

    async def pdf_urls(self, paper: Identifiers, context: RequestContext) -> tuple[str, ...]:
        record = (await self._fetch_papers([paper], "open_access", context)).get(_find_arxiv_id(paper))
        return record.pdf_urls if record else ()

    async def _fetch_papers(
        self, papers: Sequence[Identifiers], operation: Operation, context: RequestContext
    ) -> dict[str, Paper]:
        """Return papers by arXiv id, without unknown ids."""
        arxiv_ids, papers_by_id = (
            list(dict.fromkeys(name for paper in papers if (name := _find_arxiv_id(paper)))),
            dict[str, Paper](),
        )
        for start in range(0, len(arxiv_ids), _PAGE_PAPERS):
            page_ids = arxiv_ids[start : start + _PAGE_PAPERS]
            page = await self._fetch_page((("id_list", ",".join(page_ids)),), 0, len(page_ids), operation, context)
            papers_by_id |= {paper.identifiers.arxiv: paper for paper in page.papers}
        return papers_by_id

    async def _fetch_page(
        self, params: tuple[tuple[str, str], ...], start: int, size: int, operation: Operation, context: RequestContext
    ) -> ArxivPage:
        page_params = (("start", str(start)), ("max_results", str(size)))
        request = SourceRequest(SOURCE, operation, "api/query", (*params, *page_params))
        return await fetch_parsed(self.remote, request, context, lambda response: read_page(response.body, start))


def _find_arxiv_id(paper: Identifiers) -> str:
    """Return the paper's arXiv id; empty if the paper has no valid id, because one malformed id makes a whole request
    fail."""
    name = parse_arxiv_id(add_arxiv_id(paper).arxiv)
    return name if name.isascii() else ""


_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_MAX_DIGITS = 9
_ERROR_PATH = "/api/errors"
_VERSION = re.compile(r"v([1-9]\d{0,3})$", re.ASCII)
_MAX_QUOTED_CHARS = 200
"""Maximum number of characters of arXiv's message that an error quotes."""


def read_page(body: bytes, start: int) -> ArxivPage:
    """Parse the page that begins with result number `start`. Raises SourceMalformed if it is malformed or unexpectedly
    empty, and SourceRefused with arXiv's message if the feed reports an error."""
    root = _parse_xml(body)
    if root.tag != f"{_ATOM}feed":
        raise build_malformed_error(
            SOURCE, f"The response from {SOURCE} is not an Atom feed.", "Check that its base URL is that of the API."
        )
    entries = [_Entry(node) for node in root.iterchildren(f"{_ATOM}entry")]
    _raise_error(entries)
    papers = [_parse_paper(entry) for entry in entries]
    PARSE_FAILURES.labels(SOURCE, "record").inc(sum(paper is None for paper in papers))
    total = _parse_number(root.findtext(f"{_SEARCH}totalResults") or "")
    if not entries and total > start:
        raise build_malformed_error(
            SOURCE,
            f"{SOURCE} reported {total:,} results, but none of those after result {start:,}.",
            "This happens occasionally; try again later.",
        )
    return ArxivPage(tuple(paper for paper in papers if paper), total)


MAX_XML_BYTES = 16 * 2**20
_BASE_URL_HINT = "Check its base URL. If that is correct, the API may have changed: update assayer or report the error."


def _parse_xml(body: bytes) -> etree._Element:
    """Parse XML without DTD, entities or network access, and return the root element. Raises SourceMalformed if it is
    not well-formed or has a DTD."""
    if len(body) > MAX_XML_BYTES:
        raise build_malformed_error(
            SOURCE,
            f"The response from {SOURCE} is too large: {len(body):,} bytes.",
            f"The maximum is {MAX_XML_BYTES:,} bytes.",
        )
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        # The parser's message quotes the document.
        raise build_malformed_error(
            SOURCE,
            f"The response from {SOURCE} is not XML: {clean_line(str(error))[:_MAX_QUOTED_CHARS]}.",
            _BASE_URL_HINT,
        ) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise build_malformed_error(
            SOURCE, f"The response from {SOURCE} has a document type declaration, so it is not a feed.", _BASE_URL_HINT
        )
    return root


def _parse_number(text: str) -> int:
    """Return the number, or 0 if the text is not a number."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else 0


@dataclass(frozen=True)
class _Entry:
    node: etree._Element

    def get_text(self, name: str) -> str:
        return self.node.findtext(name) or ""

    def find_link(self, title: str | None, relation: str) -> str:
        links = self.node.iterchildren(f"{_ATOM}link")
        urls = (link.get("href", "") for link in links if link.get("title") == title and link.get("rel") == relation)
        return next(urls, "")


def _raise_error(entries: list[_Entry]) -> None:
    if len(entries) == 1 and _ERROR_PATH in entries[0].get_text(f"{_ATOM}id"):
        words = clean_line(entries[0].get_text(f"{_ATOM}summary"))[:_MAX_QUOTED_CHARS]
        raise SourceRefused(f"{SOURCE} refused the request: {words}", "Change the query; other queries still work.")


def _parse_paper(entry: _Entry) -> Paper | None:
    """Convert an entry to a paper, or return None if it has no id or title."""
    address = entry.get_text(f"{_ATOM}id").strip()
    name, title = parse_arxiv_id(address), clean_title(entry.get_text(f"{_ATOM}title"))
    if not name or not title:
        return None
    authors = (
        clean_line(author.findtext(f"{_ATOM}name") or "") for author in entry.node.iterchildren(f"{_ATOM}author")
    )
    return Paper(
        id=make_paper_id("arxiv", name),
        title=title,
        # Lines in the feed are wrapped.
        abstract=clean_line(entry.get_text(f"{_ATOM}summary")),
        authors=tuple(author for author in authors if author),
        publication_date=parse_date(entry.get_text(f"{_ATOM}published")),
        venue=clean_line(entry.get_text(f"{_ARXIV}journal_ref")),
        url=check_link(entry.find_link(None, "alternate")),
        source=SOURCE,
        identifiers=Identifiers(arxiv=name, doi=find_doi(entry.get_text(f"{_ARXIV}doi"))),
        retraction=_parse_withdrawal(entry),
        versions=_parse_versions(entry, address),
        pdf_urls=list_distinct_links(entry.find_link("pdf", "related")),
    )


def _parse_versions(entry: _Entry, address: str) -> PreprintVersions | None:
    """Return a preprint's versions: the id ends in the newest version's number, and `updated` is its date. None if the
    entry lacks one of these."""
    first_day, newest_day = (parse_date(entry.get_text(f"{_ATOM}{name}")) for name in ("published", "updated"))
    match = _VERSION.search(address)
    if match is None or first_day is None or newest_day is None:
        return None
    return PreprintVersions(first=first_day, newest=int(match[1]), newest_day=newest_day)


def _parse_withdrawal(entry: _Entry) -> Retraction | None:
    comment, abstract = clean_prose(entry.get_text(f"{_ARXIV}comment")), clean_prose(entry.get_text(f"{_ATOM}summary"))
    if not says_withdrawn(comment, abstract):
        return None
    date = parse_date(entry.get_text(f"{_ATOM}updated"))
    return Retraction(kind="withdrawn", source=SOURCE, notice=check_link(entry.find_link(None, "alternate")), date=date)
