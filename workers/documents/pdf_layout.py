"""Finds title, headings, sections and captions in the lines of a PDF, by type size, weight, numbering and words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from assayer.models import Caption, Section
from assayer.text.sanitise import clean_text
from assayer.text.section_titles import is_back_title, is_known_title, is_main_title, split_printed_number

__all__ = ["PdfLayout", "PdfLine", "TextStyle", "detect_layout", "take_captions"]


class TextStyle(NamedTuple):
    font: str
    size: float
    """In points, after all scaling."""
    bold: bool
    italic: bool
    upright: bool
    """False for text that runs up the margin."""


class PdfLine(NamedTuple):
    page: int
    style: TextStyle
    uniform: bool
    """Whether its first, middle and last letters share that style."""
    text: str


_CAPTION = re.compile(
    r"(?P<kind>fig(?:ure)?|tab(?:le)?)\b\.?\s+(?P<label>[A-Z]{0,2}\.?\d{1,3}[a-z]?|[IVX]{1,5})\b(?P<mark>[.:|]?)\s*"
    r"(?P<text>.*)",
    re.IGNORECASE,
)
_MOST_LINES = 25
_MOST_TABLE_LINES = 4
"""What follows a table's caption in the same type is the table."""


class _CaptionStart(NamedTuple):
    kind: str
    label: str
    text: str
    apart: bool
    """Set in other type than the text, so that its end shows."""


def take_captions(lines: Sequence[PdfLine], body: TextStyle) -> tuple[list[PdfLine], list[Caption]]:
    """The lines without captions that stand apart from the text, and all captions in their order."""
    left: list[PdfLine] = []
    captions: list[Caption] = []
    place = 0
    while place < len(lines):
        start = _caption_start(lines[place], body)
        if start is None:
            left.append(lines[place])
            place += 1
            continue
        length = _caption_length(lines, place, start)
        text = " ".join([start.text, *(line.text for line in lines[place + 1 : place + length])]).strip()
        if text:
            kind = start.kind.casefold()
            captions.append(
                Caption(kind="table" if kind[0] == "t" else "figure", label=start.label, text=clean_text(text))
            )
        if not start.apart:
            left += lines[place : place + length]
        place += length
    return left, captions


def _caption_start(line: PdfLine, body: TextStyle) -> _CaptionStart | None:
    match = _CAPTION.match(line.text)
    if match is None:
        return None
    apart = abs(line.style.size - body.size) >= 0.4
    begins = match["mark"] == ":" or (apart and (not match["text"] or match["text"][0].isupper()))
    return _CaptionStart(match["kind"], match["label"], match["text"], apart) if begins else None


def _caption_length(lines: Sequence[PdfLine], place: int, start: _CaptionStart) -> int:
    """Lines of the caption that begins there: to the end of its type, or of a sentence where the type tells nothing."""
    first = lines[place]
    most = _MOST_LINES if start.apart and start.kind[0] not in "tT" else _MOST_TABLE_LINES
    by_sentence = not start.apart or start.kind[0] in "tT"
    for length in range(1, most):
        if by_sentence and lines[place + length - 1].text.endswith("."):
            return length
        following = lines[place + length] if place + length < len(lines) else None
        if (
            following is None
            or following.page != first.page
            or abs(following.style.size - first.style.size) >= 0.4
            or _CAPTION.match(following.text)
        ):
            return length
    return most if start.apart else 1


FRONT_MATTER = "Front matter"
"""Names what stands before the first heading: title, authors, sometimes the abstract."""
WHOLE_TEXT = "Text"
"""Names the whole of a document without headings."""


class PdfLayout(NamedTuple):
    title: str
    """May be empty."""
    sections: tuple[Section, ...]
    captions: tuple[Caption, ...]


class _Heading(NamedTuple):
    number: str
    title: str
    style: TextStyle
    weak: bool = False
    """Only its font differs from the text's, and the font's name does not say that it is bold or italic."""


_NO_HEADING = re.compile(
    r"^(?:fig(?:ure)?|table|tab|algorithm|equation|eq|scheme|listing|doi|https?|©)\b", re.IGNORECASE
)
_EDGE = 3
_ANY_NUMBER = re.compile(r"\d+")
_JUNK_TITLE = re.compile(
    r"^(?:untitled|microsoft word|document\d*|.*\.(?:docx?|tex|dvi|pdf|indd|qxd))\b", re.IGNORECASE
)
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"})


def _running_key(line: PdfLine) -> str:
    """What a running head has in common on all pages."""
    return _ANY_NUMBER.sub("#", line.text)


