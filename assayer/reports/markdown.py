"""Report as Markdown that is readable both raw and rendered (CommonMark with GitHub's tables).

Every value that a template prints is escaped unless it is Markup, so that external text cannot become a link, a
heading, HTML or a table cell of its own."""

import re
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from assayer.citing.labels import split_at_labels
from assayer.models import Absent, Report, Score
from assayer.reports import reference_wording
from assayer.reports.escaping import get_safe_url, join_lines, remove_unprintable
from assayer.reports.report_page import ReportPage
from assayer.reports.scores import compute_share
from assayer.reports.templating import build_environment

MAX_WORDS = 5_000
"""Maximum number of words in a report. It is exceeded only if the first page and its evidence alone are longer."""
_REDUCTIONS = ((5, True), (2, True), (1, True), (0, True), (0, False))
"""Maximum number of points of each kind under an assessment, and whether citations show further quotes. The first pair
with which the report stays within the word limit is used."""
_ADDRESS = re.compile(
    r"(?:(?:(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*+:)?//(?=\w)|www\.|mailto:|xmpp:)[^\s`|]+"  # renderers link these
    r"|(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++"
    r"|(?<![\w.-])\.*+(?:[\w-]++\.++)+(?:com|org|net|edu|gov|info|io|ai|dev|app)\b[^\s`|]*",
    re.IGNORECASE,
)
"""Pattern for a web or email address. It tries each run of characters only from the run's start, so that matching takes
linear time."""
_SPECIAL_CHARACTER = re.compile(r"[\\`*\[\]<|~$]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)")
_AT_START = re.compile(r"^(?:#{1,6}(?=\s|$)|[+:-](?=\s|$)|[=-]+\s*$|>|(\d+)(?=[.)](?:\s|$)))")


def escape(text: str) -> str:
    """Return one line of Markdown that renders as exactly this text. Web and email addresses become code. A renderer
    that links any `word.tld` can still link names with a rare top-level domain; such a link shows its target."""
    return _escape_start(_escape_inline(join_lines(text)))


def _escape_inline(text: str) -> str:
    parts, position = [], 0
    for match in _ADDRESS.finditer(text):
        parts += [_escape_specials(text[position : match.start()]), f"`{match[0]}`"]
        position = match.end()
    return "".join([*parts, _escape_specials(text[position:])])


def _escape_specials(text: str) -> str:
    return _SPECIAL_CHARACTER.sub(lambda match: "\\" + match[0], text)


def _escape_start(line: str) -> str:
    """Return the line, escaped so that it cannot start a heading, a list or a quotation."""
    return _AT_START.sub(lambda match: f"{match[1]}\\" if match[1] else "\\" + match[0], line)


def _finalize(value: object) -> Markup:
    return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704


def _link_labels(text: str, page: ReportPage) -> Markup:
    """Return the text with its labels as reference links (`[P3]`, defined at the end of the report). Text after a label
    is escaped so that it cannot become part of the link."""
    result, after_label = "", False
    for words, label in split_at_labels(join_lines(text), page.references):
        if label is not None:
            retraction = page.references[label].retraction
            mark = f" **({reference_wording.RETRACTIONS[retraction.kind]})**" if retraction else ""
            result += (" " if after_label else "") + words + mark
        else:
            result += ("\\" if after_label and words[0] in "(:" else "") + _escape_inline(words)
        after_label = label is not None
    return Markup(_escape_start(result))  # noqa: S704


def _format_quote_block(text: str) -> Markup:
    lines = (f"> {escape(line)}".rstrip() for line in remove_unprintable(text).strip().split("\n"))
    # Two spaces at the end of a line preserve the line breaks of the original.
    return Markup("  \n".join(lines))  # noqa: S704


def _format_address(url: str) -> Markup:
    return Markup(f"<{url}>") if get_safe_url(url) else _finalize(url)  # noqa: S704


def _draw_bar(score: Score | Absent) -> str:
    part = compute_share(score)
    return "" if part is None else "■" * round(part * 10) + "□" * (10 - round(part * 10))


@cache
def _build_environment() -> Environment:
    """Return the template environment. Markup marks text that is already Markdown; all other text is escaped for
    Markdown before HTML escaping applies."""
    filters: dict[str, Any] = {
        "cited": _link_labels,
        "quoted_block": _format_quote_block,
        "address": _format_address,
        "bar": _draw_bar,
    }
    return build_environment(_finalize, filters)


def render_markdown(template: str, **values: object) -> str:
    text = _build_environment().get_template(template).render(**values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def render_report_markdown(report: Report) -> str:
    """Return the report as Markdown. If it would exceed the word limit, points under assessments are left out, and the
    report states how many; then quotes beyond the first of a citation, which the HTML report shows."""
    text = ""
    for max_points, shows_further_quotes in _REDUCTIONS:
        page = ReportPage(report, max_points, shows_further_quotes)
        text = render_markdown("report.md", page=page, report=report)
        if len(text.split()) <= MAX_WORDS:
            break
    return text
