"""Convert lines from Semantic Scholar's datasets, including s2orc's full texts, to rows."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pydantic_core import from_json

from assayer.literature.paper_identity import find_doi, parse_arxiv_id
from index.ingest.record_rows import (
    IdentifierRow,
    SectionRow,
    collect_names,
    convert_to_count,
    convert_to_link,
    convert_to_text,
    parse_day,
)
from index.records.paper_record import parse_vector
from index.records.parquet_records import RECORDS_SCHEMA

_KEY = pa.field("key", pa.int64())
_AS_RECORDS = ("title", "authors", "publication_date", "venue", "url", "citation_count", "identifiers", "fields")
PAPERS = pa.schema([_KEY, *(RECORDS_SCHEMA.field(name) for name in _AS_RECORDS)])
ABSTRACTS = pa.schema([_KEY, pa.field("abstract", pa.string())])
CITATIONS = pa.schema([_KEY, pa.field("citation", pa.int64()), pa.field("cited", pa.int64())])
SECTIONS = pa.schema([_KEY, RECORDS_SCHEMA.field("sections")])
EMBEDDINGS = pa.schema([_KEY, RECORDS_SCHEMA.field("vector")])

Row = tuple[Any, ...]
"""Values in the order of one of the schemas above. A citation's key is the citing paper's, or None in a deletion that
states only the citation's number."""

_SHA = re.compile(r"[0-9a-f]{40}")
_MAX_KEY = 2**62
_NO_KEY = "corpusid is missing"


def make_s2_paper_id(key: int) -> str:
    """Return the paper id in the form that Semantic Scholar's API accepts. The datasets' citations use only this id.
    Results of the API are matched with records by other identifiers, such as the SHA in the URL of a paper's page."""
    return f"CorpusId:{key}"


def build_paper_row(data: Mapping[str, Any]) -> Row | str:
    """Return a paper's row in the order of PAPERS, or the reason why it is rejected."""
    key = _parse_key(data.get("corpusid"))
    if key is None:
        return _NO_KEY
    url = convert_to_link(data.get("url"))
    return (
        key,
        convert_to_text(data.get("title")),
        collect_names(data.get("authors"), "name"),
        parse_day(data.get("publicationdate"), data.get("year")),
        convert_to_text(data.get("venue")),
        url,
        convert_to_count(data.get("citationcount")),
        _parse_identifiers(data.get("externalids"), url),
        collect_names(data.get("s2fieldsofstudy"), "category"),
    )


def build_abstract_row(data: Mapping[str, Any]) -> Row | str:
    key = _parse_key(data.get("corpusid"))
    return _NO_KEY if key is None else (key, convert_to_text(data.get("abstract")))


def build_citation_row(data: Mapping[str, Any]) -> Row | str:
    """Return a citation's row, or the reason why it is rejected. A deletion may state only the citation's number."""
    citing_key, cited_key, citation_key = (
        _parse_key(data.get(name)) for name in ("citingcorpusid", "citedcorpusid", "citationid")
    )
    if citation_key is None and (citing_key is None or cited_key is None):
        return "citingcorpusid or citedcorpusid is missing"
    return citing_key, citation_key, cited_key


def build_sections_row(data: Mapping[str, Any]) -> Row | str:
    key = _parse_key(data.get("corpusid"))
    if key is None:
        return _NO_KEY
    sections = extract_sections(data)
    return sections if isinstance(sections, str) else (key, sections)


def build_embedding_row(data: Mapping[str, Any]) -> Row | str:
    """Return a vector's row, or the reason why it is rejected. The vector is JSON text in the files from 2022 to 2026,
    but a list in the documentation."""
    key = _parse_key(data.get("corpusid"))
    if key is None:
        return _NO_KEY
    vector_json = data.get("vector")
    if vector_json is None:
        return key, None
    try:
        vector = parse_vector(from_json(vector_json) if isinstance(vector_json, str) else vector_json)
    except ValueError:
        vector = None
    if vector is None:
        return "vector is not a list of numbers"
    if not len(vector) or not np.isfinite(vector).all():
        return "vector is empty or not finite"
    return key, vector


def _parse_key(value: Any) -> int | None:
    """Return the value as a key, or None if it is not a valid key. Some files write numbers as text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        value = int(value)
    return value if type(value) is int and 0 <= value < _MAX_KEY else None


def _parse_identifiers(identifiers: Any, url: str) -> IdentifierRow:
    ids = identifiers if isinstance(identifiers, dict) else {}
    sha = url.rstrip("/").rsplit("/", 1)[-1]
    pmc = convert_to_text(ids.get("PubMedCentral")).removeprefix("PMC")
    return IdentifierRow(
        doi=find_doi(convert_to_text(ids.get("DOI"))),
        arxiv=parse_arxiv_id(convert_to_text(ids.get("ArXiv"))),
        s2=sha if _SHA.fullmatch(sha) else "",
        pubmed=convert_to_text(ids.get("PubMed")),
        pmc=f"PMC{pmc}" if pmc else "",
        acl=convert_to_text(ids.get("ACL")),
    )


class _Annotation(NamedTuple):
    start: int
    end: int
    heading: bool


def extract_sections(data: Mapping[str, Any]) -> list[SectionRow] | str:
    """Return the sections in text order, or the reason why there are none. Text before the first heading becomes a
    section without a title.

    Two layouts are known: `content.text` with `content.annotations` (s2orc), and `body.text` with `body.annotations`
    (s2orc_v2, the only layout in releases of 2026). Annotations are lists, written as JSON text."""
    body = next((value for name in ("body", "content") if isinstance(value := data.get(name), dict)), None)
    if body is None:
        return "body is missing"
    text, annotations = body.get("text"), body.get("annotations")
    if not isinstance(text, str) or not isinstance(annotations, dict):
        return "text or annotations are missing"
    headings = _get_first_present(annotations, "sectionheader", "section_header")
    spans = sorted(
        {
            *_parse_annotations(headings, len(text), True),
            *_parse_annotations(annotations.get("paragraph"), len(text), False),
        }
    )
    sections: list[tuple[str, list[str]]] = [("", [])]
    for span in spans:
        words = text[span.start : span.end].strip()
        if span.heading:
            sections.append((" ".join(words.split()), []))
        elif words:
            sections[-1][1].append(words)
    rows = [SectionRow(title, "\n\n".join(paragraphs)) for title, paragraphs in sections if paragraphs]
    return rows or "no paragraph is annotated"


def _get_first_present(annotations: Mapping[str, Any], *names: str) -> Any:
    return next((annotations[name] for name in names if annotations.get(name)), None)


def _parse_annotations(raw: Any, length: int, is_heading: bool) -> list[_Annotation]:
    """Return the annotations that lie within the text; others are ignored."""
    try:
        annotations = from_json(raw) if isinstance(raw, str) else raw
    except ValueError:
        return []
    spans = []
    for annotation in annotations if isinstance(annotations, list) else []:
        start, end = (
            (_parse_offset(annotation.get(name)) for name in ("start", "end"))
            if isinstance(annotation, dict)
            else (-1, -1)
        )
        if 0 <= start < end <= length:
            spans.append(_Annotation(start, end, is_heading))
    return spans


def _parse_offset(value: Any) -> int:
    """Return the offset as a number, also if it is written as text, as in some releases; -1 for any other value."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if type(value) is int else -1
