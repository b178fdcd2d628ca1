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
_CHARACTERS_A_WORD = 6
_USUAL_LENGTH = (0, 300)
_CITES = re.compile(r"\bcit(?:e|es|ed|ing|ation|ations)\b|\blabels?\b|\[[A-Z]\d+\]", re.IGNORECASE)
_CITES_NOT = re.compile(r"\b(?:no|not|never|without)\b[^.;]*\b(?:cit(?:e|es|ing|ation)|labels?)\b", re.IGNORECASE)


def role(name: str, schema: dict[str, Any]) -> Role:
    """`name` is the property's; that of an array stands for its items."""
    if _LABEL_PATTERN.match(schema.get("pattern", "")) or _LABEL_DESCRIBED.search(schema.get("description", "")):
        return "label"
    return _ROLES.get(name.lower(), "text")


def label_letter(name: str, schema: dict[str, Any]) -> str | None:
    """Which labels are meant: `P` in `^P\\d+$`; None when neither pattern, name nor description says."""
    pattern = _LABEL_PATTERN.match(schema.get("pattern", ""))
    if pattern:
        return pattern[1]
    mentioned = _LABEL_MENTIONED.search(schema.get("description", ""))
    return mentioned[1] if mentioned else _LETTERS.get(name.lower())


def cites_labels(description: str) -> bool:
    """Whether a text so described is expected to contain `[P2]`."""
    return bool(_CITES.search(description)) and not _CITES_NOT.search(description)


def usual_length(description: str) -> tuple[int, int]:
    """Characters that "10 to 70 words" or "at most 15 words" come to."""
    words = _WORDS.search(description)
    if words is None:
        return _USUAL_LENGTH
    return int(words[1] or 0) * _CHARACTERS_A_WORD, int(words[2]) * _CHARACTERS_A_WORD


def may_stay_empty(description: str) -> bool:
    """Whether there are cases in which an empty text is the right one."""
    return bool(_EMPTY.search(description))
