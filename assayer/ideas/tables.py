"""Ideas in the rows of a table, one idea per row, and the required columns. A broken row does not affect other rows."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assayer.errors import InputError
from assayer.ideas.exports import export_of
from assayer.ideas.record_forms import holds_idea
from assayer.ideas.records import idea_of_record
from assayer.ideas.reference_column import reference_column, with_reference
from assayer.models import Frozen, Idea
from assayer.text.sanitise import build_hidden_flags, clean_text

_MAX_NAMED = 12
_ROWS_ABOVE = 10
"""Maximum number of rows above the header, such as the title of a call."""
MAX_COLUMNS = 1_000
_WHY_HIDDEN = "in a hidden cell"


class IdeaTableRow(Frozen):
    number: int
    """Row number in its sheet, from 1."""
    cells: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Texts of hidden cells, left out of `cells`; not sanitised."""


class IdeaTable(Frozen):
    """Rows of one sheet, including blank rows."""

    sheet: str
    unread_sheets: int = 0
    """Number of other visible sheets with content, which are not read."""
    hidden_rows: int = 0
    """Number of hidden rows with content, which are left out."""
    rows: tuple[IdeaTableRow, ...]


class IdeaOfRow(NamedTuple):
    number: int
    """Row number among the non-blank rows after the header, from 1."""
    fields: Mapping[str, str]
    """Cells by column name, without blank cells; empty if the row is broken."""
    idea: Idea | InputError


class TableIdeas(NamedTuple):
    above: tuple[str, ...]
    """Lines above the header, which are not read."""
    notices: list[str]
    """Notices for the sender about other parts of the file that were not read."""
    rows: Iterator[IdeaOfRow]


def check_column_count(columns: int, what: str) -> None:
    """Raise InputError if a table has at least this number of columns, and that is too many."""
    if columns > MAX_COLUMNS:
        raise InputError(
            f"{what} has at least {columns:,} columns; the maximum is {MAX_COLUMNS:,}.",
            "Remove columns that do not describe ideas.",
        )


def check_columns(names: Sequence[str], what: str) -> None:
    """Raise InputError unless a header with these names is valid for a table of ideas."""
    # This comes first, because inspecting the names takes a hundred times as long as counting them.
    check_column_count(len(names), what)
    named = ", ".join(_format_name(name) for name in names[:_MAX_NAMED])
    if not holds_idea(names) and (export := export_of(names)):
        raise InputError(f"{what} looks like {export.name}; its columns are: {named}.", export.remedy)
    if not holds_idea(names):
        raise InputError(
            f"{what} has no column that holds ideas; its columns are: {named}.",
            "Name the columns on the first line: title and text, or title, problem, method, experiment …",
        )
    known = Counter(name.strip().casefold() for name in names if name.strip())
    if twice := sorted(_format_name(name) for name, times in known.items() if times > 1):
        raise InputError(
            f"{what} has more than one column named {', '.join(twice[:_MAX_NAMED])}.",
            "Give every column a unique name.",
        )


def _format_name(name: str) -> str:
    return " ".join(clean_text(name).split())[:40]


def table_ideas(table: IdeaTable, source: str, latest_cutoff: dt.date | None = None) -> TableIdeas:
    """Read the ideas of a table, in order. The first row with a column for ideas names the columns. Raises InputError
    if no row can be an idea. Each idea is named `source:number`."""
    rows = [row for row in table.rows if row.hidden or any(cell.strip() for cell in row.cells)]
    if not rows:
        raise InputError(f"{source} is empty.", "Put the names of the columns on the first line: title, text.")
    place = _header_place(rows)
    names = rows[place].cells
    check_columns(names, source)
    above = tuple(" ".join(filter(None, row.cells)) for row in rows[:place])
    references = reference_column(names, (_fields(row, names) for row in rows[place + 1 :]))
    ideas = (
        _idea(row, number, names, f"{source}:{number}", latest_cutoff, references)
        for number, row in enumerate(rows[place + 1 :], 1)
    )
    return TableIdeas(above, _notices(table, source), ideas)


def _header_place(rows: Sequence[IdeaTableRow]) -> int:
    """Return the position of the header: the first row with a column for ideas, or the first row if there is none."""
    near = enumerate(rows[: _ROWS_ABOVE + 1])
    return next((place for place, row in near if len(row.cells) <= MAX_COLUMNS and holds_idea(row.cells)), 0)


def _fields(row: IdeaTableRow, names: Sequence[str]) -> dict[str, str]:
    named = zip(names, row.cells, strict=False)
    return {name.strip(): cell for name, cell in named if name.strip() and cell.strip()}


def _idea(
    row: IdeaTableRow,
    number: int,
    names: Sequence[str],
    source: str,
    latest_cutoff: dt.date | None,
    references: str,
) -> IdeaOfRow:
    """Return the idea in a row; `references` is the column with the sender's ids, if it is not `id`."""
    fields = with_reference(_fields(row, names), references)
    try:
        idea = idea_of_record(fields, source, latest_cutoff)
    except InputError as error:
        located = InputError(f"{error.message} (row {row.number} of the sheet)", error.hint, error.field)
        return IdeaOfRow(number, fields, located)
    flags = build_hidden_flags((_WHY_HIDDEN, text) for text in row.hidden)
    return IdeaOfRow(number, fields, idea.model_copy(update={"flags": (*idea.flags, *flags)}))


def _notices(table: IdeaTable, name: str) -> list[str]:
    notices: list[str] = []
    if table.unread_sheets:
        notices.append(
            f"{name} has {table.unread_sheets + 1} sheets with content; only the first, {table.sheet!r}, was read."
        )
    if table.hidden_rows:
        hidden = f"{table.hidden_rows:,} hidden row{'s' * (table.hidden_rows != 1)}"
        notices.append(f"{name} has {hidden}, not read. Unhide rows that contain a proposal.")
    return notices


def notice_above(name: str, above: Sequence[str]) -> str:
    """Return a notice about the lines above the header of a table."""
    lines = "line above its header was" if len(above) == 1 else f"{len(above)} lines above its header were"
    return f"{name}: the {lines} not read: {'; '.join(map(_format_name, above[:_MAX_NAMED]))}."
