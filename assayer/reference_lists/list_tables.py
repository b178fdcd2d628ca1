"""Reference lists printed as tables: one entry in each row."""

import re
from collections.abc import Mapping, Sequence

from assayer.text.folding import fold_text

_MIN_ROWS = 2
_ROW = re.compile(r"\s*\|.*\|\s*$|[^|\n]{0,400} \| |[^\t\n]{0,400}\t")
_RULE = re.compile(r":?-{2,}:?")
"""Cell of the line below the header of a table."""
_COLUMNS = {
    "number": "no nr # number num id ref nº n° № 编号 序号",
    "authors": "author authors autor autoren auteur auteurs autores autore autori names who 作者 著者 авторы автор",
    "year": "year date jahr année año ano anno jaar år vuosi rok год рік 年 年份",
    "title": "title titel titre título titolo tittel tytuł název otsikko cím paper work article название 标题 题目",
    "venue": "journal venue source where published publication zeitschrift quelle revue revista rivista fonte 期刊",
    "address": "doi link url address web",
    "entry": "reference references source citation entry bibliography literature quelle référence referencia fonte",
}
_COLUMN_BY_WORD = {fold_text(word): name for name, words in reversed(_COLUMNS.items()) for word in words.split()}


def convert_table_rows(lines: Sequence[str]) -> Sequence[str]:
    """Return the rows of a table as lines, a number in the first cell as the number of the entry, and the cells below
    names of columns in the order of an entry; other lines unchanged."""
    rows = [line for line in lines if line.strip()]
    if len(rows) < _MIN_ROWS or not all(_ROW.match(row) for row in rows):
        return lines
    parted = [[cell.strip() for cell in re.split(r"\||\t", row.strip().strip("|"))] for row in rows]
    rule = next((place for place, cells in enumerate(parted) if all(map(_RULE.fullmatch, cells))), -1)
    columns = [_COLUMN_BY_WORD.get(fold_text(cell.strip(" *_.:")), "") for cell in parted[max(0, rule - 1)]]
    header = rule if rule >= 0 else 0 if sum(map(bool, columns)) > len(columns) / 2 else -1
    return [_format_row(cells, columns if header >= 0 else ()) for cells in parted[header + 1 :] if any(cells)]


def _format_row(cells: Sequence[str], columns: Sequence[str]) -> str:
    first = cells[0].strip("[]().")
    number, rest = (f"[{first}] ", cells[1:]) if first.isdecimal() and len(first) < 4 else ("", cells)
    named = {name: cell for name, cell in zip(columns, cells, strict=False) if name and cell}
    if "title" in named and named.keys() & {"authors", "year", "venue"}:
        return number + _format_entry(named)
    return number + " ".join(rest)


def _format_entry(named: Mapping[str, str]) -> str:
    """Return the cells of a row as an entry with the date after the names."""
    title = named["title"].rstrip(".")
    end = "" if title[-1:] in "?!" else "."
    after = " ".join(f"{named[name].rstrip('.')}." for name in ("venue", "entry") if name in named)
    address = named.get("address", "")
    year = f" ({named['year']})." if "year" in named else "."
    if "authors" in named:
        return " ".join(filter(None, (f"{named['authors'].rstrip('.')}{year}", f"{title}{end}", after, address)))
    return " ".join(filter(None, (f"{title}{end}", after, f"{named.get('year', '')}.".lstrip("."), address)))
