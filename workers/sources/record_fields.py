"""Fields of API records in the form that papers have them: texts cleaned, JATS and HTML removed, links checked, dates
exact.
"""

import calendar
import datetime as dt
import html
import re
from urllib.parse import quote, urlsplit

from assayer.models import PaperId
from assayer.text.sanitise import clean_text

__all__ = [
    "clean_prose",
    "distinct_links",
    "last_day_of_period",
    "make_paper_id",
    "one_line",
    "parse_date",
    "strip_markup",
    "web_link",
]


_LINK = re.compile(r"https?://[^\s<>\"]{3,2000}", re.IGNORECASE)
_PERIOD = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?(?:T.*)?")
_UNQUOTABLE = re.compile(r"[\s\[\]%]")


def one_line(text: str) -> str:
    """On one line."""
    return " ".join(clean_text(text).split())


def clean_prose(text: str) -> str:
    return clean_text(text).strip()


def web_link(text: str) -> str:
    """A web address as it stands; empty for anything else."""
    text = text.strip()
    if not _LINK.fullmatch(text) or not text.isprintable():
        return ""
    try:
        return text if urlsplit(text).hostname else ""
    except ValueError:
        return ""


def distinct_links(*addresses: str) -> tuple[str, ...]:
    """The usable addresses in their order, each once."""
    return tuple(dict.fromkeys(address for text in addresses if (address := web_link(text))))


def last_day_of_period(year: int, month: int | None = None, day: int | None = None) -> dt.date | None:
    """Of the period, so that no cutoff lets it in too early; None when there is no such day."""
    try:
        month = month or 12
        return dt.date(year, month, day or calendar.monthrange(year, month)[1])
    except (ValueError, OverflowError, IndexError):
        return None


def parse_date(text: str) -> dt.date | None:
    """`2021-05-07`, `2021-05`, `2021`, each also with a time behind it."""
    match = _PERIOD.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(part or 0) for part in match.groups())
    return last_day_of_period(year, month or None, day or None)


def make_paper_id(prefix: str, name: str) -> PaperId:
    """Ids stand in citation marks, so white space and square brackets are percent-encoded."""
    return PaperId(f"{prefix}:{_UNQUOTABLE.sub(lambda match: quote(match[0], safe=''), name)}")


_MAX_MARKUP_CHARACTERS = 100_000
_FORMULA = re.compile(r"<(?:\w+:)?(tex-math|annotation)\b[^<>]*>[^<]*</(?:\w+:)?\1>")
"""Said a second time in MathML beside it."""
_HEADING = re.compile(r"<(?:jats:)?title>\s*(?:abstract|summary)\s*[.:]?\s*</(?:jats:)?title>", re.IGNORECASE)
_BLOCK = re.compile(r"</?(?:\w+:)?(?:p|sec|title|list|list-item|disp-formula|br|div|li)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>|<!--[^<>]*-->", re.IGNORECASE)
_ESCAPED = re.compile(
    r"</?(?:b|br|div|em|i|italic|li|p|scp|small|span|strong|sub|sup|ul)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
"""Tags that publishers escaped once too often; nothing else that looks like one is taken for a tag then."""
_BLANK = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r"\s*\n\s*")


def strip_markup(text: str) -> str:
    """Paragraphs on lines of their own, the heading `Abstract` left out."""
    text = _HEADING.sub("", _FORMULA.sub("", text[:_MAX_MARKUP_CHARACTERS]), count=1)
    text = _TAG.sub("", _BLOCK.sub("\n", text))
    text = _ESCAPED.sub(" ", html.unescape(html.unescape(text)))
    return _BREAKS.sub("\n", _BLANK.sub(" ", text)).strip()
