"""Queries for the corpus, from the data folder next to the clone."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assayer.models import Paper
from assayer.text.sentences import sentences
from index.segments.paper_store import PaperStore


class LabelledIdea(NamedTuple):
    name: str
    text: str
    cutoff: dt.date
    covered: bool
    """Whether the corpus covers its field: machine learning and language."""


def read_ideas(folder: Path) -> list[LabelledIdea]:
    """Read ideas from one folder each; the prefix of the folder's name is the field."""
    return [
        LabelledIdea(
            name=path.name,
            text=(path / f"{path.name}.txt").read_text("utf-8"),
            cutoff=dt.date.fromisoformat((path / "cutoff.txt").read_text("utf-8").strip()),
            covered=path.name.startswith("ai_"),
        )
        for path in sorted(folder.iterdir())
        if path.is_dir()
    ]


def select_sentences(ideas: Sequence[LabelledIdea], count: int) -> list[str]:
    """Return sentences evenly from all ideas, inside and outside the corpus's field: harder queries than papers'
    text."""
    all_sentences = [sentence for idea in ideas for sentence in sentences(idea.text)]
    return [all_sentences[position] for position in np.linspace(0, len(all_sentences) - 1, count).astype(int)]


def sample_papers(store: PaperStore, count: int) -> dict[int, Paper]:
    """Return papers by row, spread evenly over the years."""
    rows = np.linspace(0, len(store) - 1, count).astype(int).tolist()
    return {row: store.get_paper(row) for row in rows}


def take_first_half(abstract: str) -> str:
    words = abstract.split()
    return " ".join(words[: len(words) // 2])
