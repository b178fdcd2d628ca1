"""Labels of documents, and matching of labelled entries with entries read."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from assayer.models import CitedWork, Frozen

_SEQUENCE_LENGTH = 5
"""Length of the letter sequences that are compared, which tolerate line ends and hyphens."""
_MIN_TITLE_OVERLAP, _MIN_ENTRY_OVERLAP = 0.8, 0.35
"""Minimum shares of the letter sequences of a title and of an entry that a matching entry must contain."""
_MAX_LENGTH_RATIO = 1.6
"""Maximum length of an entry read, as a multiple of the labelled one."""


class Label(Frozen):
    text: str
    work: CitedWork | None = None
    partial: bool = False


class LabelledDocument(Frozen):
    document: str
    kind: str
    entries: tuple[Label, ...]
    source: str = ""


class Matches(NamedTuple):
    pairs: dict[int, int]
    """Positions of the entries read, by the position of the matching label."""
    extra: int


def keep_letters(text: str) -> str:
    """Return the letters and digits of a text without accents and case."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKD", text).casefold())


def covers(text: str, part: str, share: float = _MIN_TITLE_OVERLAP) -> bool:
    """Return whether a text contains at least this share of the letter sequences of `part`."""
    return _compute_overlap(text, part) >= share


def _compute_overlap(text: str, part: str) -> float:
    part_sequences = _split_sequences(part)
    return len(part_sequences & _split_sequences(text)) / len(part_sequences)


def _split_sequences(text: str) -> set[str]:
    text_letters = keep_letters(text)
    return {
        text_letters[start : start + _SEQUENCE_LENGTH]
        for start in range(max(1, len(text_letters) - _SEQUENCE_LENGTH + 1))
    }


def match_entries(labels: Sequence[Label], entries: Sequence[str]) -> Matches:
    """Pair each entry read with the labelled entry that it matches best. An entry that contains two labelled entries is
    too long to match either."""
    pairs: dict[int, int] = {}
    extra = 0
    for number, text in enumerate(entries):
        candidates = [position for position, label in enumerate(labels) if _is_match(label, text)]
        candidates.sort(key=lambda position: _compute_overlap(text, labels[position].text), reverse=True)
        extra += not candidates
        best = next((position for position in candidates if position not in pairs), None)
        if best is not None and _is_short_enough(labels[best], text):
            pairs[best] = number
    return Matches(pairs, extra)


def _is_match(label: Label, text: str) -> bool:
    title = label.work.title if label.work else ""
    # Some styles print no titles.
    printed_text = title if title and covers(label.text, title) else label.text
    return covers(text, label.text, _MIN_ENTRY_OVERLAP) and covers(text, printed_text)


def _is_short_enough(label: Label, text: str) -> bool:
    return label.partial or len(keep_letters(text)) <= _MAX_LENGTH_RATIO * len(keep_letters(label.text)) + 60
