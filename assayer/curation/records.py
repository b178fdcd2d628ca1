"""Read papers and research questions from JSON records, and check their fields."""

import hashlib
from collections.abc import Mapping
from typing import Any

from assayer.errors import InputError
from assayer.models import TextFlag
from assayer.models.curation import ResearchQuestion, SourcePaper
from assayer.text.sanitise import sanitise

_MAX_TITLE_CHARS = 1_000
_MAX_QUESTION_CHARS = 2_000
_MIN_ABSTRACT_WORDS = 20
"""Minimum number of words in an abstract; a shorter one does not state both problem and method."""


def parse_question(text: str, source: str, name: str | None = "q") -> ResearchQuestion:
    """Create a question from text. `name` becomes its id; if it is None, the id is derived from the words. Raises
    InputError if the text is empty or too long."""
    clean_text, flags = sanitise(text)
    clean_text = " ".join(clean_text.split())
    if not clean_text:
        raise InputError(f"{source} has no question.", "Write the question, or pass a file of questions.")
    if len(clean_text) > _MAX_QUESTION_CHARS:
        raise InputError(
            f"{source}: the question has {len(clean_text):,} characters; the maximum is {_MAX_QUESTION_CHARS:,}."
        )
    return ResearchQuestion(
        id=_compute_digest(clean_text) if name is None else name, text=clean_text, source=source, flags=flags
    )


def parse_paper_record(record: Any, source: str, abstract_chars: int) -> SourcePaper:
    """Create a paper from a JSON record. Raises InputError if the record is invalid."""
    if not isinstance(record, Mapping):
        raise InputError(f"{source} is not a paper record.", "Use an object with `title` and `abstract`.")
    title, title_flags = _get_text(record, "title", source, _MAX_TITLE_CHARS)
    abstract, flags = _get_text(record, "abstract", source, abstract_chars)
    if len(abstract.split()) < _MIN_ABSTRACT_WORDS:
        raise InputError(
            f"{source}: the abstract has {len(abstract.split())} words; the minimum is {_MIN_ABSTRACT_WORDS}."
        )
    return SourcePaper(
        id=_get_id(record, source, f"{title}\n{abstract}"),
        title=" ".join(title.split()),
        abstract=abstract,
        source=source,
        flags=(*title_flags, *flags),
    )


def parse_question_record(record: Any, source: str) -> ResearchQuestion | None:
    """Create a question from a string, or from an object with `question`. Returns None for a line in the output of
    `assayer curate` that says why there is no question. Raises InputError if the record is invalid."""
    if isinstance(record, str):
        return parse_question(record, source, None)
    if not isinstance(record, Mapping) or "question" not in record:
        raise InputError(f"{source} has no question.", "Use a string, or an object with a `question`.")
    question = record["question"]
    if isinstance(question, Mapping) and set(question) == {"reason"}:
        return None
    if not isinstance(question, str):
        raise InputError(f"{source}: `question` is not a string.", "Put it in quotes.")
    return parse_question(question, source, _get_id(record, source, question))


def _get_text(record: Mapping[Any, Any], field: str, source: str, max_chars: int) -> tuple[str, tuple[TextFlag, ...]]:
    value = record.get(field)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{source} has no `{field}`, or it is empty.", "Use an object with `title` and `abstract`.")
    clean_text, flags = sanitise(value)
    if len(clean_text) > max_chars:
        raise InputError(f"{source}: the {field} has {len(clean_text):,} characters; the maximum is {max_chars:,}.")
    return clean_text.strip(), flags


def _get_id(record: Mapping[Any, Any], source: str, content: str) -> str:
    record_id = record.get("id")
    if record_id is None:
        return _compute_digest(content)
    if isinstance(record_id, bool) or not isinstance(record_id, str | int) or not str(record_id).strip():
        raise InputError(f"{source}: `id` must be a string or a whole number.")
    return sanitise(str(record_id))[0].strip()[:200]


def _compute_digest(content: str) -> str:
    return hashlib.sha256(" ".join(content.split()).encode()).hexdigest()[:16]
