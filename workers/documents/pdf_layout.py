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
from workers.documents.pdf_notes import separate_notes
from workers.documents.pdf_scripts import write_scripts

_CAPTION = re.compile(
    r"(?:(?P<figure>fig(?:ure)?)|tab(?:le)?)\b\.?\s+(?:[A-Z]{0,2}\.?\d{1,3}[a-z]?|[IVX]{1,5})\b(?P<mark>[.:|]?)\s*"
    r"(?P<text>.?)",
    re.IGNORECASE,
)
_MAX_CAPTION_LINES = 25
_MAX_TABLE_LINES = 4
"""Maximum lines of a table caption; later lines in the same size belong to the table itself."""
_MIN_SIZE_CHANGE = 0.4
"""Minimum difference in points at which two sizes of type count as different."""


_ENTRY_NUMBER = re.compile(r"\[\d{1,3}\] ")
"""Number of an entry of a reference list, which may have the same size as a caption."""


def remove_captions(lines: Sequence[PdfLine], body: TextStyle) -> list[PdfLine]:
    """Remove captions that are set in a different size from the body text. The change of size shows where they end."""
    remaining: list[PdfLine] = []
    index = 0
    while index < len(lines):
        length = _measure_caption(lines, index, body)
        remaining += () if length else lines[index : index + 1]
        index += length or 1
    return remaining


def _measure_caption(lines: Sequence[PdfLine], start: int, body: TextStyle) -> int:
    """Return the number of lines of the caption at `start`; 0 if there is none. A caption ends where the size
    changes or a new page begins;
    a table caption also ends with a sentence."""
    first_line = lines[start]
    match = _CAPTION.match(first_line.text)
    if match is None or abs(first_line.style.size - body.size) < _MIN_SIZE_CHANGE:
        return 0
    if match["mark"] != ":" and match["text"] and not match["text"].isupper():
        return 0
    max_length = _MAX_CAPTION_LINES if match["figure"] else _MAX_TABLE_LINES
    for length, line in enumerate(lines[start + 1 : start + max_length], 1):
        is_complete = not match["figure"] and lines[start + length - 1].text.endswith(".")
        leaves_block = line.page != first_line.page or abs(line.style.size - first_line.style.size) >= _MIN_SIZE_CHANGE
        if is_complete or leaves_block or _CAPTION.match(line.text) or _ENTRY_NUMBER.match(line.text):
            return length
    return min(max_length, len(lines) - start)


FRONT_MATTER = "Front matter"
"""Name of the part before the first heading: title, authors and sometimes the abstract."""
WHOLE_TEXT = "Text"
"""Name of the only section of a document without headings, and of the text below a list without one."""
LIST_TITLE = "References"
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
_NON_HEADING_START = re.compile(
    r"^(?:fig(?:ure)?|table|tab|algorithm|equation|eq|scheme|listing|doi|https?|©)\b", re.IGNORECASE
)
_NAME_END = re.compile(r"[^\W\d_]{3}\. |^\w+,")
_OPEN_LINE_END = re.compile(r"(?:[,;:&–-]|(?<![/.])\b(?-i:[a-z])[\w'’]*|\b[A-Z]\.)$")
"""End of a line on which an entry does not end: a comma, a word in lower case, or an initial."""
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"})


def _find_body_style(lines: Iterable[PdfLine]) -> TextStyle:
    weights: Counter[TextStyle] = Counter()
    for line in lines:
        weights[line.style] += len(line.text)
    return weights.most_common(1)[0][0]


def _find_title(lines: Sequence[PdfLine], body: TextStyle, metadata: str) -> str:
    """Return the largest text on the first page, or, if none is clearly larger than the body text, the title in the
    metadata; empty if there is neither."""
    first_page_lines = [line for line in lines if line.page == lines[0].page and sum(map(str.isalpha, line.text)) >= 3]
    largest_size = max((line.style.size for line in first_page_lines), default=0.0)
    if largest_size >= 1.15 * body.size:
        runs = (
            list(run)
            for is_large, run in groupby(first_page_lines, lambda line: line.style.size >= 0.97 * largest_size)
            if is_large
        )
        title = " ".join(line.text for line in max(runs, key=lambda run: sum(len(line.text) for line in run)))
        if len(title.split()) >= 3 and len(title) <= 400:
            return title
    title = " ".join(metadata.split())
    return title if len(title.split()) >= 3 and not is_file_name(title) else ""


