"""Find the headings of a plain or Markdown text, and split it at the outermost ones."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assayer.models import Section
from assayer.text.section_titles import is_known_title

MAX_CHARS = 120
MAX_WORDS = 12

_MARKDOWN = re.compile(r"^ {0,3}(#{1,6}|={2,6}(?= [^\W\d_a-z]))\s++(\S.*)$")
"""Pattern for a heading of Markdown (`## Title`), or of AsciiDoc and MediaWiki (`== Title`)."""
_UNDERLINE = re.compile(r"^\s{0,3}(={3,}|-{3,})\s*$")
_NUMBERED = re.compile(r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}[.)]?|[IVX]{1,5}[.)])\s+(?P<title>[^\W\d_].*)$")
_BOLD = re.compile(r"^(\*\*|__)(?P<title>[^*_].*?)\1:?\s*$")
_INLINE = re.compile(
    r"^(?:[-*]\s+)?(?:\*\*|__)?(?P<title>[A-Za-z][A-Za-z -]{2,40}?)(?:\*\*|__)?(?::| \|)(?:\*\*|__)?\s+(?=\S)"
)
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_ATTRIBUTES = re.compile(r"\s\{[#.-][^{}]{0,200}\}$")
"""Pattern for the attributes of a heading in pandoc's Markdown: `{#sec-problem .unnumbered}`."""
_EMPHASIS = re.compile(r"\*\*|__|^\*|\*$")


class Heading(NamedTuple):
    start: int
    """Offset of the heading's first character."""
    end: int
    """Offset at which the text under the heading begins."""
    level: int
    """Level of the heading; 1 is outermost. More explicit marks get lower levels: Markdown 1 to 6, numbers and known
    titles from 7, bold 11, a known title that begins a line of text 12."""
    title: str


class _Line(NamedTuple):
    start: int
    text: str
    after_blank: bool
    before_blank: bool
    below: str


def _split_lines(text: str) -> Iterator[_Line]:
    """Yield the lines outside fenced code."""
    lines = text.split("\n")
    fenced, offset = False, 0
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip():
            above = lines[number - 1] if number else ""
            below = lines[number + 1] if number + 1 < len(lines) else ""
            yield _Line(offset, line, not above.strip(), not below.strip(), below)
        offset += len(line) + 1


def _strip_title(title: str) -> str:
    return _EMPHASIS.sub("", _ATTRIBUTES.sub("", title.strip())).strip().rstrip(":").strip()


def _reads_like_title(title: str) -> bool:
    return len(title) <= MAX_CHARS and len(title.split()) <= MAX_WORDS and title[-1:] not in ".,;?!"


def _parse_marked_heading(line: _Line) -> Heading | None:
    """Return the heading marked by Markdown; None if the line is not such a heading."""
    end = line.start + len(line.text)
    if match := _MARKDOWN.match(line.text):
        title = match[2].rstrip(f"{match[1][0]} \t\r\f\v") or match[2][0]
        return Heading(line.start, end, len(match[1]), _strip_title(title))
    if (
        line.after_blank
        and (match := _UNDERLINE.match(line.below))
        and 0 < len(title := _strip_title(line.text)) <= MAX_CHARS
    ):
        return Heading(line.start, end + 1 + len(line.below), 1 if match[1][0] == "=" else 2, title)
    return None


def _recognise_heading(line: _Line) -> Heading | None:
    """Return the heading recognised by a number, bold type or wording; None if the line is not a heading."""
    end = line.start + len(line.text)
    alone = line.after_blank and line.before_blank
    bare = _strip_title(line.text) if len(line.text) <= 2 * MAX_CHARS else ""
    if match := _NUMBERED.match(bare):
        depth = len(re.findall(r"\w+", match["number"]))
        title = match["title"]
        if is_known_title(title) or (alone and title[0].isupper() and _reads_like_title(title)):
            return Heading(line.start, end, 6 + depth, title)
    if is_known_title(bare):
        return Heading(line.start, end, 7, bare)
    if bare and alone and _BOLD.match(line.text.strip()) and _reads_like_title(bare):
        return Heading(line.start, end, 11, bare)
    if (match := _INLINE.match(line.text)) and is_known_title(match["title"]):
        return Heading(line.start, line.start + match.end(), 12, match["title"])
    return None


def find_headings(text: str) -> list[Heading]:
    """Return all headings in order: Markdown, underlined, numbered, bold, or lines with a known title."""
    return [
        heading for line in _split_lines(text) if (heading := _parse_marked_heading(line) or _recognise_heading(line))
    ]


def split_at(text: str, headings: Sequence[Heading], untitled: str) -> tuple[Section, ...]:
    """Return the sections under the outermost headings; deeper headings stay in the text. Text before the first heading
    becomes a section named `untitled`. Sections without text are left out."""
    level = min((heading.level for heading in headings), default=0)
    cuts = [heading for heading in headings if heading.level == level]
    ends = [*(cut.start for cut in cuts), len(text)]
    parts = [(untitled, text[: ends[0]])]
    parts += [(cut.title, text[cut.end : end]) for cut, end in zip(cuts, ends[1:], strict=True)]
    return tuple(Section(title=title, text=body.strip()) for title, body in parts if body.strip())
