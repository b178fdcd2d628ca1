"""Numbers in endpoints' messages: how long to wait, and how many tokens fit."""

import math
import re

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_UNIT = r"(?:ms|milli\w*|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
_QUANTITY = rf"\d+(?:\.\d+)?\s*{_UNIT}"
_DURATION = re.compile(rf"{_QUANTITY}(?:,?\s*(?:and\s+)?{_QUANTITY})*", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")
_WAIT = re.compile(
    rf"\b(?:try(?:ing)? again|retry(?:ing)?|(?:estimated )?wait|estimated time|come back|resets?|available(?: again)?)"
    rf"(?:[ _-][a-z]+){{0,4}}[ :=]*"
    rf"({_QUANTITY}(?:,?\s*(?:and\s+)?{_QUANTITY})*)|retry[ _-]after\w*[\"' :=]+(\d+(?:\.\d+)?)(?![\d.:/-])",
    re.IGNORECASE,
)


def duration_seconds(text: str) -> float | None:
    """Return a duration such as `1.2s`, `7m12s`, `120 ms` or `2 minutes` in seconds; a bare number is in seconds.
    Return None if the text is not a duration."""
    text = text.strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        return float(text)
    if not _DURATION.fullmatch(text):
        return None
    parts = _PART.findall(text.lower().replace("and", ""))
    seconds = sum(float(number) * _unit_seconds(unit) for number, unit in parts)
    return seconds if math.isfinite(seconds) else None


def _unit_seconds(unit: str) -> float:
    return 0.001 if unit.startswith(("ms", "milli")) else _SECONDS[unit[0]]


def wait_stated(message: str) -> float | None:
    """Return the wait that a message asks for, in seconds, as in `try again in 7m12s`; None if it asks for none."""
    match = _WAIT.search(message)
    return None if match is None else duration_seconds(match[1] or match[2])


_TOKENS = r"(\d[\d,_]{2,})"
_WINDOWS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\bn_ctx\b\D{{0,4}}{_TOKENS}",
        rf"> {_TOKENS}",
        rf"{_TOKENS} (?:tokens? )?(?:maximum|max\b|limit)",
        rf"context(?:[_ ](?:length|window|size|limit)s?)?[^0-9.;]{{0,40}}{_TOKENS}",
        rf"(?:<=|(?:less|more) than|(?:can|should )not exceed|allowed \(?|at most|up to|limit:?) {{0,2}}\(?{_TOKENS}",
        rf"\[\d+, ?{_TOKENS}\]",
        rf"(?:max_(?:seq|model)_len|max_\w+_tokens|session_len)\b[^0-9.;]{{0,40}}{_TOKENS}",
        rf"(?:limit(?! exceeded by)|maximum|\bmax\b)[^0-9.;]{{0,40}}{_TOKENS}",
    )
)
"""Patterns for how endpoints state their context window, most reliable first."""
_MIN_WINDOW = 512


def window_stated(message: str, code: str) -> int | None:
    """Return the context window that a refusal states, in tokens; None if it states none. A number that is also the
    error's code is none."""
    codes = code.split()
    for pattern in _WINDOWS:
        for match in pattern.finditer(message.lower()):
            tokens = int(re.sub(r"\D", "", match[1]))
            if tokens >= _MIN_WINDOW and match[1] not in codes:
                return tokens
    return None


_RATE = re.compile(rf"\blimit:? {_TOKENS}\b.{{0,60}}\brequested:? ~?{_TOKENS}\b", re.IGNORECASE | re.DOTALL)


def exceeds_rate(message: str) -> bool:
    """Return whether a request alone has more tokens than the rate limit in the message allows, so that waiting does
    not help."""
    match = _RATE.search(message)
    return match is not None and int(re.sub(r"\D", "", match[2])) > int(re.sub(r"\D", "", match[1]))