def _parse_heading(line: PdfLine, body: TextStyle) -> _Heading | None:
    text, style = join_small_capitals(line.text.rstrip(":").strip()), line.style
    words = text.split()
    number, title = split_printed_number(text)
    if list_title(text) == "certain":
        return _Heading(number, title, style)
    if not line.uniform and not number:
        return None
    if len(text) > 120 or len(words) > 14 or text.endswith((".", ",", ";", "-")) or _NON_HEADING_START.match(text):
        return None
    if sum(map(str.isalpha, text)) < max(3, 0.6 * len(text.replace(" ", ""))) or not title[:1].isupper():
        return None
    is_larger = style.size >= 1.08 * body.size
    has_other_font = style.font != body.font and style.size >= 0.9 * body.size
    stands_out = is_larger or ((style.bold or style.italic or title.isupper()) and has_other_font)
    is_usual = is_known_title(title) or is_back_title(title)
    if is_usual or stands_out:
        return _Heading(number, title, style)
    return _Heading("", title, style, weak=True) if has_other_font and len(words) <= 8 else None


def _find_main_style(headings: Iterable[_Heading]) -> TextStyle | None:
    """Return the most common style among headings with usual section titles, or None if there are none."""
    styles = Counter(heading.style for heading in headings if is_main_title(heading.title))
    return styles.most_common(1)[0][0] if styles else None


def _is_main(heading: _Heading, has_numbered_headings: bool, main_style: TextStyle | None) -> bool:
    is_usual = is_main_title(heading.title)
    if heading.weak or heading.added:
        return heading.added
    if is_back_title(heading.title) or list_title(heading.title) == "certain":
        return True
    if heading.number:
        return "." not in heading.number
    if has_numbered_headings or main_style is None:
        return is_usual or not has_numbered_headings
    return heading.style == main_style or (is_usual and heading.style.size >= main_style.size)


_LETTERED_TITLE = re.compile(r"[A-H]\.? [A-Z]", re.IGNORECASE)


def _can_follow_list(heading: _Heading, line_above: str) -> bool:
    """Return whether the heading is one that can follow a reference list, whose last line is `line_above`."""
    title = heading.title
    if heading.added or is_back_title(title) or is_known_title(title):
        return True
    # `B. Lee. A title`, `B. Lee, A title`, `4. Lee B, Moor C.`
    is_entry = _NAME_END.search(title) if heading.number.isalpha() else begins_with_names(title)
    is_numbered = heading.number and not is_entry
    return bool(
        (is_numbered or FOLLOWS.match(title) or _LETTERED_TITLE.match(title)) and not _OPEN_LINE_END.search(line_above)
    )


_LINES_BELOW = 4
"""Number of lines below a heading that show whether entries follow."""


def _mark_headings(lines: Sequence[PdfLine], body: TextStyle, title: str) -> Iterator[tuple[PdfLine, _Heading | None]]:
    """Yield each line, with its heading if it is one. Lines of a multi-line heading are joined."""
    pending: tuple[PdfLine, _Heading] | None = None
    for line in lines:
        heading = None if line.text in title else _parse_heading(line, body)
        if pending and heading and _is_heading_continuation(pending[1], pending[0], heading, line):
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
    for index, (line, heading) in reversed(list(enumerate(lines_with_headings))):
        if (
            heading
            and list_title(heading.title) == "possible"
            and _is_list_start(lines_with_headings[index + 1 :][:_LIST_LINES])
        ):
            return [
                *lines_with_headings[:index],
                (line, heading._replace(title=LIST_TITLE)),
                *lines_with_headings[index + 1 :],
            ]
    pieces = [f"\n{line.text}\n\n" if heading else f"{line.text}\n" for line, heading in lines_with_headings]
    list_span = find_untitled_list("".join(pieces))
    if list_span is None:
        return lines_with_headings
    ends = list(accumulate(map(len, pieces)))
    first_index, last_index = (bisect_right(ends, offset) for offset in (list_span.inner, list_span.end - 1))
    style = lines_with_headings[first_index][0].style
    page = lines_with_headings[first_index][0].page
    added_headings = [
        (PdfLine(page, style, True, ""), _Heading("", name, style, added=True)) for name in (LIST_TITLE, WHOLE_TEXT)
    ]
    return [
        *lines_with_headings[:first_index],
        added_headings[0],
        *lines_with_headings[first_index : last_index + 1],
        added_headings[1],
        *lines_with_headings[last_index + 1 :],
    ]


_LIST_LINES, _MIN_LIST_ENTRIES = 30, 3
"""Number of lines below a heading in which entries are looked for, and minimum number of entries."""


def _is_list_start(lines_below: Sequence[tuple[PdfLine, _Heading | None]]) -> bool:
    """Return whether the lines below a heading such as `Reference` or `Literature` are a reference list."""
    texts = [line.text for line, _ in lines_below]
    return sum(reads_like_entry(" ".join(texts[index : index + 3])) for index in range(len(texts))) >= _MIN_LIST_ENTRIES


def _is_heading_continuation(heading: _Heading, line: PdfLine, next_heading: _Heading, next_line: PdfLine) -> bool:
    return (
        not next_heading.number
        and heading.style == next_heading.style
        and line.page == next_line.page
        and not is_known_title(heading.title)
        and not is_known_title(next_heading.title)
        and list_title(next_heading.title) is None
    )


