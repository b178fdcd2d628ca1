"""Read training questions from a JSON Lines file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict, TypeVar

from assayer.errors import InputError
from workers.policy_training.configuration import QuestionFile

_MAX_LINE_CHARS = 1_000_000
"""Maximum length of a line in characters."""
Row = TypeVar("Row")


class TrainingRow(TypedDict):
    prompt: str
    question: str
    abstract: str


def read_json_lines(file: Path, limit: int | None, row_kind: str, parse_row: Callable[[str, str], Row]) -> list[Row]:
    """Return a file's rows, at most `limit` of them. `parse_row` parses a line, given its location and text; `row_kind`
    is a noun for the rows, used in the error for an empty file. Raises InputError if the file or a line is unusable."""
    rows: list[Row] = []
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(_MAX_LINE_CHARS + 1), ""), 1):
                if limit is not None and len(rows) == limit:
                    break
                if len(line) > _MAX_LINE_CHARS:
                    raise InputError(f"{file}, line {number}, has more than {_MAX_LINE_CHARS:,} characters.")
                if line.strip():
                    rows.append(parse_row(f"{file}, line {number}", line))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from None
    if not rows:
        raise InputError(f"{file} has no {row_kind}.")
    return rows


def read_training_rows(data: QuestionFile) -> list[TrainingRow]:
    """Read the questions. Raises InputError, which names the line, if one is invalid."""

    def parse_row(location: str, line: str) -> TrainingRow:
        try:
            record = json.loads(line)
            question, abstract = (_require_text(record, field) for field in ("question", "abstract"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{location}: {error}.") from None
        return TrainingRow(prompt=data.prompt.format(question=question), question=question, abstract=abstract)

    return read_json_lines(data.file, data.most, "questions", parse_row)


def _require_text(record: object, field: str) -> str:
    value = record.get(field) if isinstance(record, dict) else None
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"`{field}` is missing or empty")
    return value
