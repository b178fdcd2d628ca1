"""Values that people type, read with care."""

import datetime as dt
import re

from assayer.errors import InputError

__all__ = ["day"]


def day(text: str | None, noun: str) -> dt.date | None:
    """A date as YYYY-MM-DD, nothing else. Raises InputError naming what it was for."""
    if text is None:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return dt.date.fromisoformat(text)
    except ValueError:
        pass
    raise InputError(f"The {noun} {text!r} is not a date.", "Write it as YYYY-MM-DD, for example 2024-09-30.")
