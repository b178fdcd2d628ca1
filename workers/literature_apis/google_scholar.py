"""Google Scholar through a Serper-style search API (`POST google.serper.dev/scholar`): word search for papers.

A page has ten results, each with title, link, a snippet of the text, year, citation count, and a line with authors,
venue and publisher: `J Devlin, MW Chang - Proceedings of …, 2019 - aclanthology.org`. Long parts of the line are
truncated with an ellipsis. Only years are known, so a paper counts as published on the last day of its year."""

import json
import re
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from assayer.cutoff import papers_within
from assayer.models import Paper, Window
from workers.literature_apis.query_encoding import strip_to_words
from workers.literature_apis.record_fields import (
    ApiObject,
    CountOrNone,
    TextOrEmpty,
    ValidEntries,
    check_link,
    clean_line,
    clean_title,
    compute_last_day,
    make_paper_id,
)
from workers.outbound.source_requests import RequestContext, SourceFetcher, SourceRequest, fetch_json

_PAGE_RESULTS = 10
_MAX_QUERY_CHARS = 250
_DASH = re.compile(r"\s[-–]\s")
_YEAR_AT_END = re.compile(r",?\s*\b(?:19|20)\d\d$")


class _Organic(ApiObject):
    id: TextOrEmpty = ""
    title: str
    link: TextOrEmpty = ""
    snippet: TextOrEmpty = ""
    publication: TextOrEmpty = Field(default="", alias="publicationInfo")
    year: CountOrNone = None
    cited: CountOrNone = Field(default=None, alias="citedBy")


class _Answer(ApiObject):
    organic: ValidEntries[_Organic]
    """Search results. A response without this field is not a search response."""


@dataclass(frozen=True)
class GoogleScholar:
    """Client for a Google Scholar search API. Implements SearchesPapers."""

    remote: SourceFetcher
    name: ClassVar[str] = "google_scholar"

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        words, papers = strip_to_words(query, _MAX_QUERY_CHARS), list[Paper]()
        for page in range(1, -(-limit // _PAGE_RESULTS) + 1) if words else ():
            organic = await fetch_json(self.remote, _build_request(words, page, window), context, _Answer)
            entries = organic.organic if organic else ()
            papers += filter(None, map(_parse_paper, entries))
            if len(entries) < _PAGE_RESULTS:
                break
        return papers_within(papers, window)[:limit]


def _build_request(words: str, page: int, window: Window) -> SourceRequest:
    body: dict[str, str | int] = {"q": words, "hl": "en", "page": page}
    if window.after:
        body["as_ylo"] = window.after.year
    if window.before:
        body["as_yhi"] = window.before.year
    return SourceRequest(GoogleScholar.name, "search", "scholar", body=json.dumps(body))


def _parse_paper(entry: _Organic) -> Paper | None:
    """Convert a record to a paper, or return None if it has no title or URL."""
    title, url = clean_title(entry.title), check_link(entry.link)
    if not title or not url:
        return None
    authors, venue = _split_authors_and_venue(clean_line(entry.publication))
    return Paper(
        id=make_paper_id("scholar", entry.id or url),
        title=title,
        abstract=clean_line(entry.snippet),
        authors=authors,
        publication_date=compute_last_day(entry.year) if entry.year else None,
        venue=venue,
        url=url,
        citation_count=entry.cited,
        source=GoogleScholar.name,
    )


def _split_authors_and_venue(line: str) -> tuple[tuple[str, ...], str]:
    """Return authors and venue, without names that are truncated."""
    parts = _DASH.split(line)
    names = (name.strip() for name in parts[0].split(","))
    venue = _YEAR_AT_END.sub("", parts[1]).strip() if len(parts) > 2 else ""
    return tuple(name for name in names if name and "…" not in name), "" if "…" in venue else venue
