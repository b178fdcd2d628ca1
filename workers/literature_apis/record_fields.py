"""Lenient types for the fields of API records, and functions that convert them to a paper's fields.

Malformed parts of a record are left out, but the enclosing structure must be valid. JATS and HTML markup is removed
from texts, links are checked, and partial dates are completed."""

import calendar
import datetime as dt
import re
from typing import Annotated, TypeVar
from urllib.parse import quote, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    WrapValidator,
)
from pydantic import ValidatorFunctionWrapHandler as Validator

from assayer.models import PaperId
from assayer.text.markup import strip_markup
from assayer.text.sanitise import clean_text
from workers.outbound.metrics import PARSE_FAILURES

T = TypeVar("T")

_MAX_COUNT = 10**9


class ApiObject(BaseModel):
    """Base class for API objects. Undeclared fields are ignored, because sources add fields without notice."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def _validate_or_none(value: object, validate: Validator, info: ValidationInfo) -> object:
    if value is None:
        return None
    try:
        return validate(value)
    except ValidationError:
        PARSE_FAILURES.labels(info.context or "unknown", "record").inc()
        return None


def _remove_gaps(values: tuple[T | None, ...]) -> tuple[T, ...]:
    return tuple(value for value in values if value is not None)


TextOrEmpty = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
"""Text; empty for null and other types."""
CountOrNone = Annotated[
    int | None, BeforeValidator(lambda value: value if type(value) is int and 0 <= value < _MAX_COUNT else None)
]
"""Count; None for a value that cannot be a count."""
TrueOrFalse = Annotated[bool, BeforeValidator(lambda value: value is True)]
ObjectOrNone = Annotated[T | None, WrapValidator(_validate_or_none)]
"""Object; None if it is missing or malformed."""
ValidEntries = Annotated[
    tuple[Annotated[T, WrapValidator(_validate_or_none)], ...],
    BeforeValidator(lambda value: value if isinstance(value, list) else ()),
    AfterValidator(_remove_gaps),
]
"""List without malformed and null entries; empty for null."""


_LINK = re.compile(r"https?://[^\s<>\"]{3,2000}", re.IGNORECASE)
_PERIOD = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?(?:T.*)?")
_UNQUOTABLE = re.compile(r"[\s\[\]%]")


def clean_line(text: str) -> str:
    """Clean the text and join it into a single line."""
    return " ".join(clean_text(text).split())


def clean_title(text: str) -> str:
    """Convert a title to a single line without markup."""
    return clean_line(strip_markup(text))


def clean_prose(text: str) -> str:
    return clean_text(text).strip()


def check_link(text: str) -> str:
    """Return the text if it is a web URL, otherwise an empty string."""
    text = text.strip()
    if not _LINK.fullmatch(text) or not text.isprintable():
        return ""
    try:
        return text if urlsplit(text).hostname else ""
    except ValueError:
        return ""


def list_distinct_links(*addresses: str) -> tuple[str, ...]:
    """Return the valid URLs in order, without duplicates."""
    return tuple(dict.fromkeys(address for text in addresses if (address := check_link(text))))


def compute_last_day(year: int, month: int | None = None, day: int | None = None) -> dt.date | None:
    """Return the last day of the period, so that no cutoff admits the paper too early; None if the date does not
    exist."""
    try:
        month = month or 12
        return dt.date(year, month, day or calendar.monthrange(year, month)[1])
    except (ValueError, OverflowError, IndexError):
        return None


def parse_date(text: str) -> dt.date | None:
    """Parse `2021-05-07`, `2021-05` or `2021`, each optionally followed by a time."""
    match = _PERIOD.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = (int(part or 0) for part in match.groups())
    return compute_last_day(year, month or None, day or None)


def make_paper_id(prefix: str, name: str) -> PaperId:
    """Return a paper id. Whitespace and square brackets are percent-encoded, because ids are used in citation marks."""
    return PaperId(f"{prefix}:{_UNQUOTABLE.sub(lambda match: quote(match[0], safe=''), name)}")