def _without_running_lines(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Takes out page numbers, text up the margin, and what recurs among the outermost lines of pages."""
    pages = [list(page) for _, page in groupby(lines, lambda line: line.page)]
    edges = [{_running_key(line) for line in (*page[:_EDGE], *page[-_EDGE:])} for page in pages]
    seen = Counter(key for edge in edges for key in edge)
    running = {key for key, count in seen.items() if count >= max(3, len(pages) // 3)}
    return [
        line
        for page, edge in zip(pages, edges, strict=True)
        for line in page
        if line.style.upright
        and not line.text.isdecimal()
        and (_running_key(line) not in running or _running_key(line) not in edge)
    ]


def _body_style(lines: Iterable[PdfLine]) -> TextStyle:
    weights: Counter[TextStyle] = Counter()
    for line in lines:
        weights[line.style] += len(line.text)
    return weights.most_common(1)[0][0]


def _title(lines: Sequence[PdfLine], body: TextStyle, metadata: str) -> str:
    """The largest type on the first page, else the document's own title."""
    first = [line for line in lines if line.page == lines[0].page and sum(map(str.isalpha, line.text)) >= 3]
    largest = max((line.style.size for line in first), default=0.0)
    if largest >= 1.15 * body.size:
        runs = (list(run) for large, run in groupby(first, lambda line: line.style.size >= 0.97 * largest) if large)
        title = " ".join(line.text for line in max(runs, key=lambda run: sum(len(line.text) for line in run)))
        if len(title.split()) >= 3 and len(title) <= 400:
            return title
    title = " ".join(metadata.split())
    return title if len(title.split()) >= 3 and not _JUNK_TITLE.match(title) else ""


def _heading(line: PdfLine, body: TextStyle) -> _Heading | None:
    text, style = line.text.rstrip(":").strip(), line.style
    words = text.split()
    number, title = split_printed_number(text)
    if not line.uniform and not number:
        return None
    if len(text) > 120 or len(words) > 14 or text.endswith((".", ",", ";", "-")) or _NO_HEADING.match(text):
        return None
    if sum(map(str.isalpha, text)) < max(3, 0.6 * len(text.replace(" ", ""))) or not title[:1].isupper():
        return None
    larger = style.size >= 1.08 * body.size
    other = style.font != body.font and style.size >= 0.9 * body.size
    stands_out = larger or ((style.bold or style.italic or title.isupper()) and other)
    usual = is_known_title(title) or is_back_title(title)
    if usual or stands_out:
        return _Heading(number, title, style)
    return _Heading("", title, style, weak=True) if other and len(words) <= 8 else None


def _main_style(headings: Iterable[_Heading]) -> TextStyle | None:
    """The style that most of the usual main headings have."""
    styles = Counter(heading.style for heading in headings if is_main_title(heading.title))
    return styles.most_common(1)[0][0] if styles else None


def _is_main(heading: _Heading, numbered: bool, main: TextStyle | None) -> bool:
    usual = is_main_title(heading.title)
    if heading.weak:
        return False
    if is_back_title(heading.title):
        return True
    if heading.number:
        return "." not in heading.number
    if numbered or main is None:
        return usual or not numbered
    return heading.style == main or (usual and heading.style.size >= main.size)


def _lines_with_headings(
    lines: Sequence[PdfLine], body: TextStyle, title: str
) -> Iterator[tuple[PdfLine, _Heading | None]]:
    """Every line with the heading it is, if any; the lines of one heading joined."""
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


def _continues_heading(first: _Heading, first_line: PdfLine, second: _Heading, line: PdfLine) -> bool:
    return (
        not second.number
        and first.style == second.style
        and first_line.page == line.page
        and not is_known_title(first.title)
        and not is_known_title(second.title)
    )


def _paragraphs(lines: Sequence[PdfLine | str]) -> str:
    """Lines joined to paragraphs; strings stand for subheadings, on lines of their own."""
    lengths = sorted(len(line.text) for line in lines if isinstance(line, PdfLine))
    full = lengths[len(lengths) * 3 // 4] if lengths else 0
    pieces: list[str] = []
    for line in lines:
        if isinstance(line, str):
            pieces.append(f"\n\n{line}\n")
        else:
            ends = line.text.endswith((".", "?", "!")) and len(line.text) < 0.8 * full
            pieces.append(line.text + ("\n\n" if ends else " "))
    text = "".join(pieces).translate(_LIGATURES)
    return re.sub(r" *\n *", "\n", re.sub(r"\n{3,}", "\n\n", text)).strip()


def detect_layout(lines: Sequence[PdfLine], metadata_title: str = "") -> PdfLayout:
    """Sections are those under the main headings; subheadings stay in the text, on their own line."""
    lines = _without_running_lines(lines)
    if not lines:
        return PdfLayout("", (), ())
    body = _body_style(lines)
    lines, captions = take_captions(lines, body)
    title = _title(lines, body, metadata_title)
    marked = list(_lines_with_headings(lines, body, title))
    headings = [heading for _, heading in marked if heading]
    numbered = sum(bool(heading.number) for heading in headings) >= 3
    main = _main_style(headings)
    sections: list[tuple[str, list[PdfLine | str]]] = [(FRONT_MATTER, [])]
    for line, heading in marked:
        if line.text in title and line.style.size > body.size:
            continue
        if heading and _is_main(heading, numbered, main):
            sections.append((heading.title, []))
        else:
            sections[-1][1].append(line.text if heading else line)
    if len(sections) == 1:
        sections = [(WHOLE_TEXT, sections[0][1])]
    texts = ((name.translate(_LIGATURES), _paragraphs(content)) for name, content in sections)
    found = tuple(Section(title=name, text=text) for name, text in texts if text)
    return PdfLayout(title.translate(_LIGATURES), found, tuple(captions))
