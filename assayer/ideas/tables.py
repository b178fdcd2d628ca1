"""Ideas in the rows of a table: which columns must be there, and an idea a row. A broken row does not affect others."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assayer.errors import InputError
from assayer.ideas.records import holds_idea, idea_of_record, named_source
from assayer.models import Frozen, Idea
from assayer.text.sanitise import clean_text, hidden_flags

__all__ = ["MOST_COLUMNS", "IdeaOfRow", "IdeaTable", "IdeaTableRow", "check_columns", "table_ideas", "table_notices"]

_MOST_NAMED = 12
MOST_COLUMNS = 1_000
_WHY_HIDDEN = "in a cell that nobody sees"


class IdeaTableRow(Frozen):
    number: int
    """In its sheet, from 1."""
    cells: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    """Texts of cells that nobody sees, left out of `cells`; not sanitised."""


class IdeaTable(Frozen):
    """The rows of one sheet, blank ones among them."""

    sheet: str
    unread_sheets: int = 0
    """Shown as well, with something in them."""
    hidden_rows: int = 0
    """Left out, with something in them."""
    rows: tuple[IdeaTableRow, ...]


class IdeaOfRow(NamedTuple):
    number: int
    """Among the rows after the header that are not blank, from 1."""
    idea: Idea | InputError
    source: str
    """What it is called: its place in the table, with its own id where it has one."""


def check_columns(names: Sequence[str], what: str) -> None:
    """Raises InputError unless a header with these names heads a table of ideas."""
    # Before anything looks at their names: that takes a hundred times as long as counting them.
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"{what} has {len(names):,} columns; it may have {MOST_COLUMNS:,}.",
            "Leave out those that hold nothing of the ideas.",
        )
    named = ", ".join(_shown(name) for name in names[:_MOST_NAMED])
    if not holds_idea(names):
        raise InputError(
            f"{what} has no column that holds ideas; its columns are: {named}.",
            "Name the columns on the first line: title and text, or title, problem, method, experiment …",
        )
    known = Counter(name.strip().casefold() for name in names if name.strip())
    if twice := sorted(_shown(name) for name, times in known.items() if times > 1):
        raise InputError(
            f"{what} has more than one column named {', '.join(twice[:_MOST_NAMED])}.",
            "Give every column its own name.",
        )


def _shown(name: str) -> str:
    return " ".join(clean_text(name).split())[:40]


def table_ideas(table: IdeaTable, source: str, latest_cutoff: dt.date | None = None) -> Iterator[IdeaOfRow]:
    """In order. The first row with anything in it names the columns. Raises InputError when none can be an idea.

    Each is called `source:number`."""
    rows = (row for row in table.rows if row.hidden or any(cell.strip() for cell in row.cells))
    header = next(rows, None)
    if header is None:
        raise InputError(f"{source} is empty.", "Put the names of the columns on the first line: title, text.")
    check_columns(header.cells, source)
    for number, row in enumerate(rows, 1):
        cells = zip(header.cells, row.cells, strict=False)
        fields = {name.strip(): cell for name, cell in cells if name.strip() and cell.strip()}
        place = f"{source}:{number}"
        yield IdeaOfRow(number, _idea(row, fields, place, latest_cutoff), named_source(place, fields))


def _idea(
    row: IdeaTableRow, fields: Mapping[str, str], source: str, latest_cutoff: dt.date | None
) -> Idea | InputError:
    try:
        idea = idea_of_record(fields, source, latest_cutoff)
    except InputError as error:
        return InputError(f"{error.message} (row {row.number} of the sheet)", error.hint, error.field)
    flags = hidden_flags((_WHY_HIDDEN, text) for text in row.hidden)
    return idea.model_copy(update={"flags": (*idea.flags, *flags)})


def table_notices(table: IdeaTable, name: str) -> list[str]:
    """What was not read of a file, in words for its sender."""
    notices: list[str] = []
    if table.unread_sheets:
        notices.append(
            f"{name} has {table.unread_sheets + 1} sheets with something in them; only the first, {table.sheet!r}, "
            "was read."
        )
    if table.hidden_rows:
        rows = f"{table.hidden_rows:,} hidden row{'s' * (table.hidden_rows != 1)}"
        notices.append(f"{name} has {rows}, left out: show in the sheet whatever is a proposal.")
    return notices
