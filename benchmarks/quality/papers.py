"""InnoEval's labelled papers as ideas, and how far their labels can be believed."""

import datetime as dt
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea, IdeaId
from benchmarks.quality.grapheval.data import DATA, InnoEval, Labelled

__all__ = ["GRADINGS", "LABEL_SETS", "Agreement", "Grading", "LabelSet", "agreements", "cutoffs", "idea_of", "labels"]

EARLIEST = dt.date(2024, 9, 1)
"""Before the deadline of either conference: what was published later judges no paper whose day is not known."""

LabelSet = Literal["of the points", "of the groups where they differ", "without the doubtful"]
LABEL_SETS: tuple[LabelSet, ...] = ("of the points", "of the groups where they differ", "without the doubtful")


class Grading(NamedTuple):
    """How many outcomes are told apart: spotlights and orals are one with three, all that was accepted with two."""

    classes: tuple[str, ...]

    def of(self, labels: NDArray[np.int16]) -> NDArray[np.int16]:
        return np.minimum(labels, len(self.classes) - 1).astype(np.int16)


GRADINGS = (
    Grading(("reject", "accept")),
    Grading(("reject", "poster", "spotlight or oral")),
    Grading(("reject", "poster", "spotlight", "oral")),
)


class Agreement(NamedTuple):
    """Papers that have a label in two sets."""

    sets: str
    shared: int
    contradict: int
    on_acceptance: int


def agreements(data: InnoEval) -> list[Agreement]:
    """The labels of the pairs are those of the groups; they never contradict each other."""
    grouped = {one.id: one.label for one in data.grouped}
    paired = {paper for pairs in data.pairs.values() for pair in pairs for paper in (pair.better, pair.worse)}
    in_pairs = {paper: grouped[paper] for paper in paired}
    return [_agreement(data, "points and groups", grouped), _agreement(data, "points and pairs", in_pairs)]


def _agreement(data: InnoEval, sets: str, other: Mapping[IdeaId, int]) -> Agreement:
    both = [(one.label, other[one.id]) for one in data.points if one.id in other]
    differ = sum(one != two for one, two in both)
    return Agreement(sets, len(both), differ, sum((one > 0) != (two > 0) for one, two in both))


def labels(data: InnoEval, which: LabelSet) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """Rows of the points that count, and their labels in four grades."""
    own = np.array([one.label for one in data.points], np.int16)
    grouped = {one.id: one.label for one in data.grouped}
    other = np.array([grouped.get(one.id, one.label) for one in data.points], np.int16)
    match which:
        case "of the points":
            return np.arange(len(own)), own
        case "of the groups where they differ":
            return np.arange(len(own)), other
        case "without the doubtful":
            rows = np.flatnonzero(own == other)
            return rows, own[rows]


def idea_of(paper: Labelled, cutoff: dt.date | None = None) -> Idea:
    """Raises InputError for a paper without an abstract."""
    title, _, abstract = paper.text.partition("\n\n")
    return parse_idea(abstract, paper.id, title, cutoff)


def cutoffs(folder: Path = DATA / "innoeval") -> dict[IdeaId, dt.date]:
    """The day on which a paper was handed in, where the groups tell it."""
    return {
        IdeaId(str(paper.get("paper_id", paper.get("id")))): dt.date.fromisoformat(paper["creation_date"])
        for group in _records(folder / "groups.jsonl.gz")
        for paper in [group["query"], *(one["paper"] for one in group["matches"].values())]
        if paper.get("creation_date")
    }


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
