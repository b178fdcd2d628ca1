"""Durations as services write them."""

import math
import re

_UNIT_SECONDS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_UNIT = r"(?:ms|milli\w*|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
QUANTITY = rf"\d+(?:\.\d+)?\s*{_UNIT}"
_DURATION = re.compile(rf"{QUANTITY}(?:,?\s*(?:and\s+)?{QUANTITY})*", re.IGNORECASE)
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")


def parse_duration(text: str) -> float | None:
    """Return a duration such as `1.2s`, `7m12s`, `120 ms` or `2 minutes` in seconds; a bare number is in seconds.
    Return None if the text is not a duration."""
    text = text.strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", text):
        return float(text)
    if not _DURATION.fullmatch(text):
        return None
    parts = _DURATION_PART.findall(text.lower().replace("and", ""))
    seconds = sum(float(number) * _get_unit_seconds(unit) for number, unit in parts)
    return seconds if math.isfinite(seconds) else None


def _get_unit_seconds(unit: str) -> float:
    return 0.001 if unit.startswith(("ms", "milli")) else _UNIT_SECONDS[unit[0]]
