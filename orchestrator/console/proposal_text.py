"""The text of a proposal for reading: its Markdown as headings and lists, the lines of a paragraph joined.

The text is from outside: none of its HTML is taken for that, nothing in it becomes a link or is fetched, and every
letter of it stays in sight. That is why tables stay as they were typed (Markdown drops cells beyond the heading's), and
so do stars inside a word or a formula.
"""

import re
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markupsafe import Markup, escape

from assayer.reports.escaping import printable

__all__ = ["LONGEST_RENDERED", "MOST_LINES_RENDERED", "proposal_html"]

LONGEST_RENDERED, MOST_LINES_RENDERED = 100_000, 5_000
"""Characters and lines; a longer text is shown as it is, since reading its Markdown would take seconds."""
_UNTAKEN = ("html_block", "html_inline", "link", "image", "autolink", "reference", "entity", "escape", "code")
"""`code` are indented lines: in texts of PDFs these are no programs. `entity` and `escape` would change signs."""
_BELOW = 2
"""Levels of the page's own headings above those of the text."""
_LOWEST = 6
_WRAPPED_UP_TO = 200
"""Characters: nobody breaks lines at more, so that each longer one is a paragraph."""
_FILLED = 0.75
"""Of the longest line of a paragraph: how full a line is that was broken for want of room. Letters differ in width."""
_BEGINS_ITEM = re.compile(r"[•‣▪◦·–—|]|\(?(?:\d{1,3}|[a-zA-Z])[.)]\s|\[\d{1,3}\]\s")
_BROKEN_WORD = re.compile(r"[^\W\d_]-$")
_GREATER = re.compile(r">[>=]*\s*[-+±]?\.?\d")
"""What a line of a paragraph may begin with: no mark of a quotation, which would go out of sight."""
_AS_TYPED = re.compile(r"\$\$[^$]+\$\$|\$[^$\n]+\$|(?<=\w)\*+(?=\w)")
"""Formulas between dollars, and stars inside a word."""


def proposal_html(text: str) -> Markup:
    """To stand in an element with the class `told`."""
    shown = printable(text)
    if len(shown) > LONGEST_RENDERED or shown.count("\n") > MOST_LINES_RENDERED:
        return Markup('<div class="words">{}</div>').format(escape(shown))
    return Markup(_reader().render(shown))  # noqa: S704 - escaped text, and the tags of Markdown without attributes


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).disable(_UNTAKEN)
    reader.block.ruler.at("blockquote", _quotation, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    reader.inline.ruler.before("backticks", "as_typed", _as_typed)
    reader.core.ruler.after("block", "blocks", _in_sight)
    return reader


def _quotation(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    start = state.bMarks[first] + state.tShift[first]
    return _GREATER.match(state.src, start) is None and blockquote(state, first, last, silent)


def _as_typed(state: StateInline, silent: bool) -> bool:
    match = _AS_TYPED.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.pending += match[0]
    state.pos = match.end()
    return True


def _in_sight(state: StateCore) -> None:
    several = False
    for place, token in enumerate(state.tokens):
        match token.type:
            case "heading_open":
                several = "\n" in state.tokens[place + 1].content
                token.tag = _heading(token.tag, several)
            case "heading_close":
                token.tag = _heading(token.tag, several)
            case "inline":
                token.content = _unwrapped(token.content)
            case "list_item_open" if token.info.isdecimal():
                token.attrSet("value", token.info)
            case "fence":
                # What stands behind the opening marks would only name a class.
                token.content, token.info = f"{token.info.strip()}\n{token.content}".lstrip("\n"), ""


def _heading(tag: str, several: bool) -> str:
    """Below those of the page; several lines over a rule are a paragraph."""
    return "p" if several else f"h{min(int(tag[1]) + _BELOW, _LOWEST)}"


def _unwrapped(paragraph: str) -> str:
    """Lines are joined where the next word had no room; other breaks stay, as Markdown writes them."""
    lines = [line.strip() for line in paragraph.split("\n")]
    longest = max(map(len, lines))
    found = lines[0]
    for before, line in pairwise(lines):
        needed = len(before) + 1 + len(line.split(" ", 1)[0])
        row = "|" in before and "|" in line
        kept = longest > _WRAPPED_UP_TO or needed <= _FILLED * longest or row or _BEGINS_ITEM.match(line)
        between = "  \n" if kept else "" if _BROKEN_WORD.search(before) and line[:1].islower() else " "
        found += between + line
    return found
