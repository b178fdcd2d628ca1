"""Escaping of external text and URLs in pages and tables, so that they are always treated as data."""

import re
from urllib.parse import urlsplit

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_DIRECTION = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_UNSAFE_IN_URL = re.compile(r"[\s<>\"'`\\{}|^]")


def remove_unprintable(text: str) -> str:
    """Return the text without unprintable characters and without characters that change the reading direction."""
    return _CONTROLS.sub("\ufffd", _DIRECTION.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def join_lines(text: str) -> str:
    return " ".join(remove_unprintable(text).split())


def get_safe_url(url: str) -> str | None:
    """Return the URL if it is a plain http(s) URL that can safely become a link; otherwise None. URLs with a user name
    are refused, because `https://arxiv.org@other.example` looks like another host."""
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
"""Pattern for the positions at which a spreadsheet would execute text as a formula. These are the start of a cell and
the position after a semicolon, where some programs split lines despite quotes. Covers full-width and small signs."""


def escape_cell(text: str) -> str:
    """Return the text on one line, with an apostrophe inserted before anything that a spreadsheet would execute as a
    formula."""
    return _FORMULA.sub(r"\1'", join_lines(text))


def shorten(text: str, max_chars: int) -> str:
    """Cut a text to at most `max_chars` characters, ending with an ellipsis if anything was cut."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
