"""Reads ideas from files and folders; what cannot be read is reported and does not stop the rest."""

import asyncio
import datetime as dt
import errno
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.errors import AssayerError, FullTextError, InputError
from assayer.ideas.parsing import parse_idea
from assayer.ideas.records import decode_json, idea_of_record
from assayer.ideas.tables import table_ideas, table_notices
from assayer.models import Frozen, Idea
from assayer.text.decoding import decode_text
from workers.documents.document_ideas import Bibliography, read_office_idea, read_pdf_idea, read_table
from workers.documents.limits import DocumentLimits
from workers.documents.office_reader import OFFICE_SUFFIXES, TABLE_SUFFIX

__all__ = [
    "IDEA_FILE_SUFFIXES",
    "IdeasRead",
    "RejectedInput",
    "given_together",
    "read_ideas",
]

IDEA_FILE_SUFFIXES = (".txt", ".md", ".json", ".jsonl", ".pdf", *OFFICE_SUFFIXES, TABLE_SUFFIX)
_NOT_AN_IDEA = "cutoff.txt"
"""Lies beside ideas in some collections and holds only a date."""
_WORDS_OF_A_TEXT = 12
"""What is no path and has as many words was meant as a text."""
_SHOWN = 60
"""Characters of it that are repeated."""


class RejectedInput(Frozen):
    """An input that gave no idea, and why."""

    source: str
    message: str


class IdeasRead(NamedTuple):
    """Both in the order of the inputs."""

    ideas: list[Idea]
    rejected: list[RejectedInput]


_Outcome = list[Idea | RejectedInput]


def _rejected(source: str, error: AssayerError) -> RejectedInput:
    return RejectedInput(source=source, message=str(error))


def _files(path: Path) -> list[Path] | RejectedInput:
    """The path itself, or the readable files of a folder by name; folders inside it are not entered."""
    try:
        if not path.exists():
            return _not_a_path(path, "does not exist")
        if not path.is_dir():
            return [path]
        files = [file for file in sorted(path.iterdir()) if _may_hold_ideas(file)]
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return _not_a_path(path, "is too long for a path")
        return RejectedInput(source=str(path), message=f"{path} cannot be read: {error.strerror}.")
    if files:
        return files
    return RejectedInput(
        source=str(path),
        message=f"The folder {path} holds no {', '.join(IDEA_FILE_SUFFIXES)} file; folders inside it are not searched.",
    )


def _may_hold_ideas(file: Path) -> bool:
    if file.suffix.lower() not in IDEA_FILE_SUFFIXES or file.name == _NOT_AN_IDEA or file.name[0] == ".":
        return False
    try:
        return file.is_file()
    except OSError:
        # Reading it will tell why, for this file alone.
        return True


def _not_a_path(path: Path, trouble: str) -> RejectedInput:
    text = " ".join(str(path).split())
    if len(text.split(" ")) < _WORDS_OF_A_TEXT:
        return RejectedInput(source=str(path), message=f"{path} {trouble}.")
    source = f"{text[:_SHOWN].rstrip()}…" if len(text) > _SHOWN else text
    return RejectedInput(
        source=source,
        message=f"{source} {trouble}. A path is expected, and this looks like the text of an idea: "
        "put it into a file and give the file's path.",
    )


def _check_regular(path: Path) -> None:
    """Pipes and devices may never end."""
    try:
        regular = path.is_file()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    if not regular:
        raise InputError(f"{path} is not a file or folder.")


