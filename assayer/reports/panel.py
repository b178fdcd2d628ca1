"""Reviewers against dimensions: the scores of a board at a glance."""

from typing import NamedTuple

from assayer.models import Absent, BoardRecord, Part, Reviewer, Score

__all__ = ["Panel", "panel_of"]


class Panel(NamedTuple):
    parts: tuple[int, ...]
    """Places of the judged dimensions among the report's parts; each holds one assessment a reviewer, in order."""
    rows: tuple[tuple[Reviewer, tuple[Score | Absent, ...]], ...]
    means: tuple[Score | Absent, ...]

    @property
    def missing(self) -> int:
        return sum(isinstance(score, Absent) for _, scores in self.rows for score in scores)


def panel_of(board: BoardRecord, parts: tuple[Part, ...]) -> Panel:
    places = {part.name: place for place, part in enumerate(parts)}
    judged = tuple(places[one.name] for one in board.dimensions)
    return Panel(
        parts=judged,
        rows=tuple(
            (reviewer, tuple(parts[place].assessments[row].score for place in judged))
            for row, reviewer in enumerate(board.reviewers)
        ),
        means=tuple(parts[place].score for place in judged),
    )
