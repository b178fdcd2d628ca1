"""Works of the OpenAlex snapshot, and the rows that they become."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assayer.identity import doi, identifiers_in, with_arxiv
from assayer.models import Identifiers
from index.ingest.fields import IdentifierRow, count, day, entries, link, text
from index.ingest.record_rows import RecordRow

__all__ = ["abstract_of", "merged_ids", "paper_id", "work_row"]

_WORK = re.compile(r"(?:https://openalex\.org/)?(W\d{1,12})", re.IGNORECASE)
_DIGITS = re.compile(r"(?:PMC)?(\d{1,10})", re.IGNORECASE)
_MOST_WORDS = 100_000


def paper_id(work: str) -> str:
    """The id under which our OpenAlex source knows the work."""
    return f"openalex:{work}"


def work_row(data: Mapping[str, Any]) -> RecordRow | str:
    work = _work(data.get("id"))
    if not work:
        return "id is missing"
    if data.get("is_xpac") is True:
        return "belongs to the expansion pack (is_xpac)"
    title = text(data.get("title")) or text(data.get("display_name"))
    abstract = abstract_of(data.get("abstract_inverted_index"))
    if not title.strip() or not abstract:
        return "title is missing" if not title.strip() else "abstract is missing"
    home = _object(data.get("primary_location"))
    return RecordRow(
        paper_id(work),
        title,
        abstract,
        _authors(data.get("authorships")),
        day(_precise(text(data.get("publication_date"))), data.get("publication_year")),
        text(_object(home.get("source")).get("display_name")),
        link(home.get("landing_page_url")) or link(data.get("doi")) or link(data.get("id")),
        count(data.get("cited_by_count")),
        _identifiers(data, work),
        [paper_id(cited) for one in entries(data.get("referenced_works")) if (cited := _work(one))] or None,
        _fields(data),
        data.get("is_retracted") is True,
    )


def abstract_of(positions: Any) -> str:
    """The words in the order of their positions; empty when there are none."""
    placed = [
        (place, word)
        for word, places in (positions.items() if isinstance(positions, dict) else ())
        for place in entries(places)
        if type(place) is int and 0 <= place < _MOST_WORDS
    ]
    return " ".join(word for _, word in sorted(placed))


def merged_ids(lines: Iterable[str]) -> Iterator[str]:
    """Of the works that are another's now: `merge_date,id,merge_into_id`, as the legacy snapshot lists them. Raises
    csv.Error."""
    for row in csv.DictReader(lines):
        if work := _work(row.get("id")):
            yield paper_id(work)


def _work(value: Any) -> str:
    match = _WORK.fullmatch(text(value).strip())
    return match[1].upper() if match else ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _authors(value: Any) -> list[str]:
    shown = (
        text(_object(one.get("author")).get("display_name")) or text(one.get("raw_author_name"))
        for one in entries(value)
        if isinstance(one, dict)
    )
    return [name for name in shown if name]


def _precise(date: str) -> str:
    """OpenAlex writes 1 for a month or day that nobody told it."""
    if date.endswith("-01-01"):
        return date[:4]
    return date[:7] if date.endswith("-01") else date


def _fields(data: Mapping[str, Any]) -> list[str]:
    topics = (_object(_object(one).get("field")).get("display_name") for one in entries(data.get("topics")))
    return list(dict.fromkeys(name for topic in topics if (name := text(topic))))


def _identifiers(data: Mapping[str, Any], work: str) -> IdentifierRow:
    places = [_object(data.get("primary_location")), _object(data.get("best_oa_location"))]
    places += [_object(one) for one in entries(data.get("locations"))]
    addresses = (link(place.get(name)) for place in places for name in ("landing_page_url", "pdf_url"))
    found = [identifiers_in(address) for address in dict.fromkeys(addresses) if address]
    ids = _object(data.get("ids"))
    pmc = _number(ids.get("pmcid"))
    known = with_arxiv(
        Identifiers(
            doi=doi(text(data.get("doi"))),
            arxiv=next((one.arxiv for one in found if one.arxiv), ""),
            openalex=work,
            pubmed=_number(ids.get("pmid")),
            pmc=f"PMC{pmc}" if pmc else next((one.pmc for one in found if one.pmc), ""),
            acl=next((one.acl for one in found if one.acl), ""),
            openreview=next((one.openreview for one in found if one.openreview), ""),
        )
    )
    return IdentifierRow(**known.model_dump())


def _number(value: Any) -> str:
    match = _DIGITS.fullmatch(text(value).rstrip("/").rsplit("/", 1)[-1])
    return match[1] if match else ""