def _bytes(path: Path, most_bytes: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > most_bytes:
        raise InputError(f"{path} has more than {most_bytes / 1e6:g} MB.", "Shorten it, or give one file per idea.")
    return data


def _attempt(source: str, read: Callable[[], Idea]) -> Idea | RejectedInput:
    try:
        return read()
    except AssayerError as error:
        return _rejected(source, error)


class _Reader:
    """Reads one file after its kind; every method gives what the file holds, or raises for the whole file."""

    def __init__(
        self, limits: DocumentLimits, latest_cutoff: dt.date | None, bibliography: Bibliography | None
    ) -> None:
        self._limits = limits
        self._latest = latest_cutoff
        self._bibliography = bibliography
        self._parsers = asyncio.Semaphore(limits.documents_at_once)

    async def read(self, path: Path) -> _Outcome:
        try:
            await asyncio.to_thread(_check_regular, path)
            match path.suffix.lower():
                case ".pdf":
                    return [await self._pdf(path)]
                case suffix if suffix in OFFICE_SUFFIXES:
                    return [await self._office(path)]
                case suffix if suffix == TABLE_SUFFIX:
                    return await self._table(path)
            return await asyncio.to_thread(self._read_text, path)
        except (InputError, FullTextError) as error:
            return [_rejected(str(path), error)]

    def _read_text(self, path: Path) -> _Outcome:
        match path.suffix.lower():
            case ".txt" | ".md":
                return [parse_idea(decode_text(_bytes(path, self._limits.text_bytes), str(path)), str(path))]
            case ".json":
                return self._json(path)
            case ".jsonl":
                return self._jsonl(path)
        raise InputError(f"{path} is of no kind that assayer reads.", f"It reads {', '.join(IDEA_FILE_SUFFIXES)}.")

    async def _pdf(self, path: Path) -> Idea:
        async with self._parsers:
            return await read_pdf_idea(path, str(path), self._limits.pdf, self._bibliography)

    async def _office(self, path: Path) -> Idea:
        data = await asyncio.to_thread(_bytes, path, self._limits.office.file_bytes)
        async with self._parsers:
            return await read_office_idea(data, str(path), self._limits.office)

    async def _table(self, path: Path) -> _Outcome:
        data = await asyncio.to_thread(_bytes, path, self._limits.office.file_bytes)
        async with self._parsers:
            table = await read_table(data, str(path), self._limits.office)
        left_out = [RejectedInput(source=str(path), message=notice) for notice in table_notices(table, str(path))]
        return left_out + [
            one.idea if isinstance(one.idea, Idea) else _rejected(f"{path}:{one.number}", one.idea)
            for one in table_ideas(table, str(path), self._latest)
        ]

    def _json(self, path: Path) -> _Outcome:
        content = decode_json(decode_text(_bytes(path, self._limits.json_bytes), str(path)), str(path))
        if not isinstance(content, list):
            return [idea_of_record(content, str(path), self._latest)]
        if not content:
            raise InputError(f"{path} is an empty list.")
        return [self._record(record, f"{path}:{number}") for number, record in enumerate(content, 1)]

    def _jsonl(self, path: Path) -> _Outcome:
        """Sources count from line 1; blank lines count and are passed over."""
        outcome: _Outcome = []
        for number, line in enumerate(_bytes(path, self._limits.jsonl_bytes).split(b"\n"), 1):
            if line.strip():
                outcome.append(self._line(line, f"{path}:{number}"))
        if not outcome:
            raise InputError(f"{path} is empty.", "Put one JSON object on each line.")
        return outcome

    def _line(self, line: bytes, source: str) -> Idea | RejectedInput:
        if len(line) > self._limits.text_bytes:
            megabytes = f"{self._limits.text_bytes / 1e6:g} MB"
            return RejectedInput(source=source, message=f"{source} has more than {megabytes} on one line.")
        return _attempt(
            source, lambda: idea_of_record(decode_json(decode_text(line, source), source), source, self._latest)
        )

    def _record(self, record: object, source: str) -> Idea | RejectedInput:
        return _attempt(source, lambda: idea_of_record(record, source, self._latest))


async def read_ideas(
    paths: Sequence[Path],
    limits: DocumentLimits | None = None,
    latest_cutoff: dt.date | None = None,
    bibliography: Bibliography | None = None,
) -> IdeasRead:
    """Ideas of files and folders, and what could not be read. Rows with a cutoff after `latest_cutoff` are rejected."""
    reader = _Reader(limits or DocumentLimits(), latest_cutoff, bibliography)
    tasks: list[asyncio.Task[_Outcome] | RejectedInput] = []
    async with asyncio.TaskGroup() as group:
        for path in paths:
            files = _files(path)
            if isinstance(files, RejectedInput):
                tasks.append(files)
            else:
                tasks += [group.create_task(reader.read(file)) for file in files]
    outcome = [one for task in tasks for one in ([task] if isinstance(task, RejectedInput) else task.result())]
    return IdeasRead(
        ideas=[one for one in outcome if isinstance(one, Idea)],
        rejected=[one for one in outcome if isinstance(one, RejectedInput)],
    )


def given_together(paths: Sequence[Path], read: IdeasRead) -> bool:
    """Whether several ideas were given, or what is there to hold several: a folder, a file of rows. How many of them
    could be read makes no difference."""
    inputs: list[Idea | RejectedInput] = [*read.ideas, *read.rejected]
    return len(inputs) > 1 or any(
        _is_folder(path) or any(one.source.startswith(f"{path}:") for one in inputs) for path in paths
    )


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
