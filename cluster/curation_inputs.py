"""Readers for JSON Lines files of papers and of research questions. Unusable lines are reported."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from assayer.curation.records import parse_paper_record, parse_question_record
from assayer.errors import InputError
from assayer.ideas.records import decode_json
from assayer.models.curation import ResearchQuestion, SourcePaper
from assayer.text.decoding import decode_text
from cluster.whole_files import read_whole

_MAX_LINE_BYTES = 1_000_000

Line = TypeVar("Line", SourcePaper, ResearchQuestion)


class LinesRead(NamedTuple, Generic[Line]):
    """Lines read from a file, and messages about unusable lines, both in line order."""

    found: list[Line]
    rejected: list[str]
    """Messages about lines that cannot be used, each with file, line number and reason."""


def read_papers(path: Path, abstract_chars: int) -> LinesRead[SourcePaper]:
    """Read papers: objects with `title` and `abstract`, and optionally an `id`. Raises InputError if the file cannot be
    read or has no lines."""
    return _read(path, partial(_parse_paper, abstract_chars))


def read_questions(path: Path) -> LinesRead[ResearchQuestion]:
    """Read questions: strings, or objects with a `question`, as written by `assayer curate`. Lines that say why a paper
    yielded no question are skipped. Raises InputError if the file cannot be read or has no lines."""
    return _read(path, parse_question_record)


def _parse_paper(abstract_chars: int, record: Any, source: str) -> SourcePaper:
    return parse_paper_record(record, source, abstract_chars)


def _read(path: Path, parse: Callable[[Any, str], Line | None]) -> LinesRead[Line]:
    parsed_lines, rejected, first_places = list[Line](), list[str](), dict[str, str]()
    lines = [(number, line) for number, line in enumerate(read_whole(path).split(b"\n"), start=1) if line.strip()]
    if not lines:
        raise InputError(f"{path} is empty.", "Put one JSON object on each line.")
    for number, line in lines:
        source = f"{path}:{number}"
        try:
            record = parse(_parse_json(line, source), source)
            if record is not None:
                _require_new(record.id, source, first_places)
                parsed_lines.append(record)
        except InputError as error:
            rejected.append(str(error))
    return LinesRead(parsed_lines, rejected)


def _parse_json(line: bytes, source: str) -> Any:
    if len(line) > _MAX_LINE_BYTES:
        raise InputError(f"{source}: the line is longer than {_MAX_LINE_BYTES / 1e6:g} MB.")
    return decode_json(decode_text(line, source), source)


def _require_new(identity: str, source: str, first_places: dict[str, str]) -> None:
    earlier = first_places.setdefault(identity, source)
    if earlier != source:
        raise InputError(f"{source} has the same id {identity!r} as {earlier}.", "Give each line a different id.")
