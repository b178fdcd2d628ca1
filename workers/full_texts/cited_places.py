"""Find, in GROBID's TEI, where a paper's text cites each work in its reference list."""

import re
from typing import NamedTuple

from lxml import etree

from assayer.models import CitedWork
from workers.full_texts.grobid_tei import build_paper, read_tei, read_works_by_id
from workers.full_texts.parsed_paper import ParsedPaper

_TEI = "{http://www.tei-c.org/ns/1.0}"
_MARK_START, _MARK_END = "\ue000", "\ue001"
"""Private-use characters that mark citations. They are removed from the input before marks are inserted."""
_MARK = re.compile(f"{_MARK_START}(\\d{{1,5}}){_MARK_END}")


class CitationPlace(NamedTuple):
    section: int
    """Index of the section, from 0."""
    character: int
    """Offset of the citation in the section's text, from 0."""


class CitedWorkPlaces(NamedTuple):
    work: CitedWork
    at: tuple[CitationPlace, ...]
    """Places that cite the work; empty if the text does not cite it."""


class CitingPaper(NamedTuple):
    paper: ParsedPaper
    cited: tuple[CitedWorkPlaces, ...]
    """Cited works, in the order of the reference list."""


def read_citing_paper(tei: bytes, source: str = "The TEI") -> CitingPaper:
    """Parse TEI as `parse_tei` does, and find the citations in its text. Raises Unreadable if it cannot be parsed."""
    root = read_tei(tei.replace(_MARK_START.encode(), b"").replace(_MARK_END.encode(), b""), source)
    works_by_id = read_works_by_id(root)
    _mark_citations(root, {name: number for number, name in enumerate(works_by_id)})
    paper_with_marks = build_paper(root, source)
    places_by_work: list[list[CitationPlace]] = [[] for _ in works_by_id]
    sections = []
    for number, section in enumerate(paper_with_marks.sections):
        text = _strip_marks(section.text, number, places_by_work)
        sections.append(section.model_copy(update={"text": text}))
    paper = paper_with_marks.model_copy(update={"sections": tuple(sections)})
    cited_works = zip(works_by_id.values(), map(tuple, places_by_work), strict=True)
    return CitingPaper(paper, tuple(CitedWorkPlaces(work, places) for work, places in cited_works))


def _mark_citations(root: etree._Element, numbers_by_id: dict[str, int]) -> None:
    for reference in root.iter(f"{_TEI}ref"):
        if reference.get("type") == "bibr":
            names = (name.removeprefix("#") for name in reference.get("target", "").split())
            marks = "".join(f"{_MARK_START}{numbers_by_id[name]}{_MARK_END}" for name in names if name in numbers_by_id)
            reference.text = f"{marks}{reference.text or ''}"


def _strip_marks(text: str, section: int, places_by_work: list[list[CitationPlace]]) -> str:
    """Return the text without marks, and add the positions of the marks to the cited works."""
    pieces = _MARK.split(text)
    unmarked_pieces, length = pieces[:1], len(pieces[0])
    for number, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        places_by_work[int(number)].append(CitationPlace(section, length))
        unmarked_pieces.append(piece)
        length += len(piece)
    return "".join(unmarked_pieces)
