"""Labelled papers in the data folder: ICLR decisions, and InnoEval's points, groups and pairs."""

import datetime as dt
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from assayer.methods.grapheval.scoring.calibration import TrainingFile
from assayer.models import IdeaId
from assayer.text.code_links import remove_code_links
from benchmarks.records import DATA, read_records

CLASSES = ("reject", "accept")
"""The workshop track of 2017 counts as reject: it was offered to papers that the conference did not accept."""


CATEGORIES = ("reject", "poster", "spotlight", "oral")


class LabelledPaper(NamedTuple):
    id: IdeaId
    text: str
    """Title and abstract."""
    label: int
    """Row in CLASSES, or in CATEGORIES."""
    day: dt.date


class Pair(NamedTuple):
    better: IdeaId
    worse: IdeaId
    group: str


class InnoEval(NamedTuple):
    points: list[LabelledPaper]
    """Labels are rows in CATEGORIES, from the decision in the points file."""
    grouped: list[LabelledPaper]
    """Every paper of the groups once; labels are rows in CATEGORIES, from its category in the groups."""
    groups: dict[str, set[IdeaId]]
    pairs: dict[str, list[Pair]]
    """Pairs by difficulty; the better paper follows from the groups' categories."""


def read_decisions(classes: tuple[str, ...] = CLASSES) -> dict[int, list[LabelledPaper]]:
    """Return ICLR submissions by year. With four classes, only years whose decisions distinguish them are included; a
    workshop track counts as reject. `day` is the last day of the previous year: nothing from its own year was known."""
    papers_by_year: dict[int, list[LabelledPaper]] = {}
    for record in read_records(DATA / "iclr_years" / "submissions.jsonl.gz"):
        decision = {"workshop": "reject"}.get(record["decision"], record["decision"])
        if classes == CLASSES:
            label = int(record["accepted"])
        elif decision in classes:
            label = classes.index(decision)
        else:
            continue
        day = dt.date(record["year"] - 1, 12, 31)
        papers_by_year.setdefault(record["year"], []).append(
            LabelledPaper(IdeaId(record["id"]), remove_code_links(_join_text(record)), label, day)
        )
    return papers_by_year


def read_inno_eval() -> InnoEval:
    """Read InnoEval's data. Raises ValueError if two groups give a paper different categories."""
    folder = DATA / "innoeval"
    points = [
        LabelledPaper(IdeaId(record["paper_id"]), _join_text(record), _DECISIONS.index(record["decision"]), _SUBMITTED)
        for record in read_records(folder / "points.jsonl.gz")
    ]
    papers: dict[IdeaId, LabelledPaper] = {}
    groups: dict[str, set[IdeaId]] = {}
    for group in read_records(folder / "groups.jsonl.gz"):
        members = [(group["query"]["paper_id"], group["query"], group["query_category"])]
        members += [(item["paper"]["id"], item["paper"], item["category"]) for item in group["matches"].values()]
        for name, paper, category in members:
            labelled_paper = LabelledPaper(IdeaId(name), _join_text(paper), CATEGORIES.index(category), _SUBMITTED)
            if papers.setdefault(labelled_paper.id, labelled_paper).label != labelled_paper.label:
                raise ValueError(f"{name} has two categories.")
            groups.setdefault(group["query_internal_id"], set()).add(labelled_paper.id)
    pairs = {
        difficulty: list(_read_pairs(folder / f"pairs_{name}.jsonl.gz"))
        for difficulty, name in (("easy", "easy"), ("difficult", "diff"))
    }
    return InnoEval(points, list(papers.values()), groups, pairs)


_SUBMITTED = dt.date(2025, 5, 11)
_DECISIONS = ("Reject", "Accept (Poster)", "Accept (Spotlight)", "Accept (Oral)")


def describe_file(path: Path) -> TrainingFile:
    return TrainingFile(name=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def _read_pairs(path: Path) -> Iterator[Pair]:
    for record in read_records(path):
        first, second = record["paper_a"], record["paper_b"]
        better, worse = sorted((first, second), key=lambda item: -_DECISIONS.index(item["decision"]))
        yield Pair(IdeaId(better["paper_id"]), IdeaId(worse["paper_id"]), record["group_id"])


def _join_text(record: dict[str, Any]) -> str:
    return f"{record['title'].strip()}\n\n{record['abstract'].strip()}"
