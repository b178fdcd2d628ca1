"""Finds title, headings and sections in the lines of a PDF, by their type size, weight, numbering and words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from assayer.headings import is_known
from assayer.models import Caption, Section
from workers.documents.captions import take_captions
from workers.documents.lines import Line, Style

__all__ = ["Layout", "lay_out"]

FRONT = "Front matter"
"""Names what stands before the first heading: title, authors, sometimes the abstract."""
BODY = "Text"
"""Names the whole of a document without headings."""


class Layout(NamedTuple):
    title: str
    """May be empty."""
    sections: tuple[Section, ...]
    captions: tuple[Caption, ...]


class _Heading(NamedTuple):
    number: str
    title: str
    style: Style
    weak: bool = False
    """Only its font differs from the text's, and the font's name does not say that it is bold or italic."""


_NUMBERED = re.compile(
    r"^(?:section\s+)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-H]\.(?:\d{1,2}\.?)?)\s+(?P<title>[^\W\d_].*)$",
    re.IGNORECASE,
)
_NO_HEADING = re.compile(
    r"^(?:fig(?:ure)?|table|tab|algorithm|equation|eq|scheme|listing|doi|https?|©)\b", re.IGNORECASE
)
_EDGE = 3
_ANY_NUMBER = re.compile(r"\d+")
_MAIN = re.compile(
    r"^(?:abstract|summary|introduction|background|related work|(?:materials and )?methods?(?: and materials)?"
    r"|methodology|approach|experiments?|results(?: and discussion)?|evaluation|discussion|conclusions?|limitations"
    r")$",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"^(?:references|bibliography|acknowledge?ments?|appendi(?:x|ces)\b.*|supplementary material|funding"
    r"|author(?:s['’])? contributions|(?:competing|conflicts? of) interests?|ethics statement|data availability)$",
    re.IGNORECASE,
)
"""Headings of what follows the work itself; often set smaller than its text."""
_JUNK_TITLE = re.compile(
    r"^(?:untitled|microsoft word|document\d*|.*\.(?:docx?|tex|dvi|pdf|indd|qxd))\b", re.IGNORECASE
)
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"})


def _running_key(line: Line) -> str:
    """What a running head has in common on all pages."""
    return _ANY_NUMBER.sub("#", line.text)


def _without_running_lines(lines: Sequence[Line]) -> list[Line]:
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


def _body_style(lines: Iterable[Line]) -> Style:
    weights: Counter[Style] = Counter()
    for line in lines:
        weights[line.style] += len(line.text)
    return weights.most_common(1)[0][0]


def _title(lines: Sequence[Line], body: Style, metadata: str) -> str:
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


def _heading(line: Line, body: Style) -> _Heading | None:
    text, style = line.text.rstrip(":").strip(), line.style
    words = text.split()
    match = _NUMBERED.match(text)
    number, title = (match["number"].rstrip("."), match["title"]) if match else ("", text)
    if not line.uniform and not number:
        return None
    if len(text) > 120 or len(words) > 14 or text.endswith((".", ",", ";", "-")) or _NO_HEADING.match(text):
        return None
    if sum(map(str.isalpha, text)) < max(3, 0.6 * len(text.replace(" ", ""))) or not title[:1].isupper():
        return None
    larger = style.size >= 1.08 * body.size
    other = style.font != body.font and style.size >= 0.9 * body.size
    stands_out = larger or ((style.bold or style.italic or title.isupper()) and other)
    usual = is_known(title) or bool(_BACK.match(title))
    if usual or stands_out:
        return _Heading(number, title, style)
    return _Heading("", title, style, weak=True) if other and len(words) <= 8 else None


def _main_style(headings: Iterable[_Heading]) -> Style | None:
    """The style that most of the usual main headings have."""
    styles = Counter(heading.style for heading in headings if _MAIN.match(heading.title))
    return styles.most_common(1)[0][0] if styles else None


def _is_main(heading: _Heading, numbered: bool, main: Style | None) -> bool:
    usual = bool(_MAIN.match(heading.title))
    if heading.weak:
        return False
    if _BACK.match(heading.title):
        return True
    if heading.number:
        return "." not in heading.number
    if numbered or main is None:
        return usual or not numbered
    return heading.style == main or (usual and heading.style.size >= main.size)


def _marked(lines: Sequence[Line], body: Style, title: str) -> Iterator[tuple[Line, _Heading | None]]:
    """Every line with the heading it is, if any; the lines of one heading joined."""
    pending: tuple[Line, _Heading] | None = None
    for line in lines:
        heading = None if line.text in title else _heading(line, body)
        if pending and heading and _continues(pending[1], pending[0], heading, line):
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


def _continues(first: _Heading, first_line: Line, second: _Heading, line: Line) -> bool:
    return (
        not second.number
        and first.style == second.style
        and first_line.page == line.page
        and not is_known(first.title)
        and not is_known(second.title)
    )


def _paragraphs(lines: Sequence[Line | str]) -> str:
    """Lines joined to paragraphs; strings stand for subheadings, on lines of their own."""
    lengths = sorted(len(line.text) for line in lines if isinstance(line, Line))
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


def lay_out(lines: Sequence[Line], metadata_title: str = "") -> Layout:
    """Sections are those under the main headings; subheadings stay in the text, on their own line."""
    lines = _without_running_lines(lines)
    if not lines:
        return Layout("", (), ())
    body = _body_style(lines)
    lines, captions = take_captions(lines, body)
    title = _title(lines, body, metadata_title)
    marked = list(_marked(lines, body, title))
    headings = [heading for _, heading in marked if heading]
    numbered = sum(bool(heading.number) for heading in headings) >= 3
    main = _main_style(headings)
    sections: list[tuple[str, list[Line | str]]] = [(FRONT, [])]
    for line, heading in marked:
        if line.text in title and line.style.size > body.size:
            continue
        if heading and _is_main(heading, numbered, main):
            sections.append((heading.title, []))
        else:
            sections[-1][1].append(line.text if heading else line)
    if len(sections) == 1:
        sections = [(BODY, sections[0][1])]
    texts = ((name.translate(_LIGATURES), _paragraphs(content)) for name, content in sections)
    found = tuple(Section(title=name, text=text) for name, text in texts if text)
    return Layout(title.translate(_LIGATURES), found, tuple(captions))
