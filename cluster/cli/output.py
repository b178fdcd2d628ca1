"""Where commands put what they made: a wide terminal, a folder, one file a format."""

import os
import sys
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from assayer.errors import InputError
from cluster.cli.terminal import SafeConsole

__all__ = ["PageFormat", "make_folder", "wide_console", "write_files", "write_formats"]

_WIDEST = 10_000
"""Columns; a table takes what it needs."""


class PageFormat(StrEnum):
    """In the order in which a person would open them."""

    html = "html"
    md = "md"
    json = "json"


Format = TypeVar("Format", bound=StrEnum)
Made = TypeVar("Made")


def wide_console() -> Console:
    """In a file or a pipe no path is broken over two lines."""
    return SafeConsole(highlight=False, width=None if sys.stdout.isatty() else _WIDEST)


def make_folder(out: Path, noun: str) -> None:
    """Raises InputError, which begins with the noun, where it cannot be made."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{noun} cannot be written to {out}: {error.strerror}."
        raise InputError(message, "Choose another with --out.") from None


def write_formats(
    stem: Path, made: Made, render: Mapping[Format, Callable[[Made], str]], formats: Collection[Format] | None
) -> list[Path]:
    """In the order of `render`; without formats, in all of them. Raises InputError when a file cannot be written."""
    chosen = [kind for kind in render if not formats or kind in formats]
    return write_files({stem.with_name(f"{stem.name}.{kind}"): render[kind](made) for kind in chosen})


def _open_no_link(path: str, flags: int) -> int:
    """Where the system can refuse links, also one that came a moment ago."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def write_files(texts: Mapping[Path, str]) -> list[Path]:
    """A link that was there under such a name is replaced by the file: what it leads to stays as it is. Raises
    InputError when one cannot be written."""
    for path, text in texts.items():
        try:
            if path.is_symlink():
                path.unlink()
            with open(path, "w", encoding="utf-8", opener=_open_no_link) as file:
                file.write(text)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}.") from None
    return list(texts)
