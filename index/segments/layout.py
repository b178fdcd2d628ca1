"""What lies where in a version, and how papers become texts to search."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.segments.passages import spans

__all__ = [
    "ABSTRACT",
    "PAPERS",
    "PASSAGES",
    "REJECTED",
    "WORDS",
    "PassagePlace",
    "paper_text",
    "passage_text",
    "passages_of",
    "read_places",
    "write_places",
]

PAPERS = "papers"
"""Directory of the index over title and abstract, one row a paper."""
PASSAGES = "passages"
"""Directory of the index over the other passages, in the order of their papers."""
WORDS = "words"
"""Directory of a version's two word indexes, of papers and of passages."""
REJECTED = "rejected.jsonl"
_PLACES = "places.npy"

ABSTRACT = -1
"""Stands for the abstract among the numbers of sections."""


class PassagePlace(NamedTuple):
    """Where a passage stands: characters `start` to `end` of a section of the paper in a row."""

    paper: int
    section: int
    start: int
    end: int


def paper_text(title: str, abstract: str) -> str:
    """What is embedded and indexed of a paper; also stands for the first passage of its abstract."""
    return f"{title}\n{abstract}"


def passage_text(title: str, text: str, place: PassagePlace) -> str:
    """What is embedded and indexed of a passage: its words under the paper's title. `text` is the abstract or the
    section that it stands in."""
    return f"{title}\n{text[place.start : place.end].strip()}"


def passages_of(row: int, abstract: str, sections: Iterable[str]) -> list[PassagePlace]:
    """Of the full text, and of a long abstract all but the first, which the paper itself stands for."""
    places = [PassagePlace(row, ABSTRACT, *span) for span in spans(abstract)[1:]]
    for number, text in enumerate(sections):
        places += [PassagePlace(row, number, *span) for span in spans(text)]
    return places


def write_places(places: NDArray[np.int32], directory: Path) -> None:
    np.save(directory / _PLACES, places)


def read_places(directory: Path) -> NDArray[np.int32]:
    """One row a passage, columns as in PassagePlace, sorted by paper."""
    places: NDArray[np.int32] = np.load(directory / _PLACES, mmap_mode="r")
    return places
