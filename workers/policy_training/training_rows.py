"""Questions to train on, read from JSON lines."""

import json
from pathlib import Path
from typing import TypedDict

from assayer.errors import InputError
from workers.policy_training.configuration import QuestionFile

__all__ = ["TrainingRow", "read_training_rows"]

_LONGEST_LINE = 1_000_000
"""Characters."""


class TrainingRow(TypedDict):
    prompt: str
    question: str
    abstract: str


def read_training_rows(data: QuestionFile) -> list[TrainingRow]:
    """Raises InputError that names the line at fault."""
    rows: list[TrainingRow] = []
    try:
        with data.file.open(encoding="utf-8") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE + 1), ""), 1):
                if data.most is not None and len(rows) == data.most:
                    break
                if line.strip():
                    rows.append(_row(data.file, number, line, data.prompt))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{data.file} cannot be read: {error}.") from None
    if not rows:
        raise InputError(f"{data.file} has no questions.")
    return rows


def _row(file: Path, number: int, line: str, prompt: str) -> TrainingRow:
    try:
        record = json.loads(line) if len(line) <= _LONGEST_LINE else None
        question, abstract = (_text(record, field) for field in ("question", "abstract"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}, line {number}: {error}.") from None
    return TrainingRow(prompt=prompt.format(question=question), question=question, abstract=abstract)


def _text(record: object, field: str) -> str:
    value = record.get(field) if isinstance(record, dict) else None
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"there is no text in `{field}`")
    return value
