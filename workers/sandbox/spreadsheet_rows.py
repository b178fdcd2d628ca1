"""Read the rows of the first visible, non-empty sheet in an Excel workbook (`.xlsx`).

Runs in the sandboxed process. Formulas are not evaluated; the results saved in the file are used."""

import datetime as dt
import io
from collections.abc import Iterator
from typing import Any, NamedTuple

from workers.sandbox.office_package import OfficePackage
from workers.sandbox.office_text import MAX_HIDDEN_CHARS, MAX_HIDDEN_TEXTS
from workers.sandbox.refusal import Refused

_WORKBOOK = "xl/workbook.xml"
_HIDING_FORMAT = ";;;"
"""Number format that hides numbers and text."""
_WHITE_COLOURS = ("FFFFFFFF", "00FFFFFF")
_WHITE_THEME = 0
_MAX_CELLS = 2_000_000


class SheetRow(NamedTuple):
    number: int
    """Row number in the sheet, from 1."""
    cells: list[str]
    hidden: list[str]
    """Text in hidden cells, which are empty in `cells`."""


class SheetRows(NamedTuple):
    sheet: str
    unread_sheets: int
    """Number of other visible sheets with content, which are not read."""
    hidden_rows: int
    """Number of hidden rows with content, which are skipped, as are hidden columns."""
    rows: list[SheetRow]


def is_spreadsheet(package: OfficePackage) -> bool:
    return _WORKBOOK in package


def read_spreadsheet(data: bytes, most_characters: int) -> SheetRows:
    """Read a spreadsheet's rows. Raises Refused, or any exception from openpyxl, if the file is not a readable
    workbook."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(data), data_only=True, keep_links=False)
    visible_sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible" and _has_content(sheet)]
    if not visible_sheets:
        return SheetRows("", 0, 0, [])
    rows: list[SheetRow] = []
    characters_left, hidden_rows = most_characters, 0
    for row in _read_rows(visible_sheets[0]):
        if visible_sheets[0].row_dimensions[row.number].hidden:
            hidden_rows += any(row.cells)
            continue
        characters_left -= sum(map(len, row.cells))
        if characters_left < 0:
            raise Refused("too_much_text")
        rows.append(row)
    return SheetRows(str(visible_sheets[0].title), len(visible_sheets) - 1, hidden_rows, rows)


def _has_content(sheet: Any) -> bool:
    return any(cell is not None for row in sheet.iter_rows(values_only=True) for cell in row)


def _read_rows(sheet: Any) -> Iterator[SheetRow]:
    if sheet.max_row * sheet.max_column > _MAX_CELLS:
        raise Refused("too_much_text")
    hidden_columns = _find_hidden_columns(sheet)
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells: list[str] = []
        hidden: list[str] = []
        for column, cell in enumerate(row, 1):
            text = _format_value(cell.value)
            if text and (column in hidden_columns or _is_hidden(cell)):
                if len(hidden) < MAX_HIDDEN_TEXTS:
                    hidden.append(text[:MAX_HIDDEN_CHARS])
                text = ""
            cells.append(text)
        yield SheetRow(number, cells, hidden)


def _find_hidden_columns(sheet: Any) -> set[int]:
    hidden_columns: set[int] = set()
    for dimension in sheet.column_dimensions.values():
        if dimension.hidden:
            hidden_columns.update(range(dimension.min, min(dimension.max, sheet.max_column) + 1))
    return hidden_columns


def _is_hidden(cell: Any) -> bool:
    if cell.number_format == _HIDING_FORMAT:
        return True
    if not cell.has_style or cell.fill.fill_type:
        return False
    colour = cell.font.color
    if colour is None:
        return False
    return (
        colour.rgb in _WHITE_COLOURS
        if colour.type == "rgb"
        else colour.type == "theme" and colour.theme == _WHITE_THEME
    )


def _format_value(value: object) -> str:
    """Return a cell's value as text: dates as YYYY-MM-DD, whole numbers without a decimal point."""
    match value:
        case None:
            return ""
        case dt.datetime() if value.time() == dt.time():
            return value.date().isoformat()
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)
