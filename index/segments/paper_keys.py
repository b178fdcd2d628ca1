"""Papers by what a list of references says of them: DOI, arXiv id, or title and year, as hashes.

As a hash stands for what is cited, a paper is found from the day on which it comes into the corpus: what cites it is
not written again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assayer.literature.paper_identity import arxiv_id, title_key
from index.hashing import Hashes, hash64
from index.records.paper_record import CitedInText
from index.segments.paper_store import PaperStore

__all__ = ["KEYS_OF_WORK", "NO_KEY", "PaperKeys", "keys_of_work", "write_paper_keys"]

_HASHES, _ROWS = "paper-keys.npy", "paper-key-rows.npy"
_TELLING = 24
"""Letters of a title that two works hardly share by chance."""
_COLUMNS = ("title", "identifiers", "publication_date")
KEYS_OF_WORK = 6
NO_KEY = 0
"""Stands where a work has no such key."""


def keys_of_work(work: CitedInText) -> NDArray[np.uint64]:
    """Shape (6,), the surest first: its id in the corpus, DOI, arXiv id, then its title with its year, the one before
    and the one after, as a preprint and its publication are often a year apart."""
    arxiv = work.arxiv or arxiv_id(work.doi)
    years = () if work.year is None else (work.year, work.year - 1, work.year + 1)
    titles = [_title_key(work.title, year) for year in years] or [""] * 3
    said = [work.id, _doi_key(work.doi), _arxiv_key(arxiv), *titles]
    return np.where([bool(one) for one in said], hash64(said), np.uint64(NO_KEY))


def _keys_of_paper(columns: Mapping[str, Any]) -> list[str]:
    day, identifiers = columns["publication_date"], columns["identifiers"] or {}
    name = identifiers.get("doi") or ""
    arxiv = identifiers.get("arxiv") or arxiv_id(name)
    title = _title_key(columns["title"], day.year) if day else ""
    return [key for key in (_doi_key(name), _arxiv_key(arxiv), title) if key]


def _doi_key(name: str) -> str:
    return f"doi {name}" if name else ""


def _arxiv_key(name: str) -> str:
    return f"arxiv {name}" if name else ""


def _title_key(title: str, year: int) -> str:
    letters = title_key(title)
    return f"title {year} {letters}" if len(letters) >= _TELLING else ""


def _keyed_rows(store: PaperStore) -> tuple[Hashes, NDArray[np.uint32]]:
    hashes, rows, row = [np.empty(0, np.uint64)], [np.empty(0, np.uint32)], 0
    for batch in store.batches(_COLUMNS):
        keys = [_keys_of_paper(columns) for columns in batch]
        hashes.append(hash64(key for some in keys for key in some))
        rows.append(np.repeat(np.arange(row, row + len(keys), dtype=np.uint32), [len(some) for some in keys]))
        row += len(keys)
    together = np.concatenate(hashes)
    order = np.argsort(together, kind="stable")
    return together[order], np.concatenate(rows)[order]


def write_paper_keys(store: PaperStore, directory: Path) -> None:
    hashes, rows = _keyed_rows(store)
    np.save(directory / _HASHES, hashes)
    np.save(directory / _ROWS, rows)


class PaperKeys:
    """Rows by key."""

    def __init__(self, store: PaperStore, directory: Path) -> None:
        """Segments that earlier releases wrote have no such files: their keys are computed, which takes seconds for
        each 100,000 papers."""
        if (directory / _HASHES).is_file():
            self._hashes: Hashes = np.asarray(np.load(directory / _HASHES, mmap_mode="r"))
            self._rows: NDArray[np.uint32] = np.asarray(np.load(directory / _ROWS, mmap_mode="r"))
        else:
            self._hashes, self._rows = _keyed_rows(store)

    def rows(self, key: int) -> list[int]:
        """Of the papers that have it, ascending."""
        wanted = np.uint64(key)
        first, last = np.searchsorted(self._hashes, wanted, "left"), np.searchsorted(self._hashes, wanted, "right")
        found: list[int] = self._rows[first:last].tolist()
        return found
