"""Numbers in endpoints' messages: how long to wait, and how many tokens fit."""

import re

from workers.outbound.durations import QUANTITY, parse_duration

_STATED_WAIT = re.compile(
    rf"\b(?:try(?:ing)? again|retry(?:ing)?|(?:estimated )?wait|estimated time|come back|resets?|available(?: again)?)"
    rf"(?:[ _-][a-z]+){{0,4}}[ :=]*"
    rf"({QUANTITY}(?:,?\s*(?:and\s+)?{QUANTITY})*)|retry[ _-]after\w*[\"' :=]+(\d+(?:\.\d+)?)(?![\d.:/-])",
    re.IGNORECASE,
)


def find_stated_wait(message: str) -> float | None:
    """Return the wait that a message asks for, in seconds, as in `try again in 7m12s`; None if it asks for none."""
    match = _STATED_WAIT.search(message)
    return None if match is None else parse_duration(match[1] or match[2])


_TOKENS = r"(\d[\d,_]{2,})"
_STATED_WINDOWS = tuple(
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
_MIN_WINDOW_TOKENS = 512


def find_stated_window(message: str, code: str) -> int | None:
    """Return the context window that a refusal states, in tokens; None if it states none. A number that is also the
    error's code is none."""
    codes = code.split()
    for pattern in _STATED_WINDOWS:
        for match in pattern.finditer(message.lower()):
            tokens = int(re.sub(r"\D", "", match[1]))
            if tokens >= _MIN_WINDOW_TOKENS and match[1] not in codes:
                return tokens
    return None


_STATED_RATE = re.compile(rf"\blimit:? {_TOKENS}\b.{{0,60}}\brequested:? ~?{_TOKENS}\b", re.IGNORECASE | re.DOTALL)


def is_over_rate_limit(message: str) -> bool:
    """Return whether, according to an error message, a single request has more tokens than the rate limit allows.
    Waiting does not help then."""
    match = _STATED_RATE.search(message)
    return match is not None and int(re.sub(r"\D", "", match[2])) > int(re.sub(r"\D", "", match[1]))
