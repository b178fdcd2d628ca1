"""Read standard input, named `-` on the command line, as if it were a file."""

import json
import sys
import tempfile
from pathlib import Path

import typer

from assayer.errors import InputError


def replace_standard_input(ctx: typer.Context, paths: list[Path] | None) -> list[Path] | None:
    """Return the paths, with `-` replaced by a temporary file that holds the contents of standard input."""
    return paths and [read_from_standard_input(ctx, path) for path in paths]


def read_from_standard_input(ctx: typer.Context, path: Path) -> Path:
    """Return the path or, for `-`, a temporary file that holds the contents of standard input until the command ends.
    Its suffix states the detected format: PDF, JSON, JSON Lines or text. Raises InputError if there is nothing to
    read."""
    if str(path) != "-" or ctx.resilient_parsing:
        return path
    content = sys.stdin.buffer.read()
    if not content.strip():
        raise InputError("Standard input is empty.", "Pipe an idea into the command, or name a file.")
    folder = ctx.with_resource(tempfile.TemporaryDirectory(prefix="assayer-"))
    file = Path(folder) / f"stdin{_detect_suffix(content)}"
    file.write_bytes(content)
    return file


def _detect_suffix(content: bytes) -> str:
    if content.startswith(b"%PDF-"):
        return ".pdf"
    first_line = content.lstrip().split(b"\n", 1)[0]
    for text, suffix in ((first_line, ".jsonl"), (content, ".json")):
        if _is_json(text):
            return suffix
    return ".md"


def _is_json(text: bytes) -> bool:
    """Return whether the text is a JSON object or array."""
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False
