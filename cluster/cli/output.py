"""Files written by commands: their folder, their names, and one file per format."""

import errno
import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from assayer.errors import InputError
from cluster.whole_files import write_whole

_LONGEST_NAME = 200
"""Maximum length in bytes: file systems allow 255, which leaves room for a suffix and a number."""

_ENDINGS = {"bibtex": "bib"}
"""File suffixes of formats whose suffix differs from their name."""


class PageFormat(StrEnum):
    """Page formats, in the order in which a person would open them."""

    html = "html"
    md = "md"
    json = "json"


class ReportFormat(StrEnum):
    """Formats of a report: its pages, and the proposal's own references as their records describe them."""

    html = "html"
    md = "md"
    json = "json"
    bibtex = "bibtex"
    ris = "ris"


Format = TypeVar("Format", bound=StrEnum)
Made = TypeVar("Made")


def make_folder(out: Path, noun: str, option: str = "--out") -> None:
    """Create the output folder, which must be writable. Raises InputError, whose message begins with the noun, if this
    fails."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "it is not writable")
    except OSError as error:
        message = f"{noun} cannot be written to {out}: {error.strerror}."
        raise InputError(message, f"Choose a different folder with {option}.") from None


def prepare_file(path: Path, option: str = "--out") -> None:
    """Check that a file can be written, before anything is paid for or deleted. Raises InputError if it cannot."""
    try:
        is_stream = path.exists() and not path.is_file() and not path.is_dir()
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", f"Choose a different file with {option}."
        ) from None
    if path.is_dir():
        raise InputError(f"{path} is a folder.", f"Pass the name of a file with {option}.")
    if not is_stream:
        make_folder(path.parent, "The results", option)


def safe_name(text: str) -> str:
    """Return a safe file name, without its suffix and without folders; empty if no part of the text can be used."""
    name = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", text)).strip("._")
    return name.encode()[:_LONGEST_NAME].decode(errors="ignore")


def distinct_names(names: Iterable[str]) -> list[str]:
    """Return the names, with numbers added to repeated ones. Names that differ only in case count as repeated, as on
    many file systems."""
    taken: dict[str, int] = {}
    distinct = []
    for name in names:
        number = taken.get(name.casefold(), 0) + 1
        while (found := name if number == 1 else f"{name}-{number}").casefold() in taken:
            number += 1
        taken[name.casefold()] = number
        taken.setdefault(found.casefold(), 1)
        distinct.append(found)
    return distinct


def write_formats(
    stem: Path, made: Made, render: Mapping[Format, Callable[[Made], str]], formats: Collection[Format] | None
) -> list[Path]:
    """Write the formats in the order of `render`; if `formats` is None, write all of them. Raises InputError if a file
    cannot be written."""
    chosen = [kind for kind in render if not formats or kind in formats]
    return write_files(
        {stem.with_name(f"{stem.name}.{_ENDINGS.get(kind, kind)}"): render[kind](made) for kind in chosen}
    )


def write_files(texts: Mapping[Path, str]) -> list[Path]:
    """Write each file completely or not at all. An existing symbolic link is replaced by the file, and its target is
    unchanged. Raises InputError if a file cannot be written."""
    for path, text in texts.items():
        write_whole(path, text)
    return list(texts)
