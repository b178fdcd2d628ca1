"""arXiv (`https://export.arxiv.org`): its query API, an Atom feed.

One request every three seconds over one connection, so ids are asked for 200 at a time. Errors come as feeds with
one entry, and pages are empty now and then although there are results.
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assayer.identity import arxiv_id, with_arxiv
from assayer.models import Identifiers, Operation, Paper, Retraction
from workers.remote.call import Ask, Call, Remote
from workers.sources.arxiv_entries import SOURCE, Page, read_page
from workers.sources.asking import ask_for
from workers.sources.fields import in_window
from workers.sources.source import Window

__all__ = ["Arxiv", "search_query"]

_PAGE = 200
_DEEPEST = 2_000
_MOST_WORDS = 24
_WORD = re.compile(r"[a-z0-9]{2,}")
_FIRST, _LAST = dt.date(1991, 1, 1), dt.date(2999, 12, 31)
_COMMON = """
    a about against all also among an and any are as at based be been between both but by can could do does each for
    from had has have how if in into is it its may more most new no not of on onto or our over should such than that
    the their them then there these they this those through to toward towards under up use used using via was we
    were what when where whether which while who why will with within without would you your"""
_COMMON_WORDS = frozenset(_COMMON.split())


def search_query(text: str, window: Window) -> str:
    """In arXiv's query language; empty when the text holds no telling word.

    Any of the words may occur, the more the better. Only letters and digits of the text remain, in lower case, so
    nothing in it acts as an operator (AND, OR, ANDNOT), field, quote, bracket or wildcard.
    """
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss")).encode("ascii", "ignore").decode().lower()
    words = [word for word in dict.fromkeys(_WORD.findall(plain)) if word not in _COMMON_WORDS]
    if not words:
        return ""
    wanted = " OR ".join(f"all:{word}" for word in words[:_MOST_WORDS])
    if window == Window():
        return wanted
    first, last = window.after or _FIRST, window.before or _LAST
    return f"({wanted}) AND submittedDate:[{first:%Y%m%d}0000 TO {last:%Y%m%d}2359]"


@dataclass(frozen=True)
class Arxiv:
    """Implements Searches, Resolves, Retracts and LocatesPdfs. Papers are dated by their first version."""

    remote: Remote
    name: ClassVar[str] = SOURCE

    async def search(self, query: str, limit: int, window: Window, ask: Ask) -> list[Paper]:
        """By title, abstract, authors and comments; at most 2,000."""
        asked, found, start, wanted = search_query(query, window), list[Paper](), 0, min(limit, _DEEPEST)
        while asked and start < wanted:
            size = min(_PAGE, wanted - start)
            params = (("search_query", asked), ("sortBy", "relevance"), ("sortOrder", "descending"))
            page = await self._page(params, start, size, "search", ask)
            found += page.papers
            start += size
            if start >= page.total:
                break
        return [paper for paper in found if in_window(paper, window)]

    async def resolve(self, papers: Sequence[Identifiers], ask: Ask) -> list[Paper | None]:
        found = await self._papers(papers, "papers", ask)
        return [found.get(_name(paper)) for paper in papers]

    async def retractions(self, papers: Sequence[Identifiers], ask: Ask) -> Mapping[Identifiers, Retraction]:
        found = await self._papers(papers, "papers", ask)
        known = ((paper, found.get(_name(paper))) for paper in papers)
        return {paper: record.retraction for paper, record in known if record and record.retraction}

    async def pdf_urls(self, paper: Identifiers, ask: Ask) -> tuple[str, ...]:
        found = (await self._papers([paper], "open_access", ask)).get(_name(paper))
        return found.pdf_urls if found else ()

    async def _papers(self, papers: Sequence[Identifiers], operation: Operation, ask: Ask) -> dict[str, Paper]:
        """By arXiv id, without the unknown ones."""
        names, found = list(dict.fromkeys(name for paper in papers if (name := _name(paper)))), dict[str, Paper]()
        for start in range(0, len(names), _PAGE):
            asked = names[start : start + _PAGE]
            page = await self._page((("id_list", ",".join(asked)),), 0, len(asked), operation, ask)
            found |= {paper.identifiers.arxiv: paper for paper in page.papers}
        return found

    async def _page(
        self, params: tuple[tuple[str, str], ...], start: int, size: int, operation: Operation, ask: Ask
    ) -> Page:
        paging = (("start", str(start)), ("max_results", str(size)))
        call = Call(SOURCE, operation, "api/query", (*params, *paging))
        return await ask_for(self.remote, call, ask, lambda reply: read_page(reply.body, start))


def _name(paper: Identifiers) -> str:
    """Empty when it is not on arXiv. One malformed id spoils a whole list."""
    name = arxiv_id(with_arxiv(paper).arxiv)
    return name if name.isascii() else ""
