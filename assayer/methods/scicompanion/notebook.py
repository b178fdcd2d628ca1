"""Notebook with the reasoning after each step, as text. Entries are appended and never rewritten."""

from collections.abc import Mapping
from typing import NamedTuple

from assayer.citing.labels import MARKER, parse_marker
from assayer.models import PaperId

_DELETED = "(a paper since deleted)"


class NotebookEntry(NamedTuple):
    step: int
    text: str
    """The entry's text, which cites papers by markers."""


class Notebook(NamedTuple):
    """Immutable notebook; appending returns a new one."""

    entries: tuple[NotebookEntry, ...] = ()

    def add_entry(self, step: int, text: str) -> "Notebook":
        return Notebook((*self.entries, NotebookEntry(step, text))) if text else self

    def get_text(self, step: int) -> str:
        """Return a step's text, or an empty string if it has none."""
        return next((entry.text for entry in self.entries if entry.step == step), "")

    def fit_entries(self, labels: Mapping[PaperId, str], chars: int) -> tuple[NotebookEntry, ...]:
        """Return the newest entries that fit into `chars` characters, in their original order. Papers are labelled as
        in the prompt; papers that are no longer in the graph have no label."""
        shown_entries: list[NotebookEntry] = []
        remaining_chars = chars
        for entry in reversed(self.entries):
            text = MARKER.sub(lambda match: _format_label(labels.get(parse_marker(match[1]))), entry.text)
            remaining_chars -= len(text)
            if remaining_chars < 0 and shown_entries:
                break
            shown_entries.append(NotebookEntry(entry.step, text[:chars]))
        return tuple(reversed(shown_entries))


def _format_label(label: str | None) -> str:
    return _DELETED if label is None else f"[{label}]"
