"""Validate and clean paper records from source files."""

import calendar
import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from assayer.literature.paper_identity import find_doi, parse_arxiv_id
from assayer.models import Identifiers, retraction_in_title
from assayer.text.markup import strip_markup
from assayer.text.sanitise import clean_text

_PERIOD = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{1,2}))?")
_ID = re.compile(r"[^\s\[\]]{1,200}")
"""Pattern for ids. Ids are used in citation marks, so they must not contain white space or square brackets."""
_LINK = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)


def parse_last_day(text: str) -> dt.date:
    """Parse a date. A month (`2021-05`) or year (`2021`) becomes its last day, so that no cutoff includes a paper too
    early. Raises ValueError if the text is not a date."""
    period = _PERIOD.fullmatch(text.strip())
    if period is None:
        return dt.date.fromisoformat(text.strip()[:10])
    year, month = int(period["year"]), int(period["month"] or 12)
    return dt.date(year, month, calendar.monthrange(year, month)[1])


def _clean_text(text: str) -> str:
    return clean_text(text).strip()


def _clean_line(text: str) -> str:
    return " ".join(_clean_text(text).split())


def _clean_title(text: str) -> str:
    """Put a title on one line, without the markup that sources leave in titles."""
    return _clean_line(strip_markup(text))


def _convert_to_text(value: Any) -> Any:
    """Convert the value to text: some dumps write null for an empty text, and numbers for ids."""
    if value is None:
        return ""
    return str(value) if type(value) is int else value


