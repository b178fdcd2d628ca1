"""Read the ideas in one file, depending on its format."""

import asyncio
import datetime as dt
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from assayer.errors import AssayerError, FullTextError, InputError
from assayer.ideas.csv_table import csv_ideas, csv_reference_column
from assayer.ideas.front_matter import split_front_matter
from assayer.ideas.light_markup import LIGHT_MARKUP, PLAIN_TEXT
from assayer.ideas.parsing import parse_idea
from assayer.ideas.record_forms import records_in
from assayer.ideas.records import decode_json, idea_of_record
from assayer.ideas.tables import TableIdeas, table_ideas
from assayer.models import CitedWork, Document, Frozen, Idea, Identifiers, UnreadPart
from assayer.models.document import ReferencesReader
from assayer.reference_lists.bibliography_files import read_bibliography
from assayer.text.bounded_lines import BoundedLine, bounded_lines, check_readable
from assayer.text.decoding import decode_text, encoding_of
from assayer.text.tex import looks_like_tex
from workers.documents.document_ideas import KINDS, Bibliography, add_left_out, read_document_idea
from workers.documents.document_parsing import read_table
from workers.documents.limits import DocumentLimits
from workers.documents.tex_package import TEX_SUFFIXES, pack_document
from workers.sandbox.documents import DocumentKind

_TABLE_SUFFIX = ".xlsx"
IDEA_FILE_SUFFIXES = (
    ".txt", ".md", ".tex", ".html", ".htm", ".xml", ".rtf", ".ipynb", ".pdf", ".docx", ".odt", ".json", ".jsonl",
    ".ndjson", ".csv", ".tsv", _TABLE_SUFFIX, *LIGHT_MARKUP,
)  # fmt: skip
"""Suffixes of the files that are read from a folder."""
_MAX_BIBLIOGRAPHY_BYTES = 20_000_000


class RejectedInput(Frozen):
    """Input that contained no readable idea, and the reason."""

    source: str
    message: str


Outcome = list[Idea | RejectedInput]


def _build_rejected_input(source: str, error: AssayerError) -> RejectedInput:
    return RejectedInput(source=source, message=str(error))


class InputFile(NamedTuple):
    path: Path
    companion_names: tuple[str, ...] = ()
    """Names of other files in the folder that are not read as ideas, because they belong to this TeX document."""


def _check_regular(path: Path) -> None:
    """Raise InputError unless the path is a regular file, because reading a pipe or device may never end."""
    try:
        is_regular = path.is_file()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    if not is_regular:
        raise InputError(f"{path} is not a file or folder.")


