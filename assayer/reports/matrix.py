"""Papers against dimensions: who already has what, at a glance."""

from collections import Counter
from typing import Literal, NamedTuple

from assayer.models import Label, Part

__all__ = ["Matrix", "Row", "matrix_of"]

Stance = Literal[-1, 0, 1]

LEAST_FILLED = 0.5
"""A part whose papers were mostly read for one assessment each is a list, not a matrix."""


class Row(NamedTuple):
    label: Label
    stances: tuple[Stance | Literal["unread"] | None, ...]
    """One for each assessment of the part, in its order; `unread` where the paper was not read for it."""


class Matrix(NamedTuple):
    rows: tuple[Row, ...]
    """The paper with the most overlap first."""

    @property
    def unjudged(self) -> bool:
        return any(None in row.stances for row in self.rows)


def matrix_of(part: Part) -> Matrix | None:
    """None when the part has fewer than two assessments, or its papers were not compared across them."""
    columns = [{one.label: one.stance for one in item.readings} for item in part.assessments]
    times_read = Counter(label for column in columns for label in column)
    judged = any(stance is not None for column in columns for stance in column.values())
    filled = times_read.total() / (len(columns) * len(times_read)) if judged else 0.0
    if len(columns) < 2 or filled < LEAST_FILLED:
        return None
    rows = [Row(label, tuple(column.get(label, "unread") for column in columns)) for label in times_read]
    return Matrix(tuple(sorted(rows, key=_overlap)))


def _overlap(row: Row) -> tuple[int, int]:
    """Most often already there, then most often comparable; ties keep the order of reading."""
    return -row.stances.count(-1), -row.stances.count(0)