def _convert_to_list(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("is a string instead of a list")  # noqa: TRY004 - pydantic reports it as a problem of the record
    return () if value is None else value


def _check_id(value: str) -> str:
    if not _ID.fullmatch(value) or not value.isprintable():
        raise ValueError("is missing, or contains white space, square brackets or invisible characters")
    return value


OneLineText = Annotated[str, BeforeValidator(_convert_to_text), AfterValidator(_clean_line)]
Title = Annotated[str, BeforeValidator(_convert_to_text), AfterValidator(_clean_title)]
CleanText = Annotated[str, BeforeValidator(_convert_to_text), AfterValidator(_clean_text)]
RecordId = Annotated[str, BeforeValidator(_convert_to_text), AfterValidator(_check_id)]


def _normalise_identifier(space: str, value: Any) -> str:
    """Return the normalized identifier. Identifiers are optional, so a value that cannot be one becomes an empty
    string."""
    text = str(value).strip() if isinstance(value, str | int) else ""
    if space == "doi":
        return find_doi(text)
    if space == "arxiv":
        return parse_arxiv_id(text)
    name = text.rstrip("/").rsplit("/", 1)[-1] if "://" in text else text
    return name if _ID.fullmatch(name) and name.isprintable() else ""


class RecordSection(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    title: OneLineText = ""
    text: CleanText = ""


class TextPlace(NamedTuple):
    section: int
    character: int


class CitedInText(BaseModel):
    """Work in the paper's reference list, with the places where sections cite it. The corpus's paper for it is looked
    up by id if the source provides one, otherwise by DOI, arXiv id, or title and year."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: Annotated[str, BeforeValidator(_convert_to_text), AfterValidator(lambda value: value and _check_id(value))] = ""
    doi: Annotated[str, BeforeValidator(lambda value: _normalise_identifier("doi", value))] = ""
    arxiv: Annotated[str, BeforeValidator(lambda value: _normalise_identifier("arxiv", value))] = ""
    title: Title = ""
    year: int | None = Field(default=None, ge=1000, le=9999)
    at: tuple[TextPlace, ...] = Field(default=(), max_length=10_000)
    """Places where the work is cited: section index and character offset within the section's text, both from 0."""


_WORKS: TypeAdapter[tuple[CitedInText, ...]] = TypeAdapter(tuple[CitedInText, ...])


class PaperRecord(BaseModel):
    """Paper record from a source. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: RecordId
    title: Title = Field(min_length=1)
    abstract: CleanText = Field(min_length=1)
    authors: Annotated[tuple[OneLineText, ...], BeforeValidator(_convert_to_list)] = ()
    year: int | None = Field(default=None, ge=1000, le=9999)
    publication_date: dt.date | None = None
    venue: OneLineText = ""
    url: OneLineText = ""
    citation_count: int | None = Field(default=None, ge=0, lt=2**31)
    identifiers: Identifiers = Identifiers()
    """Identifiers, supplied either in one object or as separate fields of the record: `doi`, `arxiv`, `s2` and so
    on."""
    sections: Annotated[tuple[RecordSection, ...], BeforeValidator(_convert_to_list)] = ()
    references: tuple[RecordId, ...] | None = None
    """Ids of the cited papers; None if the source does not list them."""
    cited_in_text: Annotated[tuple[CitedInText, ...], BeforeValidator(_convert_to_list)] = Field(
        default=(), max_length=10_000
    )
    fields: Annotated[tuple[OneLineText, ...], BeforeValidator(_convert_to_list)] = ()
    """Fields of study, as the source names them."""
    retracted: bool = False

    @field_validator("title", "abstract")
    @classmethod
    def _require_text(cls, value: str) -> str:
        if not value:
            raise ValueError("is missing")
        return value

    @field_validator("publication_date", mode="before")
    @classmethod
    def _date(cls, value: Any) -> dt.date | None:
        if value is None or value == "":
            return None
        try:
            return parse_last_day(value)
        except (TypeError, ValueError, AttributeError):
            raise ValueError("is not a date (YYYY, YYYY-MM or YYYY-MM-DD)") from None

    @field_validator("url")
    @classmethod
    def _link(cls, value: str) -> str:
        if value and not _LINK.fullmatch(value):
            raise ValueError("is not an http(s) URL")
        return value

    @field_validator("citation_count")
    @classmethod
    def _unknown_if_zero(cls, value: int | None) -> int | None:
        """Return None for 0, because sources also write 0 if citations were not counted."""
        return value or None

    @field_validator("sections")
    @classmethod
    def _drop_empty_sections(cls, value: tuple[RecordSection, ...]) -> tuple[RecordSection, ...]:
        return tuple(section for section in value if section.text)

    @model_validator(mode="before")
    @classmethod
    def _gather_identifiers(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        identifiers = data.get("identifiers")
        all_fields = {**(identifiers if isinstance(identifiers, dict) else {}), **data}
        return {
            **data,
            "identifiers": {
                model_field: _normalise_identifier(model_field, all_fields.get(model_field))
                for model_field in Identifiers.model_fields
            },
        }

    @model_validator(mode="before")
    @classmethod
    def _renumber_sections(cls, data: Any) -> Any:
        """Renumber sections in citation places, because sections without text are left out. If cleaning changes a text
        anywhere but at its end, the places in it no longer match and are dropped."""
        if not isinstance(data, dict) or not data.get("cited_in_text"):
            return data
        try:
            works = _WORKS.validate_python(data["cited_in_text"])
        except ValidationError:
            return data  # the field's own validation reports the problem
        texts = [_read_section_text(section) for section in data.get("sections") or ()]
        kept_numbers = [number for number, text in enumerate(texts) if _clean_text(text)]
        numbers = enumerate(kept_numbers)
        new_numbers = {
            number: place for place, number in numbers if texts[number].startswith(_clean_text(texts[number]))
        }
        return {**data, "cited_in_text": tuple(_renumber_places(work, new_numbers, texts) for work in works)}

    @model_validator(mode="before")
    @classmethod
    def _mark_retracted_by_title(cls, data: Any) -> Any:
        """Mark a record as retracted if its title says so."""
        if isinstance(data, dict) and not data.get("retracted") and retraction_in_title(str(data.get("title") or "")):
            return {**data, "retracted": True}
        return data

    @model_validator(mode="before")
    @classmethod
    def _date_from_year(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("publication_date") and data.get("year"):
            return {**data, "publication_date": str(data["year"])}
        return data


def format_works_as_json(works: tuple[CitedInText, ...]) -> str | None:
    """Return the works as JSON; None if there are none."""
    return _WORKS.dump_json(works).decode() if works else None


def parse_works_json(text: str) -> tuple[CitedInText, ...]:
    return _WORKS.validate_json(text)


def _read_section_text(section: Any) -> str:
    text = section.get("text") if isinstance(section, dict) else getattr(section, "text", None)
    return text if isinstance(text, str) else ""


def _renumber_places(work: CitedInText, numbers: Mapping[int, int], texts: Sequence[str]) -> CitedInText:
    places = (
        TextPlace(numbers[place.section], place.character)
        for place in work.at
        if place.section in numbers and 0 <= place.character < len(texts[place.section])
    )
    return work.model_copy(update={"at": tuple(sorted(set(places)))})


def describe_first_problem(error: ValidationError) -> str:
    """Describe the first problem. Records with the same problem get identical texts, so that they can be counted."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"] if not isinstance(part, int)) or "record"
    if first["type"] in ("missing", "string_too_short"):
        return f"{field} is missing"
    return f"{field} {first['msg'].removeprefix('Value error, ')}"


def parse_vector(value: Any) -> NDArray[np.float32] | None:
    """Parse a vector from an external record. Returns None if it is not a list of numbers. Numbers beyond float32
    become infinite."""
    try:
        with np.errstate(over="ignore"):
            numbers = np.asarray(value, np.float32)
    except OverflowError:  # an integer too large for a float
        return np.array([np.inf], np.float32)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 else None
