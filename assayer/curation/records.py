"""Papers and research questions in JSON: the fields that are read, and the constraints on each line."""

import hashlib
from collections.abc import Mapping
from typing import Any

from assayer.errors import InputError
from assayer.models import TextFlag
from assayer.models.curation import ResearchQuestion, SourcePaper
from assayer.text.sanitise import sanitise

_MOST_TITLE = 1_000
_MOST_QUESTION = 2_000
_FEWEST_WORDS = 20
"""Minimum words of an abstract; a shorter one does not state a problem and a method."""


def question_of_text(text: str, source: str, name: str | None = "q") -> ResearchQuestion:
    """Create a question from text. `name` is its id; with None the id is derived from its words. Raises InputError."""
    clean, flags = sanitise(text)
    clean = " ".join(clean.split())
    if not clean:
        raise InputError(f"{source} has no question.", "Write the question, or pass a file of questions.")
    if len(clean) > _MOST_QUESTION:
        raise InputError(f"{source}: the question has {len(clean):,} characters; the maximum is {_MOST_QUESTION:,}.")
    return ResearchQuestion(id=_digest(clean) if name is None else name, text=clean, source=source, flags=flags)


def paper_of_record(record: Any, source: str, abstract_chars: int) -> SourcePaper:
    """Create a paper from a record. Raises InputError."""
    if not isinstance(record, Mapping):
        raise InputError(f"{source} is not a paper.", "Use an object with `title` and `abstract`.")
    title, title_flags = _text(record, "title", source, _MOST_TITLE)
    abstract, flags = _text(record, "abstract", source, abstract_chars)
    if len(abstract.split()) < _FEWEST_WORDS:
        raise InputError(f"{source}: the abstract has {len(abstract.split())} words; the minimum is {_FEWEST_WORDS}.")
    return SourcePaper(
        id=_id(record, source, f"{title}\n{abstract}"),
        title=" ".join(title.split()),
        abstract=abstract,
        source=source,
        flags=(*title_flags, *flags),
    )


def question_of_record(record: Any, source: str) -> ResearchQuestion | None:
    """Create a question from a string or an object with `question`. Returns None for an output line of `assayer curate`
    that states why there is no question. Raises InputError."""
    if isinstance(record, str):
        return question_of_text(record, source, None)
    if not isinstance(record, Mapping) or "question" not in record:
        raise InputError(f"{source} has no question.", "Use a string, or an object with a `question`.")
    question = record["question"]
    if isinstance(question, Mapping) and set(question) == {"reason"}:
        return None
    if not isinstance(question, str):
        raise InputError(f"{source}: `question` is not a string.", "Put it in quotes.")
    return question_of_text(question, source, _id(record, source, question))


def _text(record: Mapping[Any, Any], field: str, source: str, most: int) -> tuple[str, tuple[TextFlag, ...]]:
    value = record.get(field)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{source} has no `{field}`, or an empty one.", "Use an object with `title` and `abstract`.")
    clean, flags = sanitise(value)
    if len(clean) > most:
        raise InputError(f"{source}: the {field} has {len(clean):,} characters; the maximum is {most:,}.")
    return clean.strip(), flags


def _id(record: Mapping[Any, Any], source: str, content: str) -> str:
    given = record.get("id")
    if given is None:
        return _digest(content)
    if isinstance(given, bool) or not isinstance(given, str | int) or not str(given).strip():
        raise InputError(f"{source}: `id` must be a string or a whole number.")
    return sanitise(str(given))[0].strip()[:200]


def _digest(content: str) -> str:
    return hashlib.sha256(" ".join(content.split()).encode()).hexdigest()[:16]
