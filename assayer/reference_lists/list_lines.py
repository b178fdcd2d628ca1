"""Lines of a text in which reference lists are looked for."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from assayer.reference_lists.entry_shape import entry_number, reads_like_entry

ROW = re.compile(r"\s*\|.*\|\s*$|(?:[^|\n]* \| ){1,40}[^|\n]*$|(?:[^\t\n]*\t){2,40}[^\t\n]*$")
"""Row of a table: cells separated by bars or tabs."""
CAPTION = re.compile(
    r"\W{0,4}(?:table|tabelle|tableau|tabla|tabela|tabella|tabel|tabell|таблица|figure|fig\.|abbildung|abb\.|figura"
    r"|listing|algorithm|(?:source )?code)"
    r"\s{1,2}(?:[A-Z]?\.?\d{1,3}|[IVX]{1,5})\s?(?:[.:|–—]|$|\*\*)|[表图圖図]\s?\d{1,3}",
    re.IGNORECASE,
)
"""Caption of a table or figure."""
FENCE = re.compile(r"^\s{0,3}(?:`{3,}|~{3,}|:{3,})", re.MULTILINE)
"""Mark above and below a block of code, or of a pandoc division."""
_FENCE_LINE = re.compile(
    r"^\s{0,3}(?:`{3,}|~{3,}).*$|^\s{0,3}:{3,}[ \t]*(?:\{[^{}\n]{0,300}\}|[\w-]{0,60}[ \t]*$)|[ \t]:{3,}[ \t]*$",
    re.MULTILINE,
)
_ENTRY_FENCE = re.compile(r"(?:^[ \t]{0,3}|[ \t]):{3,}[ \t]*\{#ref-[^{}\n]{1,200}\}\s*(?!\[)", re.MULTILINE)
"""Beginning of an entry that pandoc puts into a division of its own, unless its number is in a column."""
_MIN_FENCED = 3
"""Minimum number of entries in divisions of their own."""
ENDED = re.compile(r"(?:[.)\]\d»”\"’>/]|/\S{1,200})\s*\Z")
"""End of the last line of an entry: a full stop, a bracket, a digit, or the end of an address."""


class ListSpan(NamedTuple):
    """Half-open range of a reference list in a text."""

    start: int
    """Offset of the list's heading or, if it has none, of its first entry."""
    inner: int
    """Offset of the list's first entry."""
    end: int


class ListLine(NamedTuple):
    start: int
    text: str
    after_blank: bool
    stands_alone: bool
    """True if there are blank lines above and below."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def split_lines(text: str) -> Iterator[ListLine]:
    """Yield the lines that are not blank."""
    lines, offset = text.split("\n"), 0
    for number, line in enumerate(lines):
        if line.strip():
            after_blank = number == 0 or not lines[number - 1].strip()
            before_blank = number + 1 == len(lines) or not lines[number + 1].strip()
            yield ListLine(offset, line, after_blank, after_blank and before_blank)
        offset += len(line) + 1


def strip_fences(text: str) -> str:
    """Return a list without the marks of blocks of code and of divisions; a division of an entry becomes a bullet."""
    if len(_ENTRY_FENCE.findall(text)) >= _MIN_FENCED:
        text = _ENTRY_FENCE.sub("\n- ", text)
    return _FENCE_LINE.sub("", text)


def begins_table(line: ListLine) -> bool:
    """Return whether a line is a row of a table that holds no entry, or begins with the caption of a table."""
    is_row = ROW.match(line.text) is not None and not reads_like_entry(line.text) and entry_number(line.text) is None
    return is_row or (line.after_blank and CAPTION.match(line.text) is not None)
