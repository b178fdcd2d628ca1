"""OpenAlex's work objects: what is read of them and the papers they become."""

import datetime as dt
import re
from collections.abc import Mapping

from pydantic import Field

from assayer.identity import doi, identifiers_in, with_arxiv
from assayer.models import Identifiers, Paper, Retraction
from workers.sources.answers import Count, Entries, Maybe, Shape, Text, Truth
from workers.sources.fields import first_links, last_day, line, link, paper_id, prose, read_date

__all__ = ["FIELDS", "SOURCE", "Work", "Works", "abstract_of", "identifiers_of", "paper_of", "pdf_urls_of", "work_id"]

SOURCE = "openalex"
FIELDS = (
    "id,doi,ids,display_name,publication_date,authorships,primary_location,best_oa_location,locations,"
    "abstract_inverted_index,cited_by_count,is_retracted"
)
"""Of `select`, which knows root fields only."""

_WORK_ID = re.compile(r"(?:https://openalex\.org/)?(W\d{1,12})", re.IGNORECASE)
_DIGITS = re.compile(r"(?:PMC)?(\d{1,10})", re.IGNORECASE)


class _Named(Shape):
    display_name: Text = ""


class _Authorship(Shape):
    author: Maybe[_Named] = None
    raw_author_name: Text = ""


class _Location(Shape):
    is_oa: Truth = False
    landing_page_url: Text = ""
    pdf_url: Text = ""
    source: Maybe[_Named] = None


class _Ids(Shape):
    pmid: Text = ""
    pmcid: Text = ""


class Work(Shape):
    id: str
    doi: Text = ""
    ids: Maybe[_Ids] = None
    display_name: Text = ""
    publication_date: Text = ""
    authorships: Entries[_Authorship] = ()
    primary_location: Maybe[_Location] = None
    best_oa_location: Maybe[_Location] = None
    locations: Entries[_Location] = ()
    abstract_inverted_index: Maybe[dict[str, list[int]]] = None
    cited_by_count: Count = None
    is_retracted: Truth = False
    referenced_works: Entries[str] = ()


class _Meta(Shape):
    count: Count = None


class Works(Shape):
    """A page of a list."""

    meta: _Meta = _Meta()
    results: Entries[Work] = Field()


def work_id(text: str) -> str:
    """`W2741809807` of an id or its URL; empty when it is neither."""
    match = _WORK_ID.fullmatch(text.strip())
    return match[1].upper() if match else ""


def abstract_of(positions: Mapping[str, list[int]]) -> str:
    """The words in the order of their positions."""
    placed = sorted((place, word) for word, places in positions.items() for place in places)
    return " ".join(word for _, word in placed)


def _number(url: str) -> str:
    match = _DIGITS.fullmatch(url.rstrip("/").rsplit("/", 1)[-1])
    return match[1] if match else ""


def _day(text: str) -> dt.date | None:
    """OpenAlex writes 1 for a month or day that nobody told it."""
    day = read_date(text)
    if day is None or day.day > 1:
        return day
    return last_day(day.year, None if day.month == 1 else day.month)


def _places(work: Work) -> list[_Location]:
    return [place for place in (work.primary_location, work.best_oa_location, *work.locations) if place]


def identifiers_of(work: Work) -> Identifiers:
    ids = work.ids or _Ids()
    found = [
        identifiers_in(address)
        for place in _places(work)
        for address in first_links(place.landing_page_url, place.pdf_url)
    ]
    pmc = _number(ids.pmcid)
    return with_arxiv(
        Identifiers(
            doi=doi(work.doi) if work.doi.isprintable() else "",
            arxiv=next((one.arxiv for one in found if one.arxiv), ""),
            openalex=work_id(work.id),
            pubmed=_number(ids.pmid),
            pmc=f"PMC{pmc}" if pmc else next((one.pmc for one in found if one.pmc), ""),
            acl=next((one.acl for one in found if one.acl), ""),
            openreview=next((one.openreview for one in found if one.openreview), ""),
        )
    )


def pdf_urls_of(work: Work) -> tuple[str, ...]:
    free = (work.best_oa_location, *(place for place in work.locations if place.is_oa))
    return first_links(*(place.pdf_url for place in free if place))


def paper_of(work: Work) -> Paper | None:
    """None for a record without title or usable id: nobody could cite it."""
    identifiers, title, home = identifiers_of(work), line(work.display_name), work.primary_location
    if not title or not identifiers.openalex:
        return None
    names = (line((one.author and one.author.display_name) or one.raw_author_name) for one in work.authorships)
    return Paper(
        id=paper_id(SOURCE, identifiers.openalex),
        title=title,
        abstract=prose(abstract_of(work.abstract_inverted_index or {})),
        authors=tuple(name for name in names if name),
        publication_date=_day(work.publication_date),
        venue=line(home.source.display_name) if home and home.source else "",
        url=link(home.landing_page_url if home else "") or link(work.doi) or link(work.id),
        citation_count=work.cited_by_count,
        source=SOURCE,
        identifiers=identifiers,
        retraction=Retraction(kind="retracted", source=SOURCE) if work.is_retracted else None,
        pdf_urls=pdf_urls_of(work),
    )
