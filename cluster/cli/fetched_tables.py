"""Tables of a batch's results with one more column: the file of each report that was fetched with them."""

import csv
import io
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cluster.cli.output import write_files

__all__ = ["add_report_files", "with_report_files"]

_COLUMN = "report_file"


def add_report_files(table: Path, files: Mapping[str, str]) -> str | None:
    """Writes the names of the reports' files, by the evaluations' ids, into a table of CSV, Excel or Parquet. A table
    that has the column already gets it anew. Why it could not be done; None where it was."""
    match table.suffix:
        case ".csv":
            write_files({table: with_report_files(table.read_bytes().decode(), files)})
        case ".xlsx" if find_spec("openpyxl") is None:
            return f"{table} names no reports: that takes openpyxl, pip install 'assayer[tables]'."
        case ".xlsx":
            _add_to_workbook(table, files)
        case ".parquet":
            _add_to_parquet(table, files)
    return None


def with_report_files(table: str, files: Mapping[str, str]) -> str:
    """A batch's results as CSV with the column."""
    head, *rows = csv.reader(io.StringIO(table.removeprefix("\ufeff"), newline=""))
    if head[-1] == _COLUMN:
        head, rows = head[:-1], [row[:-1] for row in rows]
    place = head.index("id")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([*head, _COLUMN])
    writer.writerows([*row, files.get(row[place], "")] for row in rows)
    return "\ufeff" + text.getvalue()


def _add_to_workbook(table: Path, files: Mapping[str, str]) -> None:
    """Each name is text, whatever it begins with, and leads to the file beside the workbook."""
    from openpyxl import load_workbook
    from openpyxl.utils import get_column_letter

    book = load_workbook(table)
    sheet: Any = book.active
    head = [cell.value for cell in sheet[1]]
    place = head.index(_COLUMN) + 1 if _COLUMN in head else len(head) + 1
    ids = head.index("Id") + 1
    sheet.cell(1, place, _COLUMN)
    for row in range(2, sheet.max_row + 1):
        name = files.get(str(sheet.cell(row, ids).value))
        cell = sheet.cell(row, place, name)
        if name is not None:
            cell.data_type = "s"
            cell.hyperlink = quote(name)
            cell.style = "Hyperlink"
    sheet.auto_filter.ref = f"A1:{get_column_letter(place)}{sheet.max_row}"
    book.save(table)


def _add_to_parquet(table: Path, files: Mapping[str, str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = pq.read_table(table)
    if _COLUMN in found.column_names:
        found = found.drop_columns([_COLUMN])
    names = pa.array([files.get(one) for one in found.column("id").to_pylist()], pa.string())
    pq.write_table(found.append_column(_COLUMN, names), table, compression="zstd")
