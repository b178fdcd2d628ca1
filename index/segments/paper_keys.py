"""Hashed keys that match a cited work with a paper in the corpus: DOI, arXiv id, or title and year.

Citing papers store these hashes, so a cited paper is found as soon as it is added to the corpus, without rewriting the
citing papers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assayer.literature.paper_identity import build_title_key, parse_arxiv_id
from index.hashing import hash64
from index.records.paper_record import CitedInText
from index.segments.hashed_rows import RowFiles
from index.segments.paper_store import PaperStore

PAPER_KEYS = RowFiles("paper-keys.npy", "paper-key-rows.npy")
_MIN_TITLE_LETTERS = 24
"""Minimum number of letters that a title needs for a key; works are unlikely to share a longer title by chance."""
_COLUMNS = ("title", "identifiers", "publication_date")
KEYS_OF_WORK = 6
NO_KEY = 0
"""Placeholder for a work that lacks a key."""


def compute_keys_of_work(work: CitedInText) -> NDArray[np.uint64]:
    """Return an array of six keys, most reliable first: corpus id, DOI, arXiv id, and the title with three years. These
    are the work's year, the year before and the year after, because a preprint and its publication are often a year
    apart. Missing keys are `NO_KEY`."""
    arxiv = work.arxiv or parse_arxiv_id(work.doi)
    years = () if work.year is None else (work.year, work.year - 1, work.year + 1)
    titles = [_compute_title_key(work.title, year) for year in years] or [""] * 3
    names = [work.id, _compute_doi_key(work.doi), _compute_arxiv_key(arxiv), *titles]
    return np.where([bool(name) for name in names], hash64(names), np.uint64(NO_KEY))


def _compute_keys_of_paper(columns: Mapping[str, Any]) -> list[str]:
    day, identifiers = columns["publication_date"], columns["identifiers"] or {}
    name = identifiers.get("doi") or ""
    arxiv = identifiers.get("arxiv") or parse_arxiv_id(name)
    title = _compute_title_key(columns["title"], day.year) if day else ""
    return [key for key in (_compute_doi_key(name), _compute_arxiv_key(arxiv), title) if key]


def _compute_doi_key(name: str) -> str:
    return f"doi {name}" if name else ""


def _compute_arxiv_key(name: str) -> str:
    return f"arxiv {name}" if name else ""


def _compute_title_key(title: str, year: int) -> str:
    letters = build_title_key(title)
    return f"title {year} {letters}" if len(letters) >= _MIN_TITLE_LETTERS else ""


def write_paper_keys(store: PaperStore, directory: Path) -> None:
    hashes, rows, row = [np.empty(0, np.uint64)], [np.empty(0, np.uint32)], 0
    for batch in store.read_batches(_COLUMNS):
        keys = [_compute_keys_of_paper(columns) for columns in batch]
        hashes.append(hash64(key for paper_keys in keys for key in paper_keys))
        rows.append(
            np.repeat(np.arange(row, row + len(keys), dtype=np.uint32), [len(paper_keys) for paper_keys in keys])
        )
        row += len(keys)
    PAPER_KEYS.write(np.concatenate(hashes), np.concatenate(rows), directory)
