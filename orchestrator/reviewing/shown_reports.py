"""What a reviewer of a blind call may read of a proposal and its report: not what says whose it is.

What judged the proposal saw masked words alone, but a report also says what it is called, which words were masked and
which works it cites, with their authors.
"""

import re
from collections.abc import Iterator
from typing import Any

from assayer.models import OwnReferences, Report
from assayer.models.blinding import Blinding, MaskedText

__all__ = ["numbered_title", "report_for_reviewer"]

_MASK = "[masked]"
_WORD = re.compile(r"[^\W\d_]{3,}")
_WITH_NAMES = {"text", "passage", "differences", "authors"}
"""Of an entry of the proposal's own references, and of the record that was found for it."""


def numbered_title(row: int | None) -> str:
    """Of a proposal whose title nobody may read."""
    return "Proposal" if row is None else f"Proposal {row}"


def report_for_reviewer(report: Report, name: str) -> Report:
    """`name` takes the place of the sender's. One that was not judged blind stays as it is."""
    idea = report.idea
    if idea.blinding is None:
        return report
    flags = tuple(
        flag if flag.excerpt in idea.text else flag.model_copy(update={"excerpt": _MASK}) for flag in idea.flags
    )
    counted = Blinding(rules=idea.blinding.rules, masked=tuple(_kinds(idea.blinding)))
    card = idea.model_copy(update={"source": name, "flags": flags, "blinding": counted})
    own = report.own_references
    if isinstance(own, OwnReferences) and (names := _names(idea.blinding)):
        pattern = re.compile("|".join(rf"(?<!\w){re.escape(one)}(?!\w)" for one in names))
        own = OwnReferences.model_validate(_without(own.model_dump(), pattern))
    return report.model_copy(update={"idea": card, "own_references": own})


def _kinds(blinding: Blinding) -> Iterator[MaskedText]:
    """How often each kind was masked, without the words."""
    times = dict[Any, int]()
    for one in blinding.masked:
        times[one.kind] = times.get(one.kind, 0) + one.times
    for kind, count in times.items():
        yield MaskedText(kind=kind, text=_MASK, times=count)


def _names(blinding: Blinding) -> list[str]:
    """Masked names, and each word of them, the longest first: a list of references turns and shortens names."""
    said = [one.text for one in blinding.masked if one.kind == "name"]
    words = {word for name in said for word in _WORD.findall(name) if word[0].isupper()}
    return sorted({*said, *words}, key=len, reverse=True)


def _without(value: Any, names: re.Pattern[str], *, named: bool = False) -> Any:
    match value:
        case str():
            return names.sub(_MASK, value) if named else value
        case dict():
            return {key: _without(one, names, named=key in _WITH_NAMES) for key, one in value.items()}
        case list() | tuple():
            return type(value)(_without(one, names, named=named) for one in value)
        case _:
            return value