@contextmanager
def _open_file(path: Path, max_bytes: int) -> Iterator[BinaryIO]:
    """Open a file. Raises InputError if it is too large, or if opening or later reading fails."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > max_bytes:
                remedy = "Shorten it, or pass one file per idea."
                raise InputError(f"{path} has more than {max_bytes / 1e6:g} MB.", remedy)
            yield file
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def _read_bytes(path: Path, max_bytes: int) -> bytes:
    with _open_file(path, max_bytes) as file:
        return file.read()


class WorkReader(Protocol):
    """Reader of published works that the user names by identifier or URL instead of submitting a file."""

    async def read(self, work: Identifiers, address: str, source: str) -> Outcome:
        """Read a work, or all works at a URL that lists several. Raises InputError."""
        ...


class IdeaFileReader:
    """Reads files of all supported formats. Its private methods read one format each and raise an error for the whole
    file; `read` returns that error as a rejected input."""

    def __init__(
        self, limits: DocumentLimits, latest_cutoff: dt.date | None, bibliography: Bibliography | None
    ) -> None:
        self._limits = limits
        self._latest = latest_cutoff
        self._bibliography = bibliography
        self._parsers = asyncio.Semaphore(limits.documents_at_once)

    async def read(self, file: InputFile) -> Outcome:
        path = file.path
        try:
            await asyncio.to_thread(_check_regular, path)
            suffix = path.suffix.lower()
            if suffix in _RECORD_READERS:
                return await asyncio.to_thread(_RECORD_READERS[suffix], self, path)
            if suffix == _TABLE_SUFFIX:
                return await self._read_table(path)
            return [await self._read_document(file, suffix)]
        except (InputError, FullTextError) as error:
            return [_build_rejected_input(str(path), error)]

    async def _read_document(self, file: InputFile, suffix: str) -> Idea:
        """Read a file that contains one idea."""
        path = file.path
        if suffix in PLAIN_TEXT:
            return await self._read_text_file(path)
        if suffix == ".ipynb":
            return await asyncio.to_thread(self._read_notebook, path)
        if suffix in TEX_SUFFIXES:
            return await self._read_tex(path, file.companion_names)
        if suffix not in KINDS:
            kinds = ", ".join(IDEA_FILE_SUFFIXES)
            raise InputError(f"{path} has an unsupported format.", f"Supported formats: {kinds}.")
        limits = self._limits.pdf if suffix == ".pdf" else self._limits.office
        return await self._read_parsed(path, await asyncio.to_thread(_read_bytes, path, limits.file_bytes))

    async def _read_parsed(self, path: Path, data: bytes, kind: DocumentKind | None = None) -> Idea:
        async with self._parsers:
            return await read_document_idea(data, str(path), self._limits, self._bibliography, kind)

    async def _read_tex(self, path: Path, companion_names: Sequence[str]) -> Idea:
        data = await asyncio.to_thread(pack_document, path, self._limits.office.file_bytes)
        idea = await self._read_parsed(path, data, "tex")
        reason = f"it belongs to the TeX document {path.name}, or is a TeX file that the document does not include"
        return add_left_out(idea, [UnreadPart(part=f"the file {name}", reason=reason) for name in companion_names])

    async def _read_text_file(self, path: Path) -> Idea:
        """Read a text file. The file may be the source of a TeX document."""
        data = await asyncio.to_thread(_read_bytes, path, self._limits.text_bytes)
        text = await asyncio.to_thread(decode_text, data, str(path))
        if not looks_like_tex(text):
            idea_text = await asyncio.to_thread(_read_with_bibliography, text, path)
            return await asyncio.to_thread(parse_idea, text, str(path), known=idea_text)
        return await self._read_parsed(path, data, "tex")

    def _read_notebook(self, path: Path) -> Idea:
        """Read the text cells of a Jupyter notebook."""
        content = decode_json(decode_text(_read_bytes(path, self._limits.json_bytes), str(path)), str(path))
        cells = content.get("cells") if isinstance(content, dict) else None
        if not isinstance(cells, list):
            raise InputError(f"{path} is not a Jupyter notebook of version 4.", "Open it in Jupyter and save it again.")
        texts = [
            _join_cell_lines(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "markdown"
        ]
        other_cells = len(cells) - len(texts)
        left_out = [
            UnreadPart(
                part=f"{other_cells} cell{'s' * (other_cells != 1)} with code or output",
                reason="only cells with text are read",
            )
        ]
        idea = parse_idea("\n\n".join(texts), str(path))
        return add_left_out(idea, left_out if other_cells else [])

    async def _read_table(self, path: Path) -> Outcome:
        data = await asyncio.to_thread(_read_bytes, path, self._limits.office.file_bytes)
        async with self._parsers:
            table = await read_table(data, str(path), self._limits.office)
        return _list_table_ideas(path, table_ideas(table, str(path), self._latest))

    def _read_json(self, path: Path) -> Outcome:
        """Read a JSON file: a record, a list of records, an API response that wraps them, or JSON lines."""
        data = _read_bytes(path, self._limits.json_bytes)
        text = decode_text(data, str(path))
        try:
            content = decode_json(text, str(path))
        except InputError:
            if _is_json_lines(text):
                return self._read_json_lines(path)
            raise
        records = records_in(content)
        if not records:
            raise InputError(f"{path} contains an empty list.", "Put one JSON object per idea into the list.")
        if records == [content]:
            return [idea_of_record(content, str(path), self._latest)]
        return [self._read_record(record, f"{path}:{number}") for number, record in enumerate(records, 1)]

    def _read_json_lines(self, path: Path) -> Outcome:
        """Read a JSON Lines file. Line numbers start at 1 and include blank lines, which are skipped."""
        outcome: Outcome = []
        with _open_file(path, self._limits.jsonl_bytes) as file:
            encoding = encoding_of(file, str(path))
            with closing(bounded_lines(file, encoding, self._limits.text_bytes, _ignore_line)) as lines:
                for number, line in enumerate(lines, 1):
                    if line.text.strip():
                        outcome += self._read_line(line, f"{path}:{number}", encoding)
        if not outcome:
            raise InputError(f"{path} is empty.", "Put one JSON object on each line.")
        return outcome

    def _read_line(self, line: BoundedLine, source: str, encoding: str) -> Outcome:
        if not line.whole:
            megabytes = f"{self._limits.text_bytes / 1e6:g} MB"
            return [RejectedInput(source=source, message=f"{source} has more than {megabytes} on one line.")]
        try:
            check_readable(line.text, encoding, source)
            records = records_in(decode_json(line.text, source))
        except InputError as error:
            return [_build_rejected_input(source, error)]
        if len(records) == 1:
            return [self._read_record(records[0], source)]
        return [self._read_record(record, f"{source}.{number}") for number, record in enumerate(records, 1)]

    def _read_csv(self, path: Path) -> Outcome:
        """Read a CSV file, one idea per row."""
        name, max_bytes = str(path), self._limits.text_bytes
        with _open_file(path, self._limits.jsonl_bytes) as file:
            encoding = encoding_of(file, name)
            with closing(bounded_lines(file, encoding, max_bytes, _ignore_line)) as lines:
                references = csv_reference_column(lines, name, encoding, max_bytes)
            file.seek(0)
            with closing(bounded_lines(file, encoding, max_bytes, _ignore_line)) as lines:
                table = csv_ideas(lines, name, encoding, max_bytes, lambda n: f"{path}:{n}", self._latest, references)
                return _list_table_ideas(path, table)

    def _read_record(self, record: object, source: str) -> Idea | RejectedInput:
        try:
            return idea_of_record(record, source, self._latest)
        except AssayerError as error:
            return _build_rejected_input(source, error)


def _join_cell_lines(cell: Mapping[str, object]) -> str:
    """Return the text of a notebook cell, which is stored as one string or as a list of lines."""
    source = cell.get("source")
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")


def _read_with_bibliography(text: str, path: Path) -> Document:
    """Read the bibliography files named in a text's front matter, and return the works that the text cites. Only files
    in the text's folder are read."""
    fields, _ = split_front_matter(text)
    file_name = next((field.value for field in fields if field.name == "bibliography"), "")
    works: list[CitedWork] = []
    left_out: list[UnreadPart] = []
    for name in filter(None, (part.strip() for part in file_name.split(";"))):
        try:
            file = _find_in_same_folder(path, name)
            bibliography = read_bibliography(decode_text(_read_bytes(file, _MAX_BIBLIOGRAPHY_BYTES), name), name)
        except (InputError, OSError) as error:
            left_out.append(UnreadPart(part=f"the bibliography {name}", reason=str(error)))
            continue
        works += [entry.work for entry in bibliography.entries if not entry.key or f"@{entry.key}" in text]
        left_out += [
            UnreadPart(part=f"the entry {entry!r}", reason=f"it is malformed in {name}")
            for entry in bibliography.unparsed_entries
        ]
    reader: ReferencesReader = "bibtex" if works else "text"
    return Document(references=tuple(works), references_reader=reader, left_out=tuple(left_out))


