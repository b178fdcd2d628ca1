"""Fields of proposal records: which fields hold the title, which hold text, and why others are not read.

Names differ between exports (`abstract_text`, `Project Summary`, `AbstractNarration`), so a field is recognised by the
words in its name, and an unknown field is read if its value is prose."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from assayer.ideas.record_vocabulary import (
    ENGLISH,
    FILLERS,
    FUNDING,
    GENERIC_TEXTS,
    INDEX_TERMS,
    KEYWORDS,
    LANGUAGES,
    NAME_WORDS,
    NAMED_THINGS,
    ORGANISATIONS,
    OTHER_TITLES,
    PARTS,
    PEOPLE,
    QUESTION_WORDS,
    REMARKS,
    SHOWN,
    SYNONYMS,
    TEXTS,
    TITLE_WORDS,
    TITLES,
)
from assayer.text.hidden_markup import find_hidden_spans
from assayer.text.markup import strip_markup
from assayer.text.scripts import normalise_words

PEOPLE_NAMED = "names of people"
_ORDER = {name: number for number, name in enumerate(PARTS)}
_MAX_DEPTH = 8
_TEXT_WORDS = 6
"""Minimum number of words for the value of an unknown field to count as prose."""
_LONG_TEXT_WORDS = 25
_MIN_QUESTION_WORDS = 3
_PERSON_NAME = re.compile(r"(?:[^\W\d_a-z][\w.'’-]{0,30},? ){1,3}[^\W\d_a-z][\w.'’-]{0,30}")
_LINK = re.compile(r"(?:https?|ftp)://\S+|www\.\S+|/(?:pdf|attachment)/\S+", re.IGNORECASE)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ].*)?|\w{3,9} \d{1,2},? \d{4}")
_NUMBER = re.compile(r"[-+$€£]?\d[\d,. ]*%?")
_MARKUP = re.compile(
    r"<(?:br|p|div|ul|ol|li|b|i|em|strong|sub|sup|span|h[1-6]|jats:\w+)\b[^<>]*>|&(?:[a-z]{2,8}|#\d{1,7}|#x[0-9a-f]{1,6});",
    re.IGNORECASE,
)


@lru_cache(maxsize=4_096)
def normalise_field_name(field: str) -> str:
    """Return a field's name in lower case with underscores between its words: `Abstract Text`, `abstractText` and
    `abstract-text` give the same name."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", field.strip())
    return re.sub(r"[\s_\-/.:()?!*,;\"“”’']+", "_", spaced).strip("_").casefold()


def format_field_name(field: str) -> str:
    """Return a field's name as a section title."""
    name = normalise_field_name(field)
    words = name.split("_")
    while len(words) > 1 and words[-1] in ("text", "txt", "narr", "narration"):
        words.pop()
    name = "_".join(words)
    return SHOWN.get(name) or " ".join(words).capitalize()


@lru_cache(maxsize=4_096)
def find_part_of_field(field: str) -> str | None:
    """Return the part of an idea that a field holds, judged by the field's name; None if the name does not indicate a
    part."""
    name = normalise_field_name(field)
    if name in _ORDER:
        return name
    for candidate in (name, "_".join(word for word in name.split("_") if word not in FILLERS | LANGUAGES)):
        if part := SYNONYMS.get(candidate, candidate if candidate in _ORDER else None):
            return part
    return None


def part_order(field: str) -> int | None:
    """Return the position of a field among the parts of an idea, or None if its name does not indicate a part."""
    part = find_part_of_field(field)
    return None if part is None else _ORDER[part]


def is_text_field(field: str) -> bool:
    """Return whether a field, judged by its name, can hold the text of an idea; a title cannot."""
    return normalise_field_name(field) in TEXTS or find_part_of_field(field) is not None


def is_generic_text(field: str) -> bool:
    """Return whether a column's name says only that it holds text: `Description`, `Project narrative`."""
    words = set(normalise_field_name(field).split("_"))
    return bool(words & GENERIC_TEXTS) and words <= GENERIC_TEXTS | FILLERS


def title_field(fields: Iterable[str]) -> str | None:
    """Return the field that holds the title, or None."""
    names = {normalise_field_name(field): field for field in reversed(list(fields))}
    for title in TITLES:
        if title in names:
            return names[title]
    titles = [(name, field) for name, field in names.items() if _is_title(name)]
    english = (field for name, field in titles if not ENGLISH.isdisjoint(name.split("_")))
    return next(english, next((field for _, field in titles), None))


