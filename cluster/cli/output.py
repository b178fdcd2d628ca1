"""Output files of commands: the folder, file names, and one file per format."""

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

_MAX_NAME_BYTES = 200
"""Maximum length of a file name in bytes. File systems allow 255; the rest is left for a suffix and a number."""

_ENDINGS = {"bibtex": "bib"}
"""File suffixes of formats whose suffix is not their name."""


class PageFormat(StrEnum):
    """Page formats, in the order in which a person would open them."""

    html = "html"
    md = "md"
    json = "json"


class ReportFormat(StrEnum):
    """Report formats: the pages, and the proposal's references as bibliographies."""

    html = "html"
    md = "md"
    json = "json"
    bibtex = "bibtex"
    ris = "ris"


Format = TypeVar("Format", bound=StrEnum)
Made = TypeVar("Made")


def make_folder(out: Path, noun: str, option: str = "--out") -> None:
    """Create the output folder. Raises InputError, with a message that begins with the noun, if it cannot be created or
    written."""
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
        raise InputError(f"{path} is a folder.", f"Pass a file name to {option}, not a folder.")
    if not is_stream:
        make_folder(path.parent, "The results", option)


def make_safe_name(text: str) -> str:
    """Return the text as a safe file name, without suffix or folders; empty if no part of it can be used."""
    name = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", text)).strip("._")
    return name.encode()[:_MAX_NAME_BYTES].decode(errors="ignore")


def make_names_distinct(names: Iterable[str]) -> list[str]:
    """Return the names, with numbers added to duplicates. Names that differ only in case count as duplicates, because
    many file systems do not distinguish them."""
    used_names: dict[str, int] = {}
    distinct = []
    for name in names:
        number = used_names.get(name.casefold(), 0) + 1
        while (candidate := name if number == 1 else f"{name}-{number}").casefold() in used_names:
            number += 1
        used_names[name.casefold()] = number
        used_names.setdefault(candidate.casefold(), 1)
        distinct.append(candidate)
    return distinct


def write_formats(
    stem: Path, content: Made, render: Mapping[Format, Callable[[Made], str]], formats: Collection[Format] | None
) -> list[Path]:
    """Write a result in each of the formats, in the order of `render`; `formats` None means all. Raises InputError if a
    file cannot be written."""
    chosen_formats = [kind for kind in render if not formats or kind in formats]
    return write_files(
        {stem.with_name(f"{stem.name}.{_ENDINGS.get(kind, kind)}"): render[kind](content) for kind in chosen_formats}
    )


def write_files(texts: Mapping[Path, str]) -> list[Path]:
    """Write each file completely or not at all. An existing symbolic link is replaced, without changing its target.
    Raises InputError if a file cannot be written."""
    for path, text in texts.items():
        write_whole(path, text)
    return list(texts)
