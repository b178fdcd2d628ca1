"""Learning curve as one HTML file, under the same content security policy as the reports, and as CSV."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import NamedTuple

from assayer.models.learning_curve import LearningCurve, LearningPoint
from assayer.reports.html import render_page

_WIDTH, _HEIGHT = 1000.0, 160.0
"""Size of every drawing in its own units; drawings are stretched to fit the page."""


class CurveLine(NamedTuple):
    name: str
    look: str
    """Name of the CSS class."""
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class CurvePanel:
    """One chart of a learning curve: lines that share a scale, drawn over the training steps."""

    title: str
    lines: tuple[CurveLine, ...]
    steps: tuple[int, ...]
    last_step: int
    top: float | None = None
    """Top of the scale; None means the largest value."""

    @cached_property
    def highest(self) -> float:
        known_values = [value for line in self.lines for value in line.values if value is not None]
        return self.top if self.top is not None else max(known_values, default=0.0) or 1.0

    @cached_property
    def lowest(self) -> float:
        return min(
            (value for line in self.lines for value in line.values if value is not None and value < 0), default=0.0
        )

    def draw_strokes(self, line: CurveLine) -> tuple[str, ...]:
        """Return the SVG points of each unbroken segment of a line; a step without a value leaves a gap."""
        pieces: list[list[str]] = [[]]
        for step, value in zip(self.steps, line.values, strict=True):
            if value is None:
                pieces.append([])
                continue
            x = _WIDTH * (step - 1) / max(1, self.last_step - 1)
            y = _HEIGHT * (1 - (min(value, self.highest) - self.lowest) / ((self.highest - self.lowest) or 1.0))
            pieces[-1].append(f"{x:.1f},{y:.1f}")
        return tuple(" ".join(piece if len(piece) > 1 else piece * 2) for piece in pieces if piece)


def render_learning_curve_html(curve: LearningCurve) -> str:
    return render_page(
        "learning_curve.html",
        "report.css",
        "learning_curve.css",
        curve=curve,
        panels=list(_build_panels(curve)),
        shown=_select_table_points(curve),
    )


def render_learning_curve_csv(curve: LearningCurve) -> str:
    """Return the learning curve as CSV, one line per step; a missing value is an empty field."""
    text = StringIO()
    table = csv.DictWriter(text, list(LearningPoint.model_fields), lineterminator="\n")
    table.writeheader()
    table.writerows(point.model_dump() for point in curve.points)
    return text.getvalue()


_PARTS = "Components of the reward, unweighted, and share with a score"
_PANELS: tuple[tuple[str, float | None, tuple[tuple[str, str], ...]], ...] = (
    ("Mean reward of the completions that were judged", None, (("reward", "reward"),)),
    (
        _PARTS,
        1.0,
        (("accuracy of scores", "accuracy"), ("structure of graphs", "structure"), ("share with a score", "scored")),
    ),
    (
        "Mean tokens of a completion",
        None,
        (("with a reward", "length_rewarded"), ("without one", "length_unrewarded")),
    ),
    (
        "Shares of the completions",
        1.0,
        (("judged", "judged"), ("cut off at the maximum length", "truncated")),
    ),
    ("Entropy, nats per token", None, (("entropy", "entropy"),)),
)
"""Panels in display order: title, top of the scale, and for each line its name and the field that it draws."""


def _build_panels(curve: LearningCurve) -> Iterator[CurvePanel]:
    """Yield the panels. The panel for the components of the reward is left out if no step has any."""
    steps = tuple(point.step for point in curve.points)
    for title, top, named_fields in _PANELS:
        lines = tuple(
            CurveLine(name, look, tuple(getattr(point, field) for point in curve.points))
            for look, (name, field) in zip(("first", "second", "third"), named_fields, strict=False)
        )
        if title != _PARTS or any(value is not None for line in lines for value in line.values):
            yield CurvePanel(title, lines, steps, curve.steps, top)


def _select_table_points(curve: LearningCurve) -> tuple[LearningPoint, ...]:
    """Return about twenty evenly spaced points, including the last, for the table on the page."""
    step = max(1, len(curve.points) // 20)
    return curve.points[::-1][::step][::-1]