def is_question(field: str) -> bool:
    """Return whether a column's name is a question of a form, such as `Why is it needed?`."""
    words = normalise_field_name(field).split("_")
    return len(words) >= _MIN_QUESTION_WORDS and words[0] in QUESTION_WORDS


def without_language(field: str) -> str:
    """Return a field's normal name without the words that say in which language its text is."""
    return "_".join(word for word in normalise_field_name(field).split("_") if word not in LANGUAGES)


def asks_for_person(name: str) -> bool:
    """Return whether a field asks for the name of a person: `Your name`. A field `name` alone may name anything."""
    words = set(name.split("_"))
    return len(words) > 1 and bool(words & NAME_WORDS) and not words & NAMED_THINGS


def _names_person(name: str, value: Any) -> bool:
    return asks_for_person(name) and len(normalise_words(extract_field_text(value))) < _LONG_TEXT_WORDS


def is_person_name(value: Any) -> bool:
    """Return whether a value has the form of a person's name: two to four capitalised words."""
    return isinstance(value, str) and _PERSON_NAME.fullmatch(value.strip()) is not None


def _is_title(name: str) -> bool:
    words = set(name.split("_"))
    return bool(words & TITLE_WORDS) and not words & OTHER_TITLES


def why_unread(field: str, value: Any) -> str | None:
    """Return why a field of a record is not read as text, or None if it is read."""
    name = normalise_field_name(field)
    words = set(name.split("_"))
    reason = None
    if not isinstance(value, str | list | Mapping):
        reason = "a number" if isinstance(value, int | float) and not isinstance(value, bool) else "not text"
    elif name in REMARKS or (name.startswith("review") and not words & PEOPLE and find_part_of_field(field) is None):
        reason = "a remark about the proposal"
    elif (words & PEOPLE or name.endswith("_by") or _names_person(name, value)) and not words & KEYWORDS:
        reason = PEOPLE_NAMED
    elif name in FUNDING:
        reason = "the funding"
    elif words & TITLE_WORDS and find_part_of_field(field) is None:
        reason = "another title"
    elif name in INDEX_TERMS:
        reason = "index terms"
    elif find_part_of_field(field) is not None or (
        name in KEYWORDS and any(map(str.islower, extract_field_text(value)))
    ):
        pass
    elif words & ORGANISATIONS and len(normalise_words(extract_field_text(value))) < _LONG_TEXT_WORDS:
        reason = "names of organisations or places"
    else:
        reason = _why_not_prose(extract_field_text(value))
    return reason


def _why_not_prose(text: str) -> str | None:
    line = text.strip()
    if not line:
        return "not text"
    for pattern, reason in ((_LINK, "a link"), (_DATE, "a date"), (_NUMBER, "a number")):
        if pattern.fullmatch(line):
            return reason
    if len(normalise_words(line)) < _TEXT_WORDS:
        return "too short to be prose"
    letters = [character for character in line if character.isalpha()]
    cased = sum(character.isupper() for character in letters)
    return "not prose" if not letters or (cased and cased > 0.8 * len(letters)) else None


def extract_field_text(value: Any, depth: int = 0) -> str:
    """Return the text of a field: strings without markup, lists as items, objects as named parts including their
    numbers. A number alone is not text."""
    if isinstance(value, str):
        return _strip_markup(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value) if depth else ""
    if depth < _MAX_DEPTH and isinstance(value, list):
        items = [words for item in value if (words := extract_field_text(item, depth + 1))]
        return "\n".join(f"- {item}" for item in items)
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        parts = {name: words for name, item in value.items() if (words := extract_field_text(item, depth + 1))}
        return "\n\n".join(f"**{name}**: {words}" for name, words in parts.items())
    return ""


def _strip_markup(text: str) -> str:
    """Return the text without the tags and entities of an export. Elements that hide text are left unchanged, so that
    the sanitiser finds them."""
    text = text.replace("_x000D_", "").strip()
    if not _MARKUP.search(text) or find_hidden_spans(text):
        return text
    return strip_markup(text, len(text))
