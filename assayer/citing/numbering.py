"""Number the papers in a finished report: markers become `[P1]`, `[P2]` … in reading order."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from assayer.citing.labels import MARKER, parse_marker
from assayer.models import Label, Paper, PaperId, Reference
from assayer.models.assessment import LABEL
from assayer.text.sanitise import sanitise

Out = TypeVar("Out", bound=BaseModel)

_VERBATIM_FIELDS = frozenset(("quote", "place", "objection"))
"""Fields that hold a paper's own words, where text that resembles a marker is not a marker."""


class Numbering:
    """Assigns each paper a label when it is first mentioned."""

    def __init__(self) -> None:
        self._labels: dict[PaperId, Label] = {}

    def assign_label(self, paper: PaperId) -> Label:
        return self._labels.setdefault(paper, Label(f"P{len(self._labels) + 1}"))

    def apply(self, value: Out) -> Out:
        """Return a copy of the value in which every marker, in texts and label fields, is replaced with its label."""
        return type(value).model_validate(self._replace_markers_in(value.model_dump()))

    def list_papers(self, known: Mapping[PaperId, Paper]) -> tuple[Paper, ...]:
        """Return the labelled papers in the order of their labels."""
        return tuple(known[paper] for paper in self._labels)

    def build_references(self, papers: Sequence[Paper]) -> tuple[Reference, ...]:
        """Return the references for labelled papers, sanitised. Every field comes from the paper's own record."""
        return tuple(_build_reference(self.assign_label(paper.id), paper) for paper in papers)

    def _replace_markers_in(self, value: Any, field: str = "") -> Any:
        if isinstance(value, str):
            if field in _VERBATIM_FIELDS:
                return value
            return self.assign_label(parse_marker(value)) if field == "label" else self._replace_markers(value)
        if isinstance(value, Mapping):
            return {key: self._replace_markers_in(item, key) for key, item in value.items()}
        if isinstance(value, Sequence):
            return [self._replace_markers_in(item) for item in value]
        return value

    def _replace_markers(self, text: str) -> str:
        """Replace markers with labels. Text that already resembles a label is put in parentheses, because it was never
        assigned."""
        text = LABEL.sub(lambda match: f"({match[1]})", text)
        return MARKER.sub(lambda match: f"[{self.assign_label(parse_marker(match[1]))}]", text)


def _sanitise_line(text: str) -> str:
    return " ".join(sanitise(text)[0].split())


def _build_reference(label: Label, paper: Paper) -> Reference:
    return Reference(
        label=label,
        id=paper.id,
        title=_sanitise_line(paper.title),
        authors=tuple(map(_sanitise_line, paper.authors)),
        publication_date=paper.publication_date,
        venue=_sanitise_line(paper.venue),
        url=paper.url,
        source=paper.source,
        retraction=paper.retraction,
        origins=paper.origins,
        other_records=tuple(map(_sanitise_line, paper.other_records)),
    )
