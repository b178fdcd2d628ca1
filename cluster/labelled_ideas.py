"""Reader of labelled ideas from JSON Lines files with configurable field names."""

import datetime as dt
import gzip
import hashlib
import json
import zlib
from calendar import monthrange
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.errors import InputError
from assayer.ideas.parsing import check_length
from assayer.methods.grapheval.graph.records import LabelledIdea
from assayer.models import IdeaId
from assayer.text.sanitise import sanitise
from cluster.whole_files import read_whole

_IDS, _TITLES, _TEXTS, _URLS = ("id", "paper_id"), ("title",), ("text", "abstract", "idea"), ("url",)
_MAX_SHOWN_PROBLEMS = 5


class FieldNames(NamedTuple):
    """Names of the fields for the outcome and the date, which differ between sources."""

    label: str = "label"
    date: str = "date"


def read_labelled_ideas(paths: Sequence[Path], fields: FieldNames) -> list[LabelledIdea]:
    """Read the ideas on every line of every file, in order. Raises InputError, which names the first unusable lines,
    because a graph must not be built from only part of its sources."""
    ideas: list[LabelledIdea] = []
    problems: list[str] = []
    for path in paths:
        for place, line in _read_lines(path):
            try:
                ideas.append(_parse_idea(line, fields, place))
            except InputError as error:
                problems.append(error.message)
    if problems:
        remainder_text = (
            f" (and {len(problems) - _MAX_SHOWN_PROBLEMS} more)" if len(problems) > _MAX_SHOWN_PROBLEMS else ""
        )
        raise InputError(
            f"{' '.join(problems[:_MAX_SHOWN_PROBLEMS])}{remainder_text}", "Correct these lines; no ideas were added."
        )
    if not ideas:
        raise InputError(
            f"{', '.join(map(str, paths))} contains no ideas.", "Pass JSON Lines with a text on every line."
        )
    return ideas


def derive_outcome_classes(ideas: Sequence[LabelledIdea], names: Sequence[str]) -> tuple[str, ...]:
    """Return a new graph's outcomes: `names`, ordered from worst to best or, if empty, the ideas' labels in
    alphabetical order.

    Raises InputError if labels are missing, unknown or all the same."""
    unlabelled = [idea for idea in ideas if idea.label is None]
    if unlabelled:
        raise InputError(
            f"{len(unlabelled)} of {len(ideas)} ideas have no label (first: {unlabelled[0].id!r}).",
            "Use --label-field to name the field that holds the label. To add unlabelled ideas later, use `assayer "
            "graph add`.",
        )
    labels = sorted({idea.label for idea in ideas if idea.label is not None})
    if unknown := [label for label in labels if names and label not in names]:
        raise InputError(
            f"The label {unknown[0]!r} is not one of {', '.join(names)}.", "Pass all outcomes with --classes."
        )
    if len(labels) < 2:
        raise InputError(
            f"All {len(ideas)} ideas have the label {labels[0]!r}; at least two different outcomes are needed.",
            "Add ideas with a different outcome.",
        )
    if len(set(names)) != len(names):
        raise InputError("--classes contains a duplicate outcome.")
    return tuple(names) or tuple(labels)


def _read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the location (file and line number) and the text of each non-blank line."""
    data = read_whole(path)
    try:
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError):
        raise InputError(
            f"{path} is not UTF-8 text or is a damaged .gz file.", "Pass .jsonl or .jsonl.gz files."
        ) from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path.name}:{number}", line


def _parse_idea(line: str, fields: FieldNames, place: str) -> LabelledIdea:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{place} is not JSON.") from None
    if not isinstance(record, dict):
        raise InputError(f"{place} is not a JSON object.")
    title, text = _read_text(record, _TITLES, place), _read_text(record, _TEXTS, place)
    if not text:
        raise InputError(f"{place} has no text in any of the fields {', '.join(_TEXTS)}.")
    check_length(text, place)
    digest = hashlib.sha256(f"{title} {text}".encode()).hexdigest()[:16]
    return LabelledIdea(
        id=IdeaId(_read_text(record, _IDS, place) or digest),
        title=" ".join(title.split()) or _cut_beginning(text),
        text=text,
        label=_read_text(record, (fields.label,), place) or None,
        date=_parse_date(_read_text(record, (fields.date, "publication_date", "year"), place), place),
        url=_read_text(record, _URLS, place),
    )


def _read_text(record: dict[str, object], names: Sequence[str], place: str) -> str:
    """Return the sanitised text of the first of these fields that is present; numbers are converted to text."""
    value = next((record[name] for name in names if record.get(name) not in (None, "")), "")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{place}: {names[0]!r} must be a string or a number.")
    return sanitise(str(value))[0].strip()


def _parse_date(text: str, place: str) -> dt.date | None:
    """Return the last day of the period in `text` (YYYY, YYYY-MM or YYYY-MM-DD), or None if `text` is empty."""
    if not text:
        return None
    parts = text[:10].split("-")
    try:
        numbers = [int(part) for part in parts]
        if len(numbers) == 1:
            return dt.date(numbers[0], 12, 31)
        if len(numbers) == 2:
            return dt.date(numbers[0], numbers[1], monthrange(*numbers)[1])
        return dt.date(*numbers[:3])
    except (ValueError, TypeError):
        raise InputError(f"{place}: {text!r} is not a date; write YYYY-MM-DD, YYYY-MM or YYYY.") from None


def _cut_beginning(text: str) -> str:
    words = text.split()
    return " ".join(words[:12]) + ("…" if len(words) > 12 else "")
