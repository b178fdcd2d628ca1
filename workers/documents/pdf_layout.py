"""Detect the title, headings and sections of a PDF from the font, size, numbering and words of its lines."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from assayer.ideas.titles import is_file_name
from assayer.models import Note, Section
from assayer.reference_lists.entry_shape import (
    begins_entry,
    begins_with_names,
    entry_number,
    has_year_or_link,
    reads_like_entry,
)
from assayer.reference_lists.list_end import FOLLOWS
from assayer.reference_lists.list_shape import find_untitled_list
from assayer.reference_lists.list_titles import list_title
from assayer.text.section_titles import (
    is_back_title,
    is_known_title,
    is_main_title,
    join_small_capitals,
    split_printed_number,
)
from workers.documents.pdf_lines import PdfLine, TextStyle, build_running_key, remove_line_numbers, remove_running_lines
from workers.documents.pdf_notes import part_notes
from workers.documents.pdf_scripts import write_scripts

_CAPTION = re.compile(
    r"(?:(?P<figure>fig(?:ure)?)|tab(?:le)?)\b\.?\s+(?:[A-Z]{0,2}\.?\d{1,3}[a-z]?|[IVX]{1,5})\b(?P<mark>[.:|]?)\s*"
    r"(?P<text>.?)",
    re.IGNORECASE,
)
_MAX_LINES = 25
_MAX_TABLE_LINES = 4
"""Maximum lines of a table caption; later lines in the same size belong to the table itself."""
_MIN_SIZE_CHANGE = 0.4
"""Minimum difference in points at which two sizes of type count as different."""


_ENTRY_NUMBER = re.compile(r"\[\d{1,3}\] ")
"""Number of an entry of a reference list, which may have the same size as a caption."""


def remove_captions(lines: Sequence[PdfLine], body: TextStyle) -> list[PdfLine]:
    """Remove captions that are set in a different size from the body text. The change of size shows where they end."""
    remaining: list[PdfLine] = []
    place = 0
    while place < len(lines):
        length = _measure_caption(lines, place, body)
        remaining += () if length else lines[place : place + 1]
        place += length or 1
    return remaining


def _measure_caption(lines: Sequence[PdfLine], place: int, body: TextStyle) -> int:
    """Return the number of lines of the caption at `place`; 0 if there is none. A caption ends where the size
    changes or a new page begins;
    a table caption also ends with a sentence."""
    first_line = lines[place]
    match = _CAPTION.match(first_line.text)
    if match is None or abs(first_line.style.size - body.size) < _MIN_SIZE_CHANGE:
        return 0
    if match["mark"] != ":" and match["text"] and not match["text"].isupper():
        return 0
    max_length = _MAX_LINES if match["figure"] else _MAX_TABLE_LINES
    for length, line in enumerate(lines[place + 1 : place + max_length], 1):
        is_complete = not match["figure"] and lines[place + length - 1].text.endswith(".")
        leaves_block = line.page != first_line.page or abs(line.style.size - first_line.style.size) >= _MIN_SIZE_CHANGE
        if is_complete or leaves_block or _CAPTION.match(line.text) or _ENTRY_NUMBER.match(line.text):
            return length
    return min(max_length, len(lines) - place)


FRONT_MATTER = "Front matter"
"""Name of the part before the first heading: title, authors and sometimes the abstract."""
WHOLE_TEXT = "Text"
"""Name of the only section of a document without headings, and of the text below a list without one."""
LIST = "References"
"""Name of a reference list without a heading."""


class PdfLayout(NamedTuple):
    title: str
    """Title; may be empty."""
    sections: tuple[Section, ...]
    notes: tuple[Note, ...] = ()
    heads: tuple[str, ...] = ()
    """Lines of headers and footers, each once."""
    captions: int = 0
    rotated: int = 0
    """Number of lines of rotated text, which are left out."""


class _Heading(NamedTuple):
    number: str
    title: str
    style: TextStyle
    weak: bool = False
    """True if only the font differs from the body text, and its name indicates neither bold nor italic."""
    added: bool = False
    """True if the heading is not printed."""


_MAX_HEADS = 12
_NO_HEADING = re.compile(
    r"^(?:fig(?:ure)?|table|tab|algorithm|equation|eq|scheme|listing|doi|https?|©)\b", re.IGNORECASE
)
_NAME_END = re.compile(r"[^\W\d_]{3}\. |^\w+,")
_UNENDED = re.compile(r"(?:[,;:&–-]|(?<![/.])\b(?-i:[a-z])[\w'’]*|\b[A-Z]\.)$")
"""End of a line on which an entry does not end: a comma, a word in lower case, or an initial."""
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"})


def _body_style(lines: Iterable[PdfLine]) -> TextStyle:
    weights: Counter[TextStyle] = Counter()
    for line in lines:
        weights[line.style] += len(line.text)
    return weights.most_common(1)[0][0]


def _title(lines: Sequence[PdfLine], body: TextStyle, metadata: str) -> str:
    """Return the largest text on the first page, or, if none is clearly larger than the body text, the title in the
    metadata; empty if there is neither."""
    first = [line for line in lines if line.page == lines[0].page and sum(map(str.isalpha, line.text)) >= 3]
    largest = max((line.style.size for line in first), default=0.0)
    if largest >= 1.15 * body.size:
        runs = (list(run) for large, run in groupby(first, lambda line: line.style.size >= 0.97 * largest) if large)
        title = " ".join(line.text for line in max(runs, key=lambda run: sum(len(line.text) for line in run)))
        if len(title.split()) >= 3 and len(title) <= 400:
            return title
    title = " ".join(metadata.split())
    return title if len(title.split()) >= 3 and not is_file_name(title) else ""


def _heading(line: PdfLine, body: TextStyle) -> _Heading | None:
    text, style = join_small_capitals(line.text.rstrip(":").strip()), line.style
    words = text.split()
    number, title = split_printed_number(text)
    if list_title(text) == "certain":
        return _Heading(number, title, style)
    if not line.uniform and not number:
        return None
    if len(text) > 120 or len(words) > 14 or text.endswith((".", ",", ";", "-")) or _NO_HEADING.match(text):
        return None
    if sum(map(str.isalpha, text)) < max(3, 0.6 * len(text.replace(" ", ""))) or not title[:1].isupper():
        return None
    larger = style.size >= 1.08 * body.size
    has_other_font = style.font != body.font and style.size >= 0.9 * body.size
    stands_out = larger or ((style.bold or style.italic or title.isupper()) and has_other_font)
    usual = is_known_title(title) or is_back_title(title)
    if usual or stands_out:
        return _Heading(number, title, style)
    return _Heading("", title, style, weak=True) if has_other_font and len(words) <= 8 else None


def _main_style(headings: Iterable[_Heading]) -> TextStyle | None:
    """Return the most common style among headings with usual section titles, or None if there are none."""
    styles = Counter(heading.style for heading in headings if is_main_title(heading.title))
    return styles.most_common(1)[0][0] if styles else None


def _is_main(heading: _Heading, numbered: bool, main: TextStyle | None) -> bool:
    usual = is_main_title(heading.title)
    if heading.weak or heading.added:
        return heading.added
    if is_back_title(heading.title) or list_title(heading.title) == "certain":
        return True
    if heading.number:
        return "." not in heading.number
    if numbered or main is None:
        return usual or not numbered
    return heading.style == main or (usual and heading.style.size >= main.size)


_LETTERED = re.compile(r"[A-H]\.? [A-Z]", re.IGNORECASE)


def _follows_list(heading: _Heading, above: str) -> bool:
    """Return whether the heading is one that can follow a reference list, whose last line is `above`."""
    title = heading.title
    if heading.added or is_back_title(title) or is_known_title(title):
        return True
    # `B. Lee. A title`, `B. Lee, A title`, `4. Lee B, Moor C.`
    is_entry = _NAME_END.search(title) if heading.number.isalpha() else begins_with_names(title)
    numbered = heading.number and not is_entry
    return bool((numbered or FOLLOWS.match(title) or _LETTERED.match(title)) and not _UNENDED.search(above))


_LINES_BELOW = 4
"""Number of lines below a heading that show whether entries follow."""


def _mark_headings(lines: Sequence[PdfLine], body: TextStyle, title: str) -> Iterator[tuple[PdfLine, _Heading | None]]:
    """Yield each line, with its heading if it is one. Lines of a multi-line heading are joined."""
    pending: tuple[PdfLine, _Heading] | None = None
    for line in lines:
        heading = None if line.text in title else _heading(line, body)
        if pending and heading and _continues_heading(pending[1], pending[0], heading, line):
            joined = f"{pending[1].title} {heading.title}"
            pending = pending[0]._replace(text=f"{pending[0].text} {line.text}"), pending[1]._replace(title=joined)
            continue
        if pending:
            yield pending
        pending = (line, heading) if heading else None
        if not heading:
            yield line, None
    if pending:
        yield pending


def _add_list_headings(
    lines_with_headings: Sequence[tuple[PdfLine, _Heading | None]],
) -> Sequence[tuple[PdfLine, _Heading | None]]:
    """Return the lines, with headings added around a reference list if no printed one is recognised."""
    if any(heading and list_title(heading.title) == "certain" for _, heading in lines_with_headings):
        return lines_with_headings
    for place, (line, heading) in reversed(list(enumerate(lines_with_headings))):
        if (
            heading
            and list_title(heading.title) == "possible"
            and _begins_list(lines_with_headings[place + 1 :][:_LINES_OF_LIST])
        ):
            return [
                *lines_with_headings[:place],
                (line, heading._replace(title=LIST)),
                *lines_with_headings[place + 1 :],
            ]
    pieces = [f"\n{line.text}\n\n" if heading else f"{line.text}\n" for line, heading in lines_with_headings]
    list_span = find_untitled_list("".join(pieces))
    if list_span is None:
        return lines_with_headings
    ends = list(accumulate(map(len, pieces)))
    first, last = (bisect_right(ends, offset) for offset in (list_span.inner, list_span.end - 1))
    style = lines_with_headings[first][0].style
    page = lines_with_headings[first][0].page
    added_headings = [
        (PdfLine(page, style, True, ""), _Heading("", name, style, added=True)) for name in (LIST, WHOLE_TEXT)
    ]
    return [
        *lines_with_headings[:first],
        added_headings[0],
        *lines_with_headings[first : last + 1],
        added_headings[1],
        *lines_with_headings[last + 1 :],
    ]


_LINES_OF_LIST, _MIN_ENTRIES = 30, 3
"""Number of lines below a heading in which entries are looked for, and minimum number of entries."""


def _begins_list(below: Sequence[tuple[PdfLine, _Heading | None]]) -> bool:
    """Return whether the lines below a heading such as `Reference` or `Literature` are a reference list."""
    texts = [line.text for line, _ in below]
    return sum(reads_like_entry(" ".join(texts[place : place + 3])) for place in range(len(texts))) >= _MIN_ENTRIES


def _continues_heading(first: _Heading, first_line: PdfLine, second: _Heading, line: PdfLine) -> bool:
    return (
        not second.number
        and first.style == second.style
        and first_line.page == line.page
        and not is_known_title(first.title)
        and not is_known_title(second.title)
        and list_title(second.title) is None
    )


_SAME_EDGE, _MIN_INDENT, _MAX_INDENT = 1.5, 3, 45
"""Maximum difference in points of two lines with one left edge, and limits of the indentation below it."""
_INDENT = "  "


def _find_list_lines(lines: Sequence[PdfLine | str]) -> str:
    """Return the lines of a reference list. Those set in from a left edge on their page continue an entry and begin
    with spaces, or the others do if entries begin set in; an edge is the left of at least two lines of the list."""
    text_lines = [line for line in lines if isinstance(line, PdfLine)]
    lefts = sorted(line.left for line in text_lines)
    edges: dict[int, set[float]] = {}
    for line in text_lines:
        if bisect_right(lefts, line.left + _SAME_EDGE) - bisect_left(lefts, line.left - _SAME_EDGE) > 1:
            edges.setdefault(line.page, set()).add(line.left)

    def is_inside(line: PdfLine) -> bool:
        on_page = edges.get(line.page, {line.left})
        return line.left not in on_page or any(_MIN_INDENT <= line.left - edge <= _MAX_INDENT for edge in on_page)

    list_lines = [line for line in text_lines if is_inside(line)]
    begins_inside = list_lines[:1] == text_lines[:1] and _begin_share(list_lines) > _begin_share(
        set(text_lines).difference(list_lines)
    )
    pieces = [
        f"\n{line}\n" if isinstance(line, str) else f"{_INDENT * (is_inside(line) != begins_inside)}{line.text}"
        for line in lines
    ]
    return "\n".join(pieces)


def _begin_share(lines: Collection[PdfLine]) -> float:
    return sum(begins_entry(line.text) for line in lines) / max(1, len(lines))


def _paragraphs(lines: Sequence[PdfLine | str]) -> str:
    """Join lines into paragraphs. Strings are subheadings, which become separate lines."""
    lengths = sorted(len(line.text) for line in lines if isinstance(line, PdfLine))
    full = lengths[len(lengths) * 3 // 4] if lengths else 0
    pieces: list[str] = []
    for line in lines:
        if isinstance(line, str):
            pieces.append(f"\n\n{line}\n")
        else:
            ends = line.text.endswith((".", "?", "!")) and len(line.text) < 0.8 * full
            pieces.append(line.text + ("\n\n" if ends else " "))
    return re.sub(r" *\n *", "\n", re.sub(r"\n{3,}", "\n\n", "".join(pieces))).strip()


def detect_layout(lines: Sequence[PdfLine], metadata_title: str = "") -> PdfLayout:
    """Split the lines into sections, one per main heading. Subheadings stay in the text, each on a separate line."""
    lines = remove_line_numbers(lines)
    if not lines:
        return PdfLayout("", ())
    title = _title(lines, _body_style(lines), metadata_title)
    all_lines, lines = lines, remove_running_lines(lines, title)
    if not lines:
        return PdfLayout("", ())
    rotated = sum(not line.style.upright for line in all_lines)
    kept_ids = frozenset(map(id, lines))
    heads = dict.fromkeys(
        write_scripts(build_running_key(line))
        for line in all_lines
        if id(line) not in kept_ids and any(map(str.isalpha, line.text))
    )
    body = _body_style(lines)
    lines_without_captions = remove_captions(lines, body)
    captions = sum(_CAPTION.match(line.text) is not None for line in lines) - sum(
        _CAPTION.match(line.text) is not None for line in lines_without_captions
    )
    lines, notes = part_notes(lines_without_captions, body.size)
    lines = [line._replace(text=write_scripts(line.text)) for line in lines]
    notes = [note.model_copy(update={"text": write_scripts(note.text)}) for note in notes]
    title = _title(lines, body, metadata_title)
    lines_with_headings = list(_mark_headings(lines, body, title))
    headings = [heading for _, heading in lines_with_headings if heading]
    lines_with_headings = list(_add_list_headings(lines_with_headings))
    has_numbered_headings = sum(bool(heading.number) for heading in headings) >= 3
    main = _main_style(headings)
    sections: list[tuple[str, list[PdfLine | str]]] = [(FRONT_MATTER, [])]
    title_above = ""
    number: tuple[str, int] | None = None
    list_style: TextStyle | None = None
    for place, (line, heading) in enumerate(lines_with_headings):
        if line.text and line.text in title and line.style.size > body.size:
            continue
        # In a reference list, titles and journals can look like headings.
        in_list, mark = list_title(sections[-1][0]) == "certain", entry_number(line.text)
        is_next = mark is not None and number is not None and mark == (number[0], number[1] + 1)
        below = [item.text for item, _ in lines_with_headings[place + 1 : place + 1 + _LINES_BELOW]]
        is_entry = reads_like_entry(line.text) or _NAME_END.search(line.text)
        is_like_title = heading is not None and in_list and heading.style == list_style and not is_entry
        is_part = is_like_title and begins_entry(below[0] if below else "") and has_year_or_link(" ".join(below))
        ends_list = (is_like_title and not is_part and not _UNENDED.search(title_above)) or (
            heading is not None and _follows_list(heading, title_above)
        )
        in_entry = in_list and (is_next or not ends_list)
        number = (mark if number is None or is_next else number) if in_list else None
        title_above = line.text
        if heading and not in_entry and _is_main(heading, has_numbered_headings, main):
            sections.append((heading.title, []))
            list_style = heading.style if heading.style != body and not heading.added else None
        else:
            sections[-1][1].append(line.text if (heading and not in_entry) or is_part else line)
    if len(sections) == 1:
        sections = [(WHOLE_TEXT, sections[0][1])]
    texts = (
        (name, _find_list_lines(content) if list_title(name) == "certain" else _paragraphs(content))
        for name, content in sections
    )
    found = tuple(
        Section(title=name.translate(_LIGATURES), text=text.translate(_LIGATURES)) for name, text in texts if text
    )
    return PdfLayout(title.translate(_LIGATURES), found, tuple(notes), tuple(heads)[:_MAX_HEADS], captions, rotated)
