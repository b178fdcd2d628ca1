"""Sections of a full text from s2orc's annotations: spans of paragraphs under spans of headings."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic_core import from_json

__all__ = ["Section", "sections_of"]


class _Span(NamedTuple):
    start: int
    end: int
    heading: bool


class Section(NamedTuple):
    """In the order of the column's fields."""

    title: str
    text: str


def sections_of(data: Mapping[str, Any]) -> list[Section] | str:
    """In the order of the text; what stands before the first heading has none. A reason when nothing can be read.

    Two layouts are known: `content.text` with `content.annotations` (s2orc), and `body.text` with `body.annotations`
    (s2orc_v2, the only one in releases of 2026); annotations are lists written as JSON texts.
    """
    body = next((one for name in ("body", "content") if isinstance(one := data.get(name), dict)), None)
    if body is None:
        return "body is missing"
    text, annotations = body.get("text"), body.get("annotations")
    if not isinstance(text, str) or not isinstance(annotations, dict):
        return "text or annotations are missing"
    headings = _first(annotations, "sectionheader", "section_header")
    spans = sorted({*_spans(headings, len(text), True), *_spans(annotations.get("paragraph"), len(text), False)})
    sections: list[tuple[str, list[str]]] = [("", [])]
    for span in spans:
        words = text[span.start : span.end].strip()
        if span.heading:
            sections.append((" ".join(words.split()), []))
        elif words:
            sections[-1][1].append(words)
    found = [Section(title, "\n\n".join(paragraphs)) for title, paragraphs in sections if paragraphs]
    return found or "no paragraph is annotated"


def _first(annotations: Mapping[str, Any], *names: str) -> Any:
    return next((annotations[name] for name in names if annotations.get(name)), None)


def _spans(given: Any, length: int, heading: bool) -> list[_Span]:
    """Those that lie in the text; others are passed over."""
    try:
        found = from_json(given) if isinstance(given, str) else given
    except ValueError:
        return []
    spans = []
    for one in found if isinstance(found, list) else []:
        start, end = (_number(one.get(name)) for name in ("start", "end")) if isinstance(one, dict) else (-1, -1)
        if 0 <= start < end <= length:
            spans.append(_Span(start, end, heading))
    return spans


def _number(value: Any) -> int:
    """Some releases write offsets as texts; -1 for what is none."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if type(value) is int else -1
