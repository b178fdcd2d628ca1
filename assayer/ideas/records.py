"""Ideas in JSON: which fields are read, and how."""

import datetime as dt
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from assayer.errors import InputError
from assayer.ideas.exports import METADATA, find_export, is_form, metadata_fields, person_names
from assayer.ideas.parsing import idea_of_document, parse_idea
from assayer.ideas.record_fields import (
    PEOPLE_NAMED,
    extract_field_text,
    find_part_of_field,
    format_field_name,
    is_person_name,
    normalise_field_name,
    part_order,
    title_field,
    why_unread,
    without_language,
)
from assayer.ideas.record_forms import flatten_record, is_review
from assayer.ideas.record_vocabulary import ENGLISH, LISTS, TEXTS
from assayer.models import CitedWork, Document, FrontMatterField, Idea, Section, UnreadPart
from assayer.reference_lists.bibliography_files import object_entries
from assayer.reference_lists.list_titles import list_title

_MAX_NAMED = 12
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(?P<inner>.*)\n\s*```\s*", re.DOTALL)
_READ_ELSEWHERE = ("id", "cutoff")


def decode_json(text: str, source: str) -> Any:
    """Decode JSON, with or without the code fence that language models add. Raises InputError with line and column."""
    try:
        return json.loads(match["inner"] if (match := _FENCED.fullmatch(text)) else text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{source} is not valid JSON: {error.msg} at {place}.", "Check quotes and commas.") from None
    except RecursionError:
        raise InputError(f"{source}: the JSON is nested too deeply.") from None
    except ValueError as error:
        raise InputError(f"{source} is not valid JSON: {error}.") from None


def _cutoff(value: Any, source: str, latest: dt.date | None) -> dt.date | None:
    if value is None:
        return None
    remedy = "Write it as YYYY-MM-DD, for example 2024-09-30."
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise InputError(f"{source}: the cutoff {value!r} is not a date.", remedy, "cutoff")
    try:
        day = dt.date.fromisoformat(value)
    except ValueError as error:
        raise InputError(f"{source}: the cutoff {value!r} is not a date: {error}.", remedy, "cutoff") from None
    if latest and day > latest:
        raise InputError(f"{source}: the cutoff {value} is in the future.", f"Use a date up to {latest}.", "cutoff")
    return day


def record_source(record: Any, source: str) -> str:
    """Return the display name of a record: its position, and the sender's `id` if it has one. The sender's id is only
    displayed; assayer assigns its own id to the idea."""
    if not isinstance(record, Mapping):
        return source
    value = next((value for name, value in record.items() if normalise_field_name(str(name)) == "id"), None)
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        return source
    return f"{source} ({format_reference(str(value))})"


def format_reference(value: str) -> str:
    """Return the sender's id in the form in which it is displayed."""
    return re.sub(r"[^\w.-]+", "_", value.strip())[:80]


class _ReadFields(NamedTuple):
    text: str
    """Text of the field that holds the whole text; empty if there is none."""
    sections: list[Section]
    left_out: list[UnreadPart]
    people: list[FrontMatterField]
    references: list[CitedWork]


def idea_of_record(record: Any, source: str, latest_cutoff: dt.date | None = None) -> Idea:
    """Create an idea from a JSON string, or an object with `text` or fields that hold parts of an idea. Every other
    field is named in the reading record with the reason. Raises InputError."""
    if isinstance(record, str):
        return parse_idea(record, source)
    if not isinstance(record, Mapping):
        kind = {list: "a list", type(None): "null", bool: "true or false"}.get(type(record), "a number")
        raise InputError(
            f"{source} is {kind}, not an idea.", "Use an object with a `text`, or with `problem`, `method` …"
        )
    fields = flatten_record(record)
    source = record_source(record, source)
    cutoff = _cutoff(
        next((fields[name] for name in fields if normalise_field_name(name) == "cutoff"), None), source, latest_cutoff
    )
    titled = title_field(fields) or _find_name_as_title(fields)
    title = fields[titled] if titled is not None else None
    title = title[0] if isinstance(title, list) and len(title) == 1 else title
    if title is not None and not isinstance(title, str):
        raise InputError(f"{source}: `title` is not a string.", "Put it in quotes.", "title")
    title = extract_field_text(title or "") or None
    read = _read_fields({name: value for name, value in fields.items() if name != titled})
    if read.text:
        known = Document(
            front_matter=tuple(read.people), references=tuple(read.references), left_out=tuple(read.left_out)
        )
        return parse_idea(read.text, source, title, cutoff, known)
    has_parts = any(find_part_of_field(name) for name in fields)
    is_export = not is_form({normalise_field_name(name) for name in fields}) and find_export(record) is not None
    is_refused = not has_parts and (is_review(fields) or is_export)
    if not read.sections or is_refused:
        raise _refusal(record, fields, source)
    document = Document(
        front_matter=tuple(read.people),
        sections=tuple(read.sections),
        references=tuple(read.references),
        left_out=tuple(read.left_out),
    )
    return idea_of_document(document, source, title, cutoff)


def _find_name_as_title(fields: Mapping[str, Any]) -> str | None:
    """Return the field `name` if it can be the title: in a record without a title, unless a person is named."""
    named = (name for name in fields if normalise_field_name(name) == "name")
    return next((name for name in named if isinstance(fields[name], str) and not is_person_name(fields[name])), None)


def _refusal(record: Mapping[Any, Any], fields: Mapping[str, Any], source: str) -> InputError:
    named = ", ".join(map(repr, list(record)[:_MAX_NAMED])) or "none"
    if is_review(fields):
        return InputError(
            f"{source} looks like a review or decision, not a proposal; its fields are: {named}.",
            "Use the record of the submission itself.",
        )
    if export := find_export(record):
        return InputError(f"{source} looks like {export.name}; its fields are: {named}.", export.remedy)
    return InputError(
        f"{source} does not contain the text of an idea; its fields are: {named}.",
        "Add a `text`, or fields such as `title` and `abstract`, or `problem`, `method` and `experiment`.",
    )


def _read_fields(fields: Mapping[str, Any]) -> _ReadFields:
    """Return the text and sections of a record. Known parts come in their usual order; an unknown field comes after the
    field that precedes it in the record."""
    text = next(
        (
            words
            for name in fields
            if normalise_field_name(name) in TEXTS and (words := extract_field_text(fields[name]))
        ),
        "",
    )
    placed: list[tuple[int, Section]] = []
    left_out: list[UnreadPart] = []
    people: list[FrontMatterField] = []
    references: list[CitedWork] = []
    place = 0
    metadata = metadata_fields(fields)
    repeated = _find_repeated_fields(fields)
    for name, value in fields.items():
        if normalise_field_name(name) in (*_READ_ELSEWHERE, *TEXTS) or value in (None, "", [], {}):
            continue
        if works := _read_listed_works(name, value):
            references += works
            if untitled := len(value) - len(works):
                left_out.append(
                    UnreadPart(part=f'{untitled} entries of the field "{name}"', reason="they have no title")
                )
            continue
        reason = METADATA if name in metadata else why_unread(name, value)
        if normalise_field_name(name) == "name" and is_person_name(value):
            reason = PEOPLE_NAMED
        elif reason is None and name in repeated:
            reason = f'it is the field "{repeated[name]}" in another language'
        words = "" if reason else extract_field_text(value)
        if text and words:
            reason = "the record has a separate text field"
        if reason == PEOPLE_NAMED:
            people.append(
                FrontMatterField(
                    name=normalise_field_name(name),
                    value="; ".join(person_names(value)) or "; ".join(extract_field_text(value).split("\n")),
                )
            )
        elif reason or not words:
            left_out.append(_describe_unread_field(name, reason or "not text"))
        else:
            order = part_order(name)
            place = place if order is None else order
            placed.append((place, Section(title=format_field_name(name), text=words)))
    return _ReadFields(
        text, [section for _, section in sorted(placed, key=lambda item: item[0])], left_out, people, references
    )


def _find_repeated_fields(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that are translations of another field, mapped to the field that is read: the English one
    if there is one, otherwise the first."""
    groups: dict[str, list[str]] = {}
    for name, value in fields.items():
        if isinstance(value, str) and value.strip():
            groups.setdefault(without_language(name), []).append(name)
    repeated: dict[str, str] = {}
    for names in groups.values():
        read = next((name for name in names if not ENGLISH.isdisjoint(normalise_field_name(name).split("_"))), names[0])
        repeated |= {name: read for name in names if name != read}
    return repeated


def _read_listed_works(name: str, value: Any) -> list[CitedWork]:
    """Return the works in a field whose value is a reference list of objects; empty for other fields."""
    if not isinstance(value, list | Mapping) or not (
        normalise_field_name(name) in LISTS or list_title(format_field_name(name))
    ):
        return []
    items = list(value.values()) if isinstance(value, Mapping) else value
    return [entry.work for entry in object_entries(items)]


@lru_cache(maxsize=256)
def _describe_unread_field(name: str, why: str) -> UnreadPart:
    """Return the remark about a field that is not read. All rows of a table share one remark."""
    return UnreadPart(part=f'the field "{name}"', reason=why)
