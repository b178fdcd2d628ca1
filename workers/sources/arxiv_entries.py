"""arXiv's Atom feeds: what is read of their entries and the papers they become."""

from dataclasses import dataclass
from typing import NamedTuple

from lxml import etree

from assayer.errors import SourceRefused
from assayer.identity import arxiv_id, doi
from assayer.models import Identifiers, Paper, Retraction
from assayer.withdrawals import says_withdrawn
from workers.remote.metrics import PARSE_FAILURES
from workers.sources.feeds import parse_feed
from workers.sources.fields import first_links, line, link, paper_id, prose, read_date
from workers.sources.malformed import malformed

__all__ = ["SOURCE", "Page", "read_page"]

SOURCE = "arxiv"

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_MOST_DIGITS = 9
_ERRORS = "/api/errors"
_EXCUSE = 200
"""Characters of its own words in an error."""


class Page(NamedTuple):
    papers: tuple[Paper, ...]
    total: int
    """Of the whole result, as arXiv says."""


def read_page(body: bytes, start: int) -> Page:
    """The page that begins with result number `start`. Raises SourceMalformed, also when it is empty though it should
    not be; SourceRefused with arXiv's words when the feed is its error message."""
    root = parse_feed(body, SOURCE)
    if root.tag != f"{_ATOM}feed":
        raise malformed(SOURCE, f"The answer of {SOURCE} is not an Atom feed.", "Check that its base URL is the API's.")
    entries = [_Entry(node) for node in root.iterchildren(f"{_ATOM}entry")]
    _raise_error(entries)
    papers = [_paper(entry) for entry in entries]
    PARSE_FAILURES.labels(SOURCE, "record").inc(sum(paper is None for paper in papers))
    total = _number(root.findtext(f"{_SEARCH}totalResults") or "")
    if not entries and total > start:
        raise malformed(
            SOURCE,
            f"{SOURCE} announced {total:,} results and sent none of those from {start:,} on.",
            "It does so now and then; later it answers.",
        )
    return Page(tuple(paper for paper in papers if paper), total)


def _number(text: str) -> int:
    """0 for what is none."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else 0


@dataclass(frozen=True)
class _Entry:
    node: etree._Element

    def text(self, name: str) -> str:
        return self.node.findtext(name) or ""

    def address(self, title: str | None, relation: str) -> str:
        links = self.node.iterchildren(f"{_ATOM}link")
        found = (one.get("href", "") for one in links if one.get("title") == title and one.get("rel") == relation)
        return next(found, "")


def _raise_error(entries: list[_Entry]) -> None:
    if len(entries) == 1 and _ERRORS in entries[0].text(f"{_ATOM}id"):
        words = line(entries[0].text(f"{_ATOM}summary"))[:_EXCUSE]
        raise SourceRefused(f"{SOURCE} refused the request: {words}", "This query cannot be used; others can.")


def _paper(entry: _Entry) -> Paper | None:
    """None for an entry without id or title."""
    name, title = arxiv_id(entry.text(f"{_ATOM}id").strip()), line(entry.text(f"{_ATOM}title"))
    if not name or not title:
        return None
    authors = (line(author.findtext(f"{_ATOM}name") or "") for author in entry.node.iterchildren(f"{_ATOM}author"))
    return Paper(
        id=paper_id("arxiv", name),
        title=title,
        # Its lines are wrapped.
        abstract=line(entry.text(f"{_ATOM}summary")),
        authors=tuple(author for author in authors if author),
        publication_date=read_date(entry.text(f"{_ATOM}published")),
        venue=line(entry.text(f"{_ARXIV}journal_ref")),
        url=link(entry.address(None, "alternate")),
        source=SOURCE,
        identifiers=Identifiers(arxiv=name, doi=doi(entry.text(f"{_ARXIV}doi"))),
        retraction=_withdrawal(entry),
        pdf_urls=first_links(entry.address("pdf", "related")),
    )


def _withdrawal(entry: _Entry) -> Retraction | None:
    comment, abstract = prose(entry.text(f"{_ARXIV}comment")), prose(entry.text(f"{_ATOM}summary"))
    if not says_withdrawn(comment, abstract):
        return None
    date = read_date(entry.text(f"{_ATOM}updated"))
    return Retraction(kind="withdrawn", source=SOURCE, notice=link(entry.address(None, "alternate")), date=date)
