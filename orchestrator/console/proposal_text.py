"""Rendering of a proposal's text for reading: Markdown becomes headings and lists, and a paragraph's lines are joined.

The text is untrusted: its HTML is not interpreted, nothing in it becomes a link or is fetched, and every character
stays visible. Tables are therefore shown as typed (Markdown would drop cells beyond those in the header), and so are
asterisks within a word or a formula."""

import re
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markupsafe import Markup, escape

from assayer.reports.escaping import remove_unprintable

MAX_RENDERED_CHARS, MAX_RENDERED_LINES = 100_000, 5_000
"""Maximum numbers of characters and lines for formatting. Longer text is shown unformatted, because parsing it as
Markdown would take seconds."""
_DISABLED_RULES = ("html_block", "html_inline", "link", "image", "autolink", "reference", "entity", "escape", "code")
"""Disabled Markdown rules. In text from PDFs, indented lines (`code`) are rarely program code; `entity` and `escape`
would change characters."""
_HEADING_SHIFT = 2
"""Number of levels by which the text's headings are lowered, so that they stay below the page's own."""
_LOWEST_HEADING_LEVEL = 6
_MAX_WRAPPED_CHARS = 200
"""Maximum length, in characters, of lines that count as wrapped. If a paragraph has a longer line, all its line breaks
are kept."""
_WRAPPED_FRACTION = 0.75
"""A line counts as wrapped if it would exceed this fraction of the paragraph's longest line once the next word is
added. It is less than 1 because character widths differ."""
_LIST_ITEM_START = re.compile(r"[•‣▪◦·–—|]|\(?(?:\d{1,3}|[a-zA-Z])[.)]\s|\[\d{1,3}\]\s")
_HYPHENATED_END = re.compile(r"[^\W\d_]-$")
_COMPARISON = re.compile(r">[>=]*\s*[-+±]?\.?\d")
"""Matches lines that start with a comparison such as `> 5`. They are not treated as Markdown quotations, which would
hide the sign."""
_LITERAL_TEXT = re.compile(r"\$\$[^$]+\$\$|\$[^$\n]+\$|(?<=\w)\*+(?=\w)")
"""Matches text that is kept as typed: formulas between dollar signs, and asterisks within a word."""


def render_proposal(text: str) -> Markup:
    """Render a proposal's text as HTML, for an element with the class `told`."""
    printable_text = remove_unprintable(text)
    if len(printable_text) > MAX_RENDERED_CHARS or printable_text.count("\n") > MAX_RENDERED_LINES:
        return Markup('<div class="words">{}</div>').format(escape(printable_text))
    return Markup(_build_parser().render(printable_text))  # noqa: S704 - escaped text, and the tags of Markdown without attributes


@cache
def _build_parser() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).disable(_DISABLED_RULES)
    reader.block.ruler.at("blockquote", _parse_quotation, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    reader.inline.ruler.before("backticks", "as_typed", _parse_literal_text)
    reader.core.ruler.after("block", "blocks", _adapt_tokens)
    return reader


def _parse_quotation(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    start = state.bMarks[first] + state.tShift[first]
    return _COMPARISON.match(state.src, start) is None and blockquote(state, first, last, silent)


def _parse_literal_text(state: StateInline, silent: bool) -> bool:
    match = _LITERAL_TEXT.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.pending += match[0]
    state.pos = match.end()
    return True


def _adapt_tokens(state: StateCore) -> None:
    is_multiline = False
    for index, token in enumerate(state.tokens):
        match token.type:
            case "heading_open":
                is_multiline = "\n" in state.tokens[index + 1].content
                token.tag = _get_heading_tag(token.tag, is_multiline)
            case "heading_close":
                token.tag = _get_heading_tag(token.tag, is_multiline)
            case "inline":
                token.content = _unwrap_lines(token.content)
            case "list_item_open" if token.info.isdecimal():
                token.attrSet("value", token.info)
            case "fence":
                # Text after the opening fence would be lost: Markdown turns it into a class name.
                token.content, token.info = f"{token.info.strip()}\n{token.content}".lstrip("\n"), ""


def _get_heading_tag(tag: str, is_multiline: bool) -> str:
    """Return a heading's tag, lowered to stay below the page's own headings. A multi-line heading (a paragraph above a
    rule) becomes a paragraph."""
    return "p" if is_multiline else f"h{min(int(tag[1]) + _HEADING_SHIFT, _LOWEST_HEADING_LEVEL)}"


def _unwrap_lines(paragraph: str) -> str:
    """Join lines that were wrapped because the next word did not fit. Other line breaks are kept, as Markdown hard
    breaks."""
    lines = [line.strip() for line in paragraph.split("\n")]
    longest = max(map(len, lines))
    joined = lines[0]
    for previous, line in pairwise(lines):
        needed_width = len(previous) + 1 + len(line.split(" ", 1)[0])
        is_table_row = "|" in previous and "|" in line
        keeps_break = (
            longest > _MAX_WRAPPED_CHARS
            or needed_width <= _WRAPPED_FRACTION * longest
            or is_table_row
            or _LIST_ITEM_START.match(line)
        )
        separator = "  \n" if keeps_break else "" if _HYPHENATED_END.search(previous) and line[:1].islower() else " "
        joined += separator + line
    return joined