_EDGE_TOLERANCE, _MIN_INDENT, _MAX_INDENT = 1.5, 3, 45
"""Maximum difference in points of two lines with one left edge, and limits of the indentation below it."""
_INDENT = "  "


def _format_list_lines(lines: Sequence[PdfLine | str]) -> str:
    """Return the lines of a reference list. Those set in from a left edge on their page continue an entry and begin
    with spaces, or the others do if entries begin set in; an edge is the left of at least two lines of the list."""
    text_lines = [line for line in lines if isinstance(line, PdfLine)]
    left_edges = sorted(line.left for line in text_lines)
    edges: dict[int, set[float]] = {}
    for line in text_lines:
        if (
            bisect_right(left_edges, line.left + _EDGE_TOLERANCE) - bisect_left(left_edges, line.left - _EDGE_TOLERANCE)
            > 1
        ):
            edges.setdefault(line.page, set()).add(line.left)

    def is_inside(line: PdfLine) -> bool:
        page_edges = edges.get(line.page, {line.left})
        return line.left not in page_edges or any(_MIN_INDENT <= line.left - edge <= _MAX_INDENT for edge in page_edges)

    list_lines = [line for line in text_lines if is_inside(line)]
    begins_inside = list_lines[:1] == text_lines[:1] and _compute_entry_share(list_lines) > _compute_entry_share(
        set(text_lines).difference(list_lines)
    )
    pieces = [
        f"\n{line}\n" if isinstance(line, str) else f"{_INDENT * (is_inside(line) != begins_inside)}{line.text}"
        for line in lines
    ]
    return "\n".join(pieces)


def _compute_entry_share(lines: Collection[PdfLine]) -> float:
    return sum(begins_entry(line.text) for line in lines) / max(1, len(lines))


def _join_paragraphs(lines: Sequence[PdfLine | str]) -> str:
    """Join lines into paragraphs. Strings are subheadings, which become separate lines."""
    lengths = sorted(len(line.text) for line in lines if isinstance(line, PdfLine))
    full_length = lengths[len(lengths) * 3 // 4] if lengths else 0
    pieces: list[str] = []
    for line in lines:
        if isinstance(line, str):
            pieces.append(f"\n\n{line}\n")
        else:
            ends_paragraph = line.text.endswith((".", "?", "!")) and len(line.text) < 0.8 * full_length
            pieces.append(line.text + ("\n\n" if ends_paragraph else " "))
    return re.sub(r" *\n *", "\n", re.sub(r"\n{3,}", "\n\n", "".join(pieces))).strip()


def detect_layout(lines: Sequence[PdfLine], metadata_title: str = "") -> PdfLayout:
    """Split the lines into sections, one per main heading. Subheadings stay in the text, each on a separate line."""
    lines = remove_line_numbers(lines)
    if not lines:
        return PdfLayout("", ())
    title = _find_title(lines, _find_body_style(lines), metadata_title)
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
    body = _find_body_style(lines)
    lines_without_captions = remove_captions(lines, body)
    captions = sum(_CAPTION.match(line.text) is not None for line in lines) - sum(
        _CAPTION.match(line.text) is not None for line in lines_without_captions
    )
    lines, notes = separate_notes(lines_without_captions, body.size)
    lines = [line._replace(text=write_scripts(line.text)) for line in lines]
    notes = [note.model_copy(update={"text": write_scripts(note.text)}) for note in notes]
    title = _find_title(lines, body, metadata_title)
    lines_with_headings = list(_mark_headings(lines, body, title))
    headings = [heading for _, heading in lines_with_headings if heading]
    lines_with_headings = list(_add_list_headings(lines_with_headings))
    has_numbered_headings = sum(bool(heading.number) for heading in headings) >= 3
    main_style = _find_main_style(headings)
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
        ends_list = (is_like_title and not is_part and not _OPEN_LINE_END.search(title_above)) or (
            heading is not None and _can_follow_list(heading, title_above)
        )
        in_entry = in_list and (is_next or not ends_list)
        number = (mark if number is None or is_next else number) if in_list else None
        title_above = line.text
        if heading and not in_entry and _is_main(heading, has_numbered_headings, main_style):
            sections.append((heading.title, []))
            list_style = heading.style if heading.style != body and not heading.added else None
        else:
            sections[-1][1].append(line.text if (heading and not in_entry) or is_part else line)
    if len(sections) == 1:
        sections = [(WHOLE_TEXT, sections[0][1])]
    texts = (
        (name, _format_list_lines(content) if list_title(name) == "certain" else _join_paragraphs(content))
        for name, content in sections
    )
    translated_sections = tuple(
        Section(title=name.translate(_LIGATURES), text=text.translate(_LIGATURES)) for name, text in texts if text
    )
    return PdfLayout(
        title.translate(_LIGATURES), translated_sections, tuple(notes), tuple(heads)[:_MAX_HEADS], captions, rotated
    )
