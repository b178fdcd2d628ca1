"""Forms of proposal records: wrapped in an API response, with their fields in a nested object, or keyed by their names.
Records are recognised by shape, so that unknown export formats are read too."""

from collections.abc import Iterator, Mapping
from typing import Any

from assayer.ideas.exports import flatten_grant, is_form
from assayer.ideas.record_fields import (
    is_generic_text,
    is_question,
    is_text_field,
    normalise_field_name,
    title_field,
    why_unread,
)
from assayer.text.scripts import normalise_words

_MAX_DEPTH = 5
_CONTENT = "content"
"""Field of an OpenReview note that holds the fields of its submission form."""
_WRAPPERS = frozenset({"idea", "data", "proposal", "text"})
"""Fields that hold text, or records with text."""
_INVERTED = "abstract_inverted_index"
_PROSE_WORDS = 20
"""Minimum number of words in an unknown field for its object to count as the record of an idea."""
_VALUE = "value"
"""Field in which version 2 of OpenReview's API wraps every value."""
_REVIEW_FIELDS = frozenset({"rating", "review", "recommendation", "decision", "metareview", "confidence"})


def holds_idea(fields: Any) -> bool:
    """Return whether any of the columns can hold the text of an idea; a title alone cannot."""
    names = [str(field) for field in fields]
    if any(is_text_field(name) or is_generic_text(name) for name in names):
        return True
    return is_form({normalise_field_name(name) for name in names}) and any(map(is_question, names))


def records_in(content: Any) -> list[Any]:
    """Return the records in decoded JSON: the items of a list, the records wrapped in an API response, ideas keyed by
    their names (with the name as title), or else the content itself."""
    if isinstance(content, list):
        return [record for item in content for record in (records_in(item) if _is_wrapper(item) else [item])]
    if not isinstance(content, Mapping) or _is_record(flatten_record(content)):
        return [content]
    return next((found for found in _levels(content) if found), None) or [content]


def _is_wrapper(item: Any) -> bool:
    return isinstance(item, list) or (
        isinstance(item, Mapping) and len(item) == 1 and not _is_record(flatten_record(item))
    )


def _levels(content: Mapping[Any, Any]) -> Iterator[list[Any]]:
    """Yield the records on each level of nesting, the outermost first."""
    level: list[Mapping[Any, Any]] = [content]
    for _ in range(_MAX_DEPTH):
        below: list[Mapping[Any, Any]] = []
        found: list[Any] = []
        for parent in level:
            for name, wrapped in parent.items():
                value = _unwrap(wrapped)
                children = [value] if isinstance(value, Mapping) else value if isinstance(value, list) else []
                objects = [child for item in children for child in (item if isinstance(item, list) else [item])]
                objects = [child for child in objects if isinstance(child, Mapping)]
                below += objects
                found += [
                    _add_title_from_key(child, str(name)) for child in objects if _is_record(flatten_record(child))
                ]
        yield found
        level = below


def _add_title_from_key(record: Mapping[Any, Any], name: str) -> Mapping[Any, Any]:
    """Return the record with its key as the title, if it has no title and the key consists of several words."""
    if len(name.split()) < 2 or title_field(map(str, flatten_record(record))) is not None:
        return record
    return {"title": name, **record}


def flatten_record(record: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fields of a record by name. A note's content, or the only object that holds an idea, is replaced by
    its fields, and wrapped values are unwrapped."""
    fields = {str(name): _unwrap(value) for name, value in record.items()}
    fields = flatten_grant(fields) or fields
    if isinstance(fields.get(_INVERTED), Mapping):
        fields = {"abstract": _rebuild_text(fields.pop(_INVERTED)), **fields}
    inner = next((name for name in fields if normalise_field_name(name) == _CONTENT), None)
    if inner is None and not _is_record(fields):
        nested = [name for name, value in fields.items() if isinstance(value, Mapping) and _is_record(value)]
        inner = nested[0] if len(nested) == 1 else None
    if inner is None or not isinstance(fields[inner], Mapping):
        return fields
    content = {str(name): _unwrap(value) for name, value in fields.pop(inner).items()}
    if normalise_field_name(inner) != _CONTENT and len(inner.split()) > 1 and title_field(content) is None:
        content = {"title": inner, **content}
    return content | {name: value for name, value in fields.items() if name not in content}


def _rebuild_text(index: Mapping[Any, Any]) -> str:
    """Rebuild a text from an inverted index that maps words to positions, as OpenAlex stores abstracts."""
    places = {place: word for word, found in index.items() if isinstance(found, list) for place in found}
    return " ".join(
        str(places[place]) for place in sorted(places, key=lambda place: place if isinstance(place, int) else -1)
    )


def _is_record(fields: Mapping[Any, Any]) -> bool:
    """Return whether an object holds the text of an idea directly, and not only in nested objects."""
    return any(_is_text(str(name), _unwrap(value)) for name, value in fields.items())


def _is_text(name: str, value: Any) -> bool:
    if not value or not isinstance(value, str | list | Mapping):
        return False
    if not is_text_field(name):
        return (
            isinstance(value, str) and why_unread(name, value) is None and len(normalise_words(value)) >= _PROSE_WORDS
        )
    if normalise_field_name(name) not in _WRAPPERS or isinstance(value, str):
        return True
    objects = [value] if isinstance(value, Mapping) else [item for item in value if isinstance(item, Mapping)]
    return not any(_is_record(flatten_record(item)) for item in objects)


def _unwrap(value: Any) -> Any:
    if isinstance(value, Mapping) and _VALUE in value and set(value) <= {_VALUE, "readers", "writers"}:
        return value[_VALUE]
    return value


def is_review(fields: Mapping[str, Any]) -> bool:
    """Return whether the fields are those of a review or decision, and not of a proposal."""
    names = {normalise_field_name(name) for name in fields}
    return bool(names & _REVIEW_FIELDS) and title_field(fields) in (None, "title")
