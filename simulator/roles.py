"""Purpose of a string in an answer, inferred from its property's name, pattern and description."""

import re
from typing import Any, Literal

Role = Literal["label", "quote", "name", "query", "statement", "question", "plan", "text"]

_ROLES: dict[str, Role] = {
    "label": "label",
    "labels": "label",
    "paper": "label",
    "papers": "label",
    "cites": "label",
    "cited": "label",
    "point": "label",
    "quote": "quote",
    "quotes": "quote",
    "quote_done": "quote",
    "quote_found": "quote",
    "quote_under": "quote",
    "excerpt": "quote",
    "carried": "quote",
    "abstract_words": "quote",
    "idea_words": "quote",
    "name": "name",
    "names": "name",
    "title": "name",
    "topic": "name",
    "heading": "name",
    "query": "query",
    "queries": "query",
    "keywords": "query",
    "literature": "query",
    "web": "query",
    "code": "query",
    "data": "query",
    "question": "question",
    "idea": "plan",
    "statement": "statement",
    "statements": "statement",
    "contribution": "statement",
    "contributions": "statement",
    "description": "statement",
}
_LETTERS = {"paper": "P", "papers": "P", "cites": "P", "cited": "P"}
_LABEL_PATTERN = re.compile(r"^\^?(?:\\\[)?\(?(?:\?:)?([A-Z])(?:\\d|\[0-9\]|\[1-9\])")
_LABEL_DESCRIBED = re.compile(r"^(?:A )?(?:label|node)s? |^[A-Z]\d+, |(?:e\.g\.|, as) [A-Z]\d", re.IGNORECASE)
_LABEL_MENTIONED = re.compile(r"\b([A-Z])\d+\b")
_WORDS = re.compile(r"(?:(\d+) to |at most |up to )(\d+) (?:\w+ )?words", re.IGNORECASE)
_EMPTY = re.compile(r"\bempty\b.{0,12}\b(?:if|unless|when)\b", re.IGNORECASE)
_CHARACTERS_PER_WORD = 6
_USUAL_LENGTH = (0, 300)
_CITES = re.compile(r"\bcit(?:e|es|ed|ing|ation|ations)\b|\blabels?\b|\[[A-Z]\d+\]", re.IGNORECASE)
_CITES_NOT = re.compile(r"\b(?:no|not|never|without)\b[^.;]*\b(?:cit(?:e|es|ing|ation)|labels?)\b", re.IGNORECASE)


def infer_role(name: str, schema: dict[str, Any]) -> Role:
    """Return the role of a string. `name` is the name of its property, or of the array that contains it."""
    if _LABEL_PATTERN.match(schema.get("pattern", "")) or _LABEL_DESCRIBED.search(schema.get("description", "")):
        return "label"
    return _ROLES.get(name.lower(), "text")


def infer_label_letter(name: str, schema: dict[str, Any]) -> str | None:
    """Return the letter of the expected labels, such as `P` for `^P\\d+$`; None if pattern, description and name do not
    state it."""
    pattern = _LABEL_PATTERN.match(schema.get("pattern", ""))
    if pattern:
        return pattern[1]
    label_match = _LABEL_MENTIONED.search(schema.get("description", ""))
    return label_match[1] if label_match else _LETTERS.get(name.lower())


def cites_labels(description: str) -> bool:
    """Return whether a text with this description is expected to contain labels such as `[P2]`."""
    return bool(_CITES.search(description)) and not _CITES_NOT.search(description)


def parse_usual_length(description: str) -> tuple[int, int]:
    """Return the minimum and maximum number of characters for a description such as "10 to 70 words"."""
    match = _WORDS.search(description)
    if match is None:
        return _USUAL_LENGTH
    return int(match[1] or 0) * _CHARACTERS_PER_WORD, int(match[2]) * _CHARACTERS_PER_WORD


def may_stay_empty(description: str) -> bool:
    """Return whether the description allows an empty value in some cases."""
    return bool(_EMPTY.search(description))
