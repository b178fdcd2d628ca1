"""What a reader is asked besides its own methods: by ids instead of units, and in parts that are merged over shards."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Absent, FullText, Hit, Paper, PaperId, Passage
from index.filters import Filters
from index.ids import Hashes
from index.searching.reader import Reader

__all__ = [
    "Owned",
    "citations",
    "cited",
    "found_by_hash",
    "full_texts",
    "neighbours",
    "owned",
    "papers",
    "papers_at",
    "passages_at",
    "references",
    "similarities",
    "units",
]


def neighbours(reader: Reader, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Hit]]:
    return reader.neighbours(reader.units(ids), limit, filters)


def references(reader: Reader, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
    return reader.references(reader.units(ids), limit, filters)


def citations(reader: Reader, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
    return reader.citations(list(reader.units(ids)), limit, filters)


def papers(reader: Reader, ids: Sequence[PaperId], filters: Filters) -> dict[PaperId, Paper]:
    return {one: reader.paper(unit) for one, unit in reader.units(ids).items() if reader.counts(unit, filters)}


def similarities(reader: Reader, ids: Sequence[PaperId], vector: NDArray[np.float32]) -> dict[PaperId, float]:
    known = reader.units(ids)
    return dict(zip(known, reader.similarities(vector, list(known.values())), strict=True))


def full_texts(reader: Reader, ids: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
    """Every asked paper is in the answer."""
    known = reader.units(ids)
    found: dict[PaperId, FullText | Absent] = {}
    for one in ids:
        if one not in known:
            found[one] = Absent(reason="the paper is not in the corpus")
        else:
            found[one] = reader.full_text(known[one]) or Absent(reason="the corpus holds only the abstract")
    return found


def papers_at(reader: Reader, units: Sequence[int]) -> list[Paper]:
    return [reader.paper(unit) for unit in units]


def passages_at(reader: Reader, units: Sequence[int]) -> list[Passage]:
    """Their similarities are left to who has them."""
    return [reader.passage(unit, 0.0) for unit in units]


def units(reader: Reader, ids: Sequence[PaperId]) -> dict[PaperId, int]:
    return reader.units(ids)


class Owned(NamedTuple):
    unit: int
    vector: NDArray[np.float32]


def owned(reader: Reader, ids: Sequence[PaperId]) -> dict[PaperId, Owned]:
    """Of the known papers."""
    return {one: Owned(unit, reader.vector(unit)) for one, unit in reader.units(ids).items()}


def cited(reader: Reader, ids: Sequence[PaperId]) -> dict[PaperId, list[int]]:
    """Hashes of the ids in each paper's list of references; papers whose references nobody said are missing."""
    found = {one: reader.cited(unit) for one, unit in reader.units(ids).items()}
    return {one: hashes.tolist() for one, hashes in found.items() if hashes is not None}


def found_by_hash(reader: Reader, hashes: Sequence[int], filters: Filters) -> dict[int, list[int]]:
    """Units of the papers that pass, by the hashes of their ids."""
    asked: Hashes = np.array(hashes, np.uint64)
    found = zip(hashes, reader.with_hashes(asked), strict=True)
    return {one: [unit for unit in units if reader.counts(unit, filters)] for one, units in found}
