"""Rows of a batch, accepted or rejected, and a counter of the lines of text from which they are read."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from assayer.errors import InputError
from assayer.ideas.own_columns import ApplicantRecord
from assayer.models import Frozen, Idea
from assayer.reports.escaping import join_lines, shorten
from assayer.text.bounded_lines import TooManyLines
from assayer_client.batches import RowError

_MAX_NAME_CHARS = 120


class AcceptedRow(NamedTuple):
    number: int
    """Number from 1, over the whole request. Blank rows are numbered and skipped; a table's header is not numbered."""
    source: str
    """Display name of the row: `proposals.csv:12`, `row 12`."""
    idea: Idea | None
    """Idea in the row; None for a document, which is parsed when its job starts."""
    document: bytes | None
    applicant: ApplicantRecord = ApplicantRecord()
    """Applicant stated in the row, and columns of the row that are not part of the proposal."""


class FileNotice(Frozen):
    """Notice to the sender about a whole file."""

    text: str


RowOrNotice: TypeAlias = AcceptedRow | RowError | FileNotice


def format_row_name(file: str, number: int, row: int) -> str:
    """Return the name of a row: its number in its file, or its number in the batch if the body itself is the file
    (`file` is empty)."""
    return f"{file}:{number}" if file else f"row {row}"


def build_row_error(number: int, source: str, error: InputError, field: str = "") -> RowError:
    return RowError(row=number, source=source, field=error.field or field, detail=str(error))


def format_file_name(name: str) -> str:
    """Return the file name of an upload without folders, as a single line of limited length."""
    return shorten(join_lines(name.replace("\\", "/").rsplit("/", 1)[-1]), _MAX_NAME_CHARS)


class ReadingAbandoned(Exception):
    """Raised to stop reading, because the client has disconnected or reading takes too long."""


class LineCounter:
    """Counter of the lines of a request, over all its files. Blank lines are also counted: they are not rows, but they
    take time to read."""

    def __init__(self, limit: int, is_abandoned: Callable[[], bool]) -> None:
        self._limit = limit
        self._is_abandoned = is_abandoned
        self._count = 0

    def count(self) -> None:
        """Count a line. Raises TooManyLines and ReadingAbandoned."""
        self.check_abandoned()
        self._count += 1
        if self._count > self._limit:
            raise TooManyLines(
                f"The request has more than {self._limit:,} lines of text.",
                "Split it into several batches, and omit blank lines.",
            )

    def check_abandoned(self) -> None:
        """Raise ReadingAbandoned if reading should stop."""
        if self._is_abandoned():
            raise ReadingAbandoned
