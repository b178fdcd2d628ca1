"""Find, in GROBID's TEI, where a paper's text cites each work in its reference list."""

import re
from typing import NamedTuple

from lxml import etree

from assayer.models import CitedWork
from workers.full_texts.grobid_tei import paper_of_tei, read_tei, works_by_entry
from workers.full_texts.parsed_paper import ParsedPaper

_TEI = "{http://www.tei-c.org/ns/1.0}"
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Private-use characters that mark citations. They are removed from the input before marks are inserted."""
_MARK = re.compile(f"{_OPEN}(\\d{{1,5}}){_CLOSE}")


class CitedPlace(NamedTuple):
    section: int
    """Index of the section, from 0."""
    character: int
    """Offset of the citation in the section's text, from 0."""


class WorkCited(NamedTuple):
    work: CitedWork
    at: tuple[CitedPlace, ...]
    """Places that cite the work; empty if the text does not cite it."""


class CitingPaper(NamedTuple):
    paper: ParsedPaper
    cited: tuple[WorkCited, ...]
    """Cited works, in the order of the reference list."""


def read_citing_paper(tei: bytes, source: str = "The TEI") -> CitingPaper:
    """Parse TEI as `parse_tei` does, and find the citations in its text. Raises Unreadable if it cannot be parsed."""
    root = read_tei(tei.replace(_OPEN.encode(), b"").replace(_CLOSE.encode(), b""), source)
    works = works_by_entry(root)
    _mark_citations(root, {name: number for number, name in enumerate(works)})
    paper_with_marks = paper_of_tei(root, source)
    places_by_work: list[list[CitedPlace]] = [[] for _ in works]
    sections = []
    for number, section in enumerate(paper_with_marks.sections):
        text = _strip_marks(section.text, number, places_by_work)
        sections.append(section.model_copy(update={"text": text}))
    paper = paper_with_marks.model_copy(update={"sections": tuple(sections)})
    cited = zip(works.values(), map(tuple, places_by_work), strict=True)
    return CitingPaper(paper, tuple(WorkCited(work, places) for work, places in cited))


def _mark_citations(root: etree._Element, numbers: dict[str, int]) -> None:
    for reference in root.iter(f"{_TEI}ref"):
        if reference.get("type") == "bibr":
            names = (name.removeprefix("#") for name in reference.get("target", "").split())
            marks = "".join(f"{_OPEN}{numbers[name]}{_CLOSE}" for name in names if name in numbers)
            reference.text = f"{marks}{reference.text or ''}"


def _strip_marks(text: str, section: int, places_by_work: list[list[CitedPlace]]) -> str:
    """Return the text without marks, and add the positions of the marks to the cited works."""
    pieces = _MARK.split(text)
    kept_pieces, length = pieces[:1], len(pieces[0])
    for number, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        places_by_work[int(number)].append(CitedPlace(section, length))
        kept_pieces.append(piece)
        length += len(piece)
    return "".join(kept_pieces)
