"""Where the text of a paper cites which work of its list of references, as GROBID's TEI says."""

import re
from typing import NamedTuple

from lxml import etree

from assayer.models import CitedWork
from workers.full_texts.grobid_tei import paper_of_tei, read_tei, works_by_entry
from workers.full_texts.parsed_paper import ParsedPaper

__all__ = ["CitedPlace", "CitingPaper", "WorkCited", "read_citing_paper"]

_TEI = "{http://www.tei-c.org/ns/1.0}"
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Private characters: they stand for nothing in a text, and are taken out of what is read before they are put in."""
_MARK = re.compile(f"{_OPEN}(\\d{{1,5}}){_CLOSE}")


class CitedPlace(NamedTuple):
    section: int
    """Number among the paper's sections, from 0."""
    character: int
    """Of its text, from 0: where the mark of the reference begins."""


class WorkCited(NamedTuple):
    work: CitedWork
    at: tuple[CitedPlace, ...]
    """Empty for a work that the text does not refer to."""


class CitingPaper(NamedTuple):
    paper: ParsedPaper
    cited: tuple[WorkCited, ...]
    """In the order of the list of references."""


def read_citing_paper(tei: bytes, source: str = "The TEI") -> CitingPaper:
    """As `parse_tei`, with what its text cites. Raises Unreadable."""
    root = read_tei(tei.replace(_OPEN.encode(), b"").replace(_CLOSE.encode(), b""), source)
    works = works_by_entry(root)
    _mark(root, {name: number for number, name in enumerate(works)})
    marked = paper_of_tei(root, source)
    at: list[list[CitedPlace]] = [[] for _ in works]
    sections = []
    for number, section in enumerate(marked.sections):
        text = _unmarked(section.text, number, at)
        sections.append(section.model_copy(update={"text": text}))
    captions = tuple(one.model_copy(update={"text": _MARK.sub("", one.text)}) for one in marked.captions)
    paper = marked.model_copy(update={"sections": tuple(sections), "captions": captions})
    cited = zip(works.values(), map(tuple, at), strict=True)
    return CitingPaper(paper, tuple(WorkCited(work, places) for work, places in cited))


def _mark(root: etree._Element, numbers: dict[str, int]) -> None:
    for reference in root.iter(f"{_TEI}ref"):
        if reference.get("type") == "bibr":
            names = (name.removeprefix("#") for name in reference.get("target", "").split())
            marks = "".join(f"{_OPEN}{numbers[name]}{_CLOSE}" for name in names if name in numbers)
            reference.text = f"{marks}{reference.text or ''}"


def _unmarked(text: str, section: int, at: list[list[CitedPlace]]) -> str:
    """Without the marks, whose places are added to those of their works."""
    pieces = _MARK.split(text)
    written, length = pieces[:1], len(pieces[0])
    for number, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        at[int(number)].append(CitedPlace(section, length))
        written.append(piece)
        length += len(piece)
    return "".join(written)
