"""The labelled papers of the data folder: ICLR 2017 with decisions, InnoEval's points, groups and pairs."""

import datetime as dt
import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from assayer.methods.grapheval.calibration import DataFile
from assayer.models import IdeaId

__all__ = ["CLASSES", "DATA", "InnoEval", "Labelled", "Pair", "data_file", "decisions_2017", "inno_eval"]

DATA = Path(__file__).parents[4] / "shared" / "data"
CLASSES = ("reject", "accept")
"""Workshop tracks of 2017 count as reject: they were offered to papers that the conference did not take."""


class Labelled(NamedTuple):
    id: IdeaId
    text: str
    """Title and abstract."""
    label: int
    """Row in CLASSES."""
    day: dt.date


class Pair(NamedTuple):
    better: IdeaId
    worse: IdeaId
    group: str


class InnoEval(NamedTuple):
    points: list[Labelled]
    """Labelled by the decision that stands in the points."""
    groups: list[Labelled]
    """Every paper of the groups once, labelled by the category it has there."""
    contradicted: int
    """Papers that two groups put on different sides of the line; they have no label and are left out."""
    pairs: dict[str, list[Pair]]
    """By difficulty; which is better follows from the groups' categories."""


def decisions_2017() -> list[Labelled]:
    return [
        Labelled(
            id=IdeaId(record["id"]),
            text=_text(record),
            label=int(record["status"] in {"Poster", "Oral"}),
            day=dt.date.fromisoformat(record["publication_date"]),
        )
        for record in _records(DATA / "iclr2017" / "submissions.jsonl.gz")
    ]


def inno_eval() -> InnoEval:
    folder, day = DATA / "innoeval", dt.date(2025, 9, 18)
    points = [
        Labelled(IdeaId(one["paper_id"]), _text(one), int(one["decision"] != "Reject"), day)
        for one in _records(folder / "points.jsonl.gz")
    ]
    found: dict[IdeaId, set[Labelled]] = {}
    for group in _records(folder / "groups.jsonl.gz"):
        members = [(group["query"]["paper_id"], group["query"], group["query_category"])]
        members += [(one["paper"]["id"], one["paper"], one["category"]) for one in group["matches"].values()]
        for name, paper, category in members:
            one = Labelled(IdeaId(name), _text(paper), int(category != "reject"), day)
            found.setdefault(one.id, set()).add(one)
    agreed = {name: min(same) for name, same in found.items() if len({one.label for one in same}) == 1}
    pairs = {
        difficulty: list(_pairs(folder / f"pairs_{name}.jsonl.gz"))
        for difficulty, name in (("easy", "easy"), ("difficult", "diff"))
    }
    return InnoEval(points, list(agreed.values()), len(found) - len(agreed), pairs)


def data_file(path: Path) -> DataFile:
    return DataFile(name=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


_ORDER = ("Reject", "Accept (Poster)", "Accept (Spotlight)", "Accept (Oral)")


def _pairs(path: Path) -> Iterator[Pair]:
    for record in _records(path):
        first, second = record["paper_a"], record["paper_b"]
        better, worse = sorted((first, second), key=lambda one: -_ORDER.index(one["decision"]))
        yield Pair(IdeaId(better["paper_id"]), IdeaId(worse["paper_id"]), record["group_id"])


def _text(record: dict[str, Any]) -> str:
    return f"{record['title'].strip()}\n\n{record['abstract'].strip()}"


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
