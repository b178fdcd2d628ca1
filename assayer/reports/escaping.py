"""Text and addresses from outside, escaped for pages and tables: they are data, whatever they contain."""

import re
from urllib.parse import urlsplit

__all__ = ["cell", "one_line", "printable", "web_url"]


_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_DIRECTION = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSAFE_IN_URL = re.compile(r"[\s<>\"'`\\{}|^]")


def printable(text: str) -> str:
    """Without characters that no page can show, or that turn the reading direction of what follows."""
    return _CONTROLS.sub("\ufffd", _DIRECTION.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str) -> str:
    return " ".join(printable(text).split())


def web_url(url: str) -> str | None:
    """The URL itself when it is a plain http(s) address that may become a link; None shows it as text.

    Addresses with a user name are no links: `https://arxiv.org@other.example` reads as another place.
    """
    if _UNSAFE_IN_URL.search(url) or not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        return None
    return url


_FORMULA = re.compile(
    r"(\A|;)(?=[\s\"\ufffd\u00ad\u200b-\u200d\u2060\ufeff]*+[=+\-@\u2212\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b])"
)
"""Where a spreadsheet takes what follows for a formula and carries it out: at the start of a cell, and after a
separator at which some split a line whatever its quotes. The signs count in their full-width and small forms too."""


def cell(text: str) -> str:
    """On one line; what would be a formula, or would be one after a separator, is marked as text by an apostrophe."""
    return _FORMULA.sub(r"\1'", one_line(text))
