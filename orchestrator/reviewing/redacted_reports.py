"""Redaction of reports for reviewers of a blind call, which removes everything that identifies the applicant.

The evaluation itself used only the masked text. However, a report also contains the name of the proposal, the masked
words, and the works that the proposal cites, with their authors."""

import re
from collections.abc import Iterator
from typing import Any

from assayer.models import Blinding, MaskedText, OwnReferences, Report

_MASK = "[masked]"
_WORD = re.compile(r"[^\W\d_]{3,}|[\u3040-\u9fff\uac00-\ud7af]{2}")
_LABEL = re.compile(r"^[^:：]{1,60}[:：]\s*(?=\S)")
"""Pattern for the label of a masked line: `Owner: Jane Roe`."""
_FIELDS_WITH_NAMES = {"text", "passage", "differences", "authors"}
"""Fields that can contain names, in an entry of the proposal's own references and in the record found for it."""


def build_numbered_title(row: int | None) -> str:
    """Return the title under which a proposal is shown if its real title must not be shown."""
    return "Proposal" if row is None else f"Proposal {row}"


def redact_report(report: Report, name: str) -> Report:
    """Return the report in the form that a reviewer is allowed to see; `name` replaces the sender's name of the
    proposal. A report of an evaluation that was not blind is returned unchanged."""
    idea = report.idea
    if idea.blinding is None:
        return report
    flags = tuple(
        flag if flag.excerpt in idea.text else flag.model_copy(update={"excerpt": _MASK}) for flag in idea.flags
    )
    blinding_counts = idea.blinding.model_copy(update={"masked": tuple(_count_masked(idea.blinding))})
    card = idea.model_copy(update={"source": name, "flags": flags, "blinding": blinding_counts})
    own_references = report.own_references
    if isinstance(own_references, OwnReferences) and (names := _list_masked_names(idea.blinding)):
        pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names))
        own_references = OwnReferences.model_validate(_mask_names(own_references.model_dump(), pattern))
    return report.model_copy(update={"idea": card, "own_references": own_references})


def _count_masked(blinding: Blinding) -> Iterator[MaskedText]:
    """Yield the number of masked passages of each kind, without their text."""
    counts = dict[Any, int]()
    for passage in blinding.masked:
        counts[passage.kind] = counts.get(passage.kind, 0) + passage.occurrences
    for kind, count in counts.items():
        yield MaskedText(kind=kind, text=_MASK, occurrences=count)


def _list_masked_names(blinding: Blinding) -> list[str]:
    """Return the masked names without labels, and their words other than lower-case ones, from longest to shortest.
    Single words are included because lists of references reorder and shorten names."""
    names = [_LABEL.sub("", passage.text) for passage in blinding.masked if passage.kind == "name"]
    words = {word for name in names for word in _WORD.findall(name) if not word[0].islower()}
    return sorted({*names, *words}, key=len, reverse=True)


def _mask_names(value: Any, names: re.Pattern[str], *, has_names: bool = False) -> Any:
    match value:
        case str():
            return names.sub(_MASK, value) if has_names else value
        case dict():
            return {key: _mask_names(item, names, has_names=key in _FIELDS_WITH_NAMES) for key, item in value.items()}
        case list() | tuple():
            return type(value)(_mask_names(item, names, has_names=has_names) for item in value)
        case _:
            return value
