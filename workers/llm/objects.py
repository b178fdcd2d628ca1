"""Finding the JSON object that a model meant inside whatever it wrote around it."""

import json
import re
from typing import Any, Literal, NamedTuple

__all__ = ["Found", "find_objects"]

_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*'
"""A JSON string up to, but without, its closing quote."""
_OPENING = re.compile(rf'\{{\s*(?:\}}|{_TEXT}"\s*(?::|$)|{_TEXT}\\?$|$)', re.DOTALL)
"""How a JSON object begins: `{` and a key, or `{}`, or the end of the text. A brace in prose does not."""
_MARK = re.compile(rf'{_TEXT}"|["{{}}\[\]]', re.DOTALL)
MOST_OBJECTS = 20
"""Different objects in one text; more are no answer."""
_THINKING, _THOUGHT = "<think>", "</think>"


class Found(NamedTuple):
    """Outermost objects only: an object inside a broken one is never taken for the answer."""

    objects: tuple[str, ...]
    """Texts of the whole objects, in order, equal ones once. None when there is a broken one."""
    bare: bool
    """True when the text is one object and nothing else."""
    broken: Literal["no", "invalid", "truncated"]
    error: str
    """Why it is broken."""


class _DuplicateKey(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _DuplicateKey(f"the key {json.dumps(twice)} appears twice in one object")
    return result


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def find_objects(text: str) -> Found:
    """Looks through fences, prose and a leading thought."""
    said = text
    if text.startswith(_THINKING):
        _, closed, said = text.partition(_THOUGHT)
        if not closed:
            return Found((), False, "truncated", "the thought before the answer is not closed")
    found: list[tuple[str, Any]] = []
    at = 0
    while (start := said.find("{", at)) >= 0:
        if _OPENING.match(said, start) is None:
            at = _closing(said, start) or len(said)
            # What holds an object but does not begin like one has probably lost its beginning.
            if _OPENING.search(said, start + 1, at):
                return Found((), False, "invalid", "an object does not begin with a key in double quotes")
            continue
        try:
            value, at = _DECODER.raw_decode(said, start)
        except (ValueError, RecursionError) as problem:
            cut = _closing(said, start) is None
            return Found((), False, "truncated" if cut else "invalid", _plain(problem))
        if all(value != other for _, other in found):
            found.append((said[start:at], value))
        if len(found) > MOST_OBJECTS:
            return Found((), False, "invalid", f"there are more than {MOST_OBJECTS} objects")
    objects = tuple(span for span, _ in found)
    return Found(objects, len(objects) == 1 and objects[0] == text.strip(), "no", "")


def _closing(text: str, start: int) -> int | None:
    """One past the bracket that closes the one at `start`; None when the text ends before it."""
    depth = 0
    for match in _MARK.finditer(text, start):
        mark = match[0]
        if mark == '"':
            return None
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _plain(problem: Exception) -> str:
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg.removesuffix(' at')} at line {problem.lineno}, column {problem.colno}"
    if isinstance(problem, RecursionError):
        return "nested too deeply"
    return str(problem)
