"""Detection of text that models can decode but people cannot read at sight: encoded, or spelled letter by letter."""

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator
from itertools import islice

_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{24,4000}={0,2}(?![\w+/=-])")
_HEX = re.compile(r"(?<![\w\\])(?:[0-9a-f]{2}){20,2000}(?!\w)|(?<![\w\\])(?:[0-9A-F]{2}){20,2000}(?!\w)")
_ENTITIES = re.compile(r"(?:&#(?:[0-9]{1,7}|[xX][0-9a-fA-F]{1,6});\s?){6,1000}")
_ESCAPES = re.compile(r"^(?=[^\n]{0,4000}\\u[0-9a-fA-F]{4})[^\n]{1,8000}", re.MULTILINE)
"""Pattern for a line with at least one escape sequence."""
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}[\w.,!+-]{0,20}){6,500}")
_SPACED = re.compile(r"(?<!\S)(?:\S {1,4}){15,500}\S?(?!\S)")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_NAMES_ROT13 = re.compile(r"\brot[ -]?13\b|\bcaesar (?:cipher|shift)\b", re.IGNORECASE)
_MAX_TEXTS = 50
"""Maximum number of encoded texts of each kind."""


def encoded_texts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and the decoded text of each encoded text. If the text asks its reader to decode rot13, the
    whole text is decoded."""
    lengths = [*map(len, text.split())]
    longest = max(lengths, default=0)
    # Searching for the patterns takes twenty times as long as these conditions.
    forms = (
        (longest >= 24, _BASE64, _decode_base64),
        (longest >= 40, _HEX, lambda run: _prose(bytes.fromhex(run))),
        ("&#" in text, _ENTITIES, html.unescape),
        ("\\u" in text, _ESCAPES, _decode_escapes),
        ("%" in text, _PERCENT, _decode_percent),
        (lengths.count(1) >= 15, _SPACED, _join_spaced),
    )
    for pattern, decode in ((pattern, decode) for possible, pattern, decode in forms if possible):
        for match in islice(pattern.finditer(text), _MAX_TEXTS):
            if decoded := decode(match[0]):
                yield match.start(), decoded
    if named := _NAMES_ROT13.search(text):
        yield named.start(), codecs.decode(text, "rot13")


def _decode_base64(run: str) -> str:
    """Return the decoded text; empty if the run is not an encoded text but a name, a hash or part of a URL."""
    padded = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _prose(base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True))
    except binascii.Error:
        return ""


def _decode_percent(run: str) -> str:
    return _prose(re.sub(rb"%([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), run.encode("utf-8", "ignore")))


def _decode_escapes(run: str) -> str:
    units = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), run)
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")


def _prose(data: bytes) -> str:
    try:
        found = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return found if all(item.isprintable() or item.isspace() for item in found) else ""


def _join_spaced(run: str) -> str:
    """Return the letters joined into words, with word boundaries at gaps that are wider than those between letters."""
    return " ".join(word.replace(" ", "") for word in re.split(r" {2,}", run))
