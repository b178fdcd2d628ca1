"""Read TOML files supplied by the user, such as personas, dimensions and board compositions. Each entry is validated
separately, and errors name the file, entry and field."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from assayer.errors import InputError

Entry = TypeVar("Entry", bound=BaseModel)

_MAX_COMPLAINTS = 10
_MAX_BYTES = 4_000_000


def read_text_file(path: Path) -> str:
    """Read a text file. Raises InputError if it cannot be read or is too large."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path} exceeds the maximum size of {_MAX_BYTES:,} bytes.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", "Pass a TOML file encoded in UTF-8.") from error


def parse_toml(text: str, file_name: str, allowed_keys: Iterable[str]) -> Mapping[str, Any]:
    """Parse a TOML text. Raises InputError if the TOML is invalid or has top-level keys other than those in
    `allowed_keys`."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file_name} is not valid TOML: {error}.") from error
    unknown = sorted(table.keys() - set(allowed_keys))
    if unknown:
        raise InputError(
            f"{file_name} has unknown keys: {', '.join(unknown)}.", f"Allowed keys: {', '.join(allowed_keys)}."
        )
    return table


def parse_entries(table: Mapping[str, Any], key: str, model: type[Entry], file_name: str) -> tuple[Entry, ...]:
    """Parse the tables under `[[key]]` as models. If any are invalid, raises one InputError that lists every error by
    file, entry and field."""
    raw = table.get(key, [])
    if not isinstance(raw, list) or not raw or not all(isinstance(item, dict) for item in raw):
        raise InputError(f"{file_name} has no {key} entries.", f"Write each entry under its own [[{key}]] header.")
    entries: list[Entry] = []
    complaints: list[str] = []
    for number, item in enumerate(raw, start=1):
        try:
            entries.append(model.model_validate(item))
        except ValidationError as error:
            complaints += [f"{key} {_name_entry(item, number)}: {complaint}" for complaint in _list_complaints(error)]
    if complaints:
        hidden_count = len(complaints) - _MAX_COMPLAINTS
        shown_complaints = complaints[:_MAX_COMPLAINTS] + ([f"and {hidden_count} more"] if hidden_count > 0 else [])
        raise InputError(f"{file_name}: {'; '.join(shown_complaints)}.")
    return tuple(entries)


def require_distinct(names: Iterable[str], noun: str, file_name: str) -> None:
    """Raise InputError if two entries share a name, ignoring case."""
    repeated_names = [name for name, times in Counter(name.casefold() for name in names).items() if times > 1]
    if repeated_names:
        raise InputError(f"{file_name}: more than one {noun} is named {', '.join(map(repr, sorted(repeated_names)))}.")


def _name_entry(entry: Mapping[str, Any], number: int) -> str:
    name = entry.get("name")
    return f"{name!r} (number {number})" if isinstance(name, str) else f"number {number}"


def _list_complaints(error: ValidationError) -> list[str]:
    complaints = []
    for item in error.errors(include_url=False):
        place = ".".join(map(str, item["loc"]))
        words = item["msg"].removeprefix("Value error, ")
        complaints.append(f"{place}: {words}" if place else words)
    return complaints
