"""The notebook: what was thought after each step, in words. Appended to, never rewritten."""

from collections.abc import Mapping
from typing import NamedTuple

from assayer.citing.labels import MARKER, paper_of
from assayer.models import PaperId

__all__ = ["Notebook", "NotebookEntry"]

_DELETED = "(a paper since deleted)"


class NotebookEntry(NamedTuple):
    step: int
    text: str
    """Cites papers by markers."""


class Notebook(NamedTuple):
    """A value: appending gives a new one."""

    entries: tuple[NotebookEntry, ...] = ()

    def with_entry(self, step: int, text: str) -> "Notebook":
        return Notebook((*self.entries, NotebookEntry(step, text))) if text else self

    def text_of(self, step: int) -> str:
        """Empty where nothing was written."""
        return next((one.text for one in self.entries if one.step == step), "")

    def shown(self, labels: Mapping[PaperId, str], chars: int) -> tuple[NotebookEntry, ...]:
        """The newest entries that find room in so many characters, in their order, with a prompt's labels; papers that
        are not in the graph any more have none."""
        kept: list[NotebookEntry] = []
        room = chars
        for entry in reversed(self.entries):
            text = MARKER.sub(lambda found: _label(labels.get(paper_of(found[1]))), entry.text)
            room -= len(text)
            if room < 0 and kept:
                break
            kept.append(NotebookEntry(entry.step, text[:chars]))
        return tuple(reversed(kept))


def _label(label: str | None) -> str:
    return _DELETED if label is None else f"[{label}]"