def _find_in_same_folder(path: Path, name: str) -> Path:
    """Return the file with this name in the folder of `path`. Raises InputError if there is none, or if it is a link
    that leads out of the folder."""
    file = path.parent / name
    if not file.resolve().is_relative_to(path.parent.resolve()) or not file.is_file():
        raise InputError("it is not in the folder of the text")
    return file


def _ignore_line() -> None:
    """Do nothing: lines need not be counted, because the file's size is limited."""


def _is_json_lines(text: str) -> bool:
    """Return whether a text that is not valid JSON seems to be JSON lines, judging by its first three lines."""
    lines = [line for line in text.split("\n", 4)[:3] if line.strip()]
    try:
        return len(lines) > 1 and all(isinstance(json.loads(line), dict) for line in lines)
    except (ValueError, RecursionError):
        return False


def _list_table_ideas(path: Path, table: TableIdeas) -> Outcome:
    """Return the ideas and rejected rows of a table; each idea records the lines above the header as left out. Raises
    InputError if the table has no rows."""
    outcome: Outcome = [RejectedInput(source=str(path), message=notice) for notice in table.notices]
    lines_above = [
        UnreadPart(part=f"the line {line!r}", reason="above the header of the table") for line in table.above
    ]
    for number, _, idea in table.rows:
        outcome.append(
            add_left_out(idea, lines_above)
            if isinstance(idea, Idea)
            else _build_rejected_input(f"{path}:{number}", idea)
        )
    if not outcome:
        raise InputError(f"{path} has a header but no rows.", "Put one proposal in each row.")
    return outcome


_RECORD_READERS = {
    ".json": IdeaFileReader._read_json,
    ".jsonl": IdeaFileReader._read_json_lines,
    ".ndjson": IdeaFileReader._read_json_lines,
    ".csv": IdeaFileReader._read_csv,
    ".tsv": IdeaFileReader._read_csv,
}
"""Readers of record files, by file name suffix."""
