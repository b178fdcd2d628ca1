"""Lines of Semantic Scholar's datasets, full texts of s2orc among them, as rows."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic_core import from_json

from assayer.literature.paper_identity import arxiv_id, doi
from index.ingest.record_rows import IdentifierRow, SectionRow, as_count, as_day, as_link, as_text, names_in
from index.records.paper_record import parse_vector
from index.records.parquet_records import RECORDS_SCHEMA

__all__ = [
    "ABSTRACTS",
    "CITATIONS",
    "EMBEDDINGS",
    "PAPERS",
    "SECTIONS",
    "abstract_row",
    "citation_row",
    "embedding_row",
    "paper_row",
    "s2_paper_id",
    "sections_of",
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
    """The citing paper; None in a deletion that only names the citation."""
    citation: int | None
    cited: int | None


class SectionsRow(NamedTuple):
    key: int
    sections: list[SectionRow]


class EmbeddingRow(NamedTuple):
    key: int
    vector: NDArray[np.float32] | None


def s2_paper_id(key: int) -> str:
    """As Semantic Scholar writes it in requests; citations use no other id. What its API returns is matched by
    identifiers, among them the 40 digits in the address of the paper's page."""
    return f"CorpusId:{key}"


def paper_row(data: Mapping[str, Any]) -> PaperRow | str:
    key = _key(data.get("corpusid"))
    if key is None:
        return _NO_KEY
    home = as_link(data.get("url"))
    return PaperRow(
        key,
        as_text(data.get("title")),
        names_in(data.get("authors"), "name"),
        as_day(data.get("publicationdate"), data.get("year")),
        as_text(data.get("venue")),
        home,
        as_count(data.get("citationcount")),
        _identifiers(data.get("externalids"), home),
        names_in(data.get("s2fieldsofstudy"), "category"),
    )


def abstract_row(data: Mapping[str, Any]) -> AbstractRow | str:
    key = _key(data.get("corpusid"))
    return _NO_KEY if key is None else AbstractRow(key, as_text(data.get("abstract")))


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
        vector = parse_vector(from_json(given) if isinstance(given, str) else given)
    except ValueError:
        vector = None
    if vector is None:
        return "vector is not a list of numbers"
    if not len(vector) or not np.isfinite(vector).all():
        return "vector is empty or not finite"
    return EmbeddingRow(key, vector)


def _key(value: Any) -> int | None:
    """Some numbers are written as texts."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        value = int(value)
    return value if type(value) is int and 0 <= value < _MOST else None


def _identifiers(given: Any, home: str) -> IdentifierRow:
    ids = given if isinstance(given, dict) else {}
    sha = home.rstrip("/").rsplit("/", 1)[-1]
    pmc = as_text(ids.get("PubMedCentral")).removeprefix("PMC")
    return IdentifierRow(
        doi=doi(as_text(ids.get("DOI"))),
        arxiv=arxiv_id(as_text(ids.get("ArXiv"))),
        s2=sha if _SHA.fullmatch(sha) else "",
        pubmed=as_text(ids.get("PubMed")),
        pmc=f"PMC{pmc}" if pmc else "",
        acl=as_text(ids.get("ACL")),
    )


class _Annotation(NamedTuple):
    start: int
    end: int
    heading: bool


def sections_of(data: Mapping[str, Any]) -> list[SectionRow] | str:
    """In the order of the text; what comes before the first heading has no title. A reason when nothing can be read.

    Two layouts are known: `content.text` with `content.annotations` (s2orc), and `body.text` with `body.annotations`
    (s2orc_v2, the only one in releases of 2026); annotations are lists written as JSON texts.
    """
    body = next((one for name in ("body", "content") if isinstance(one := data.get(name), dict)), None)
    if body is None:
        return "body is missing"
    text, annotations = body.get("text"), body.get("annotations")
    if not isinstance(text, str) or not isinstance(annotations, dict):
        return "text or annotations are missing"
    headings = _first_present(annotations, "sectionheader", "section_header")
    spans = sorted(
        {*_annotations(headings, len(text), True), *_annotations(annotations.get("paragraph"), len(text), False)}
    )
    sections: list[tuple[str, list[str]]] = [("", [])]
    for span in spans:
        words = text[span.start : span.end].strip()
        if span.heading:
            sections.append((" ".join(words.split()), []))
        elif words:
            sections[-1][1].append(words)
    found = [SectionRow(title, "\n\n".join(paragraphs)) for title, paragraphs in sections if paragraphs]
    return found or "no paragraph is annotated"


def _first_present(annotations: Mapping[str, Any], *names: str) -> Any:
    return next((annotations[name] for name in names if annotations.get(name)), None)


def _annotations(given: Any, length: int, heading: bool) -> list[_Annotation]:
    """Those within the text; others are ignored."""
    try:
        found = from_json(given) if isinstance(given, str) else given
    except ValueError:
        return []
    spans = []
    for one in found if isinstance(found, list) else []:
        start, end = (_offset(one.get(name)) for name in ("start", "end")) if isinstance(one, dict) else (-1, -1)
        if 0 <= start < end <= length:
            spans.append(_Annotation(start, end, heading))
    return spans


def _offset(value: Any) -> int:
    """Some releases write offsets as texts; -1 for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if type(value) is int else -1
