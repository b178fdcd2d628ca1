"""Reader for the settings file that remembers the line of every value."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assayer.errors import ConfigurationError

_TABLE = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
_KEY = re.compile(r"""\s*([\w"'. -]+?)\s*=""")


class SettingsFile(NamedTuple):
    """Contents of a settings file; without a file, no values."""

    path: Path
    values: Mapping[str, Any]
    text: str

    def place(self, path: Sequence[str]) -> str:
        """Return the file and line where a value is set, or else where its table starts."""
        matches = [(len(key), -line) for line, key in _list_keys(self.text) if key == tuple(path[: len(key)])]
        return f"{self.path}, line {-max(matches)[1]}" if matches else str(self.path)


def read_settings_file(requested_path: str | None) -> SettingsFile:
    """Read the named file or, by default, `assayer.toml` in the working directory, if it exists. Raises
    ConfigurationError if the file cannot be read."""
    path = Path(requested_path or "assayer.toml")
    if not path.is_file():
        if requested_path:
            raise ConfigurationError(f"ASSAYER_CONFIG names {path}, which is not a file.")
        return SettingsFile(path, {}, "")
    try:
        text = path.read_text("utf-8")
        return SettingsFile(path, tomllib.loads(text), text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}.") from None


def _list_keys(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number of every line that begins a table or sets a value, and the path of that table or value."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if heading := _TABLE.match(line):
            table = _split_key(heading[1])
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_split_key(key[1]))


def _split_key(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))
