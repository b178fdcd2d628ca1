"""Lines of Semantic Scholar's datasets, and the rows that they become."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic_core import from_json

from assayer.identity import arxiv_id, doi
from index.ingest.fields import IdentifierRow, count, day, link, named, text
from index.ingest.s2_sections import Section, sections_of
from index.reading.record_files import RECORDS_SCHEMA
from index.reading.vectors import numbers_of

__all__ = [
    "ABSTRACTS",
    "CITATIONS",
    "EMBEDDINGS",
    "PAPERS",
    "SECTIONS",
    "abstract_row",
    "citation_row",
    "embedding_row",
    "paper_id",
    "paper_row",
    "sections_row",
]

_KEY = pa.field("key", pa.int64())
_AS_RECORDS = ("title", "authors", "publication_date", "venue", "url", "citation_count", "identifiers", "fields")
PAPERS = pa.schema([_KEY, *(RECORDS_SCHEMA.field(name) for name in _AS_RECORDS)])
ABSTRACTS = pa.schema([_KEY, pa.field("abstract", pa.string())])
CITATIONS = pa.schema([_KEY, pa.field("citation", pa.int64()), pa.field("cited", pa.int64())])
SECTIONS = pa.schema([_KEY, RECORDS_SCHEMA.field("sections")])
EMBEDDINGS = pa.schema([_KEY, RECORDS_SCHEMA.field("vector")])

_SHA = re.compile(r"[0-9a-f]{40}")
_MOST = 2**62
_NO_KEY = "corpusid is missing"


class PaperRow(NamedTuple):
    key: int
    title: str
    authors: list[str]
    publication_date: Any
    venue: str
    url: str
    citation_count: int | None
    identifiers: IdentifierRow
    fields: list[str]


class AbstractRow(NamedTuple):
    key: int
    abstract: str


class CitationRow(NamedTuple):
    key: int | None
    """Who cites; None in a deletion that only names the citation."""
    citation: int | None
    cited: int | None


class SectionsRow(NamedTuple):
    key: int
    sections: list[Section]


class EmbeddingRow(NamedTuple):
    key: int
    vector: NDArray[np.float32] | None


def paper_id(key: int) -> str:
    """As Semantic Scholar itself writes it in requests; citations know papers by no other name. What its API returns
    is recognised by the identifiers, among them the 40 digits in the address of the paper's page."""
    return f"CorpusId:{key}"


def paper_row(data: Mapping[str, Any]) -> PaperRow | str:
    key = _key(data.get("corpusid"))
    if key is None:
        return _NO_KEY
    home = link(data.get("url"))
    return PaperRow(
        key,
        text(data.get("title")),
        named(data.get("authors"), "name"),
        day(data.get("publicationdate"), data.get("year")),
        text(data.get("venue")),
        home,
        count(data.get("citationcount")),
        _identifiers(data.get("externalids"), home),
        named(data.get("s2fieldsofstudy"), "category"),
    )


def abstract_row(data: Mapping[str, Any]) -> AbstractRow | str:
    key = _key(data.get("corpusid"))
    return _NO_KEY if key is None else AbstractRow(key, text(data.get("abstract")))


def citation_row(data: Mapping[str, Any]) -> CitationRow | str:
    """A deletion may name the citation alone."""
    citing, cited, citation = (_key(data.get(name)) for name in ("citingcorpusid", "citedcorpusid", "citationid"))
    if citation is None and (citing is None or cited is None):
        return "citingcorpusid or citedcorpusid is missing"
    return CitationRow(citing, citation, cited)


def sections_row(data: Mapping[str, Any]) -> SectionsRow | str:
    key = _key(data.get("corpusid"))
    if key is None:
        return _NO_KEY
    found = sections_of(data)
    return found if isinstance(found, str) else SectionsRow(key, found)


def embedding_row(data: Mapping[str, Any]) -> EmbeddingRow | str:
    """Written as a text in the files of 2022 to 2026, as a list in its documentation."""
    key = _key(data.get("corpusid"))
    if key is None:
        return _NO_KEY
    given = data.get("vector")
    if given is None:
        return EmbeddingRow(key, None)
    try:
        vector = numbers_of(from_json(given) if isinstance(given, str) else given)
    except ValueError:
        vector = None
    if vector is None:
        return "vector is not a list of numbers"
    if not len(vector) or not np.isfinite(vector).all():
        return "vector is empty or not finite"
    return EmbeddingRow(key, vector)


def _key(value: Any) -> int | None:
    """Numbers come as texts in places."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        value = int(value)
    return value if type(value) is int and 0 <= value < _MOST else None


def _identifiers(given: Any, home: str) -> IdentifierRow:
    ids = given if isinstance(given, dict) else {}
    sha = home.rstrip("/").rsplit("/", 1)[-1]
    pmc = text(ids.get("PubMedCentral")).removeprefix("PMC")
    return IdentifierRow(
        doi=doi(text(ids.get("DOI"))),
        arxiv=arxiv_id(text(ids.get("ArXiv"))),
        s2=sha if _SHA.fullmatch(sha) else "",
        pubmed=text(ids.get("PubMed")),
        pmc=f"PMC{pmc}" if pmc else "",
        acl=text(ids.get("ACL")),
    )
