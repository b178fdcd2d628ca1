"""Drawing of the evidence for a verdict: viewpoints on the left, their neighbours with outcomes on the right."""

from dataclasses import dataclass
from typing import Literal

from assayer.models import GraphUsed, NeighbourViewpoint, Verdict

Side = Literal["minus", "zero", "plus", "none"]

_ROW_HEIGHT = 26
"""Height of a row for one neighbour, in drawing pixels."""
_MARGIN = 18
_LEFT, _RIGHT = 46, 250
"""Horizontal positions of the two columns, out of 720."""


@dataclass(frozen=True)
class DrawnViewpoint:
    y: float
    number: int
    """Number of the viewpoint, from 1."""


@dataclass(frozen=True)
class DrawnNeighbour:
    y: float
    neighbour: NeighbourViewpoint
    side: Side


@dataclass(frozen=True)
class DrawnLine:
    y1: float
    y2: float
    width: float
    side: Side


@dataclass(frozen=True)
class ViewpointDrawing:
    height: int
    left: int
    right: int
    viewpoints: tuple[DrawnViewpoint, ...]
    neighbours: tuple[DrawnNeighbour, ...]
    lines: tuple[DrawnLine, ...]


def choose_side(label: str | None, graph: GraphUsed) -> Side:
    """Return how an outcome is coloured: `minus` for the worst, `plus` for the best, `zero` for all others and for
    outcomes without an order, `none` if unknown."""
    if label is None:
        return "none"
    if not graph.ordered:
        return "zero"
    sides: dict[str, Side] = {graph.outcomes[0]: "minus", graph.outcomes[-1]: "plus"}
    return sides.get(label, "zero")


def draw_viewpoints(verdict: Verdict) -> ViewpointDrawing | None:
    """Return the drawing of a verdict's evidence; None if there is no evidence. A neighbour that several viewpoints
    share is drawn once."""
    places: dict[tuple[str, str], tuple[int, NeighbourViewpoint]] = {}
    for evidence in verdict.evidence:
        for neighbour in evidence.neighbours:
            places.setdefault((neighbour.idea, neighbour.text), (len(places), neighbour))
    if not places:
        return None
    height_of = {key: _MARGIN + _ROW_HEIGHT * (place + 0.5) for key, (place, _) in places.items()}
    dots: list[DrawnViewpoint] = []
    lines: list[DrawnLine] = []
    for number, evidence in enumerate(verdict.evidence, start=1):
        neighbour_heights = [height_of[item.idea, item.text] for item in evidence.neighbours]
        lowest = dots[-1].y + _ROW_HEIGHT if dots else _MARGIN
        y = max(lowest, sum(neighbour_heights) / len(neighbour_heights)) if neighbour_heights else lowest
        dots.append(DrawnViewpoint(round(y, 1), number))
        lines += [
            DrawnLine(round(y, 1), item, round(0.5 + 4 * near.similarity**2, 2), choose_side(near.label, verdict.graph))
            for item, near in zip(neighbour_heights, evidence.neighbours, strict=True)
        ]
    height = max(_MARGIN + _ROW_HEIGHT * len(places), dots[-1].y + _MARGIN)
    neighbours = tuple(
        DrawnNeighbour(height_of[key], neighbour, choose_side(neighbour.label, verdict.graph))
        for key, (_, neighbour) in places.items()
    )
    return ViewpointDrawing(round(height + _MARGIN), _LEFT, _RIGHT, tuple(dots), neighbours, tuple(lines))
