"""Groups in braces in a TeX source.

Runs in the sandboxed process."""

import re
from typing import NamedTuple

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_OPTIONAL = re.compile(r"\s*\[((?:[^\[\]{}]|\{[^{}]*\}){0,1000})\]")
_MAX_CHARS = 100_000
_MAX_ARGUMENT_CHARS = 1_000
_SPACES = re.compile(r"\s*")


class Groups(NamedTuple):
    texts: tuple[str, ...]
    """Contents of the groups, without their braces."""
    end: int
    """Position after the last group."""


def find_group_end(text: str, start: int, max_chars: int = _MAX_CHARS) -> int | None:
    """Return the position after the group that begins at a brace; None if it is not closed within `max_chars`
    characters."""
    depth = 0
    for match in _BRACE.finditer(text, start, start + max_chars):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return None


def skip_spaces(text: str, start: int) -> int:
    """Return the position of the next character that is no space."""
    match = _SPACES.match(text, start)
    return match.end() if match else start


def read_groups(text: str, start: int, count: int) -> Groups | None:
    """Return this number of groups from a position on, with spaces between them; None if there are fewer."""
    texts: list[str] = []
    for _ in range(count):
        start = skip_spaces(text, start)
        end = find_group_end(text, start, _MAX_ARGUMENT_CHARS) if text.startswith("{", start) else None
        if end is None:
            return None
        texts.append(text[start + 1 : end - 1])
        start = end
    return Groups(tuple(texts), start)


def read_option(text: str, start: int) -> tuple[str | None, int]:
    """Return the optional argument at a position, without its brackets, and the position after it; None if there is
    none."""
    match = _OPTIONAL.match(text, start)
    return (match[1], match.end()) if match else (None, start)
