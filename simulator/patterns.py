"""Strings that match a regular expression, for schemas whose `pattern` is not a label."""

from importlib import import_module
from random import Random
from typing import Any

_parser: Any = import_module("re._parser")  # imported by name, because typeshed does not declare it

_MAX_EXTRA_REPEATS = 8
_CATEGORIES = {
    "CATEGORY_DIGIT": "0123456789",
    "CATEGORY_WORD": "abcdefghijklmnopqrstuvwxyz0123456789",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": "abcdefghijklmnopqrstuvwxyz",
    "CATEGORY_NOT_DIGIT": "abcdefghijklmnopqrstuvwxyz",
    "CATEGORY_NOT_WORD": " -",
}
_PRINTABLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.,:;"


def generate_match(pattern: str, random: Random) -> str:
    """Return a string that probably matches the pattern; look-arounds are ignored, so callers must check.

    Raises ValueError for unsupported constructs.
    """
    groups: dict[int, str] = {}
    return _generate_sequence(_parser.parse(pattern), random, groups)


def _generate_sequence(nodes: Any, random: Random, groups: dict[int, str]) -> str:
    return "".join(_generate_token(str(kind), value, random, groups) for kind, value in nodes)


def _generate_token(kind: str, value: Any, random: Random, groups: dict[int, str]) -> str:  # noqa: PLR0911 - one case per construct
    match kind:
        case "LITERAL":
            return chr(value)
        case "ANY":
            return random.choice(_PRINTABLE)
        case "IN" | "NOT_LITERAL":
            members = value if kind == "IN" else [("NEGATE", None), ("LITERAL", value)]
            return random.choice(_list_characters(members))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            min_repeats, max_repeats, nodes = value
            count = random.randint(
                min_repeats, max(min_repeats, min(int(max_repeats), min_repeats + _MAX_EXTRA_REPEATS))
            )
            return "".join(_generate_sequence(nodes, random, groups) for _ in range(count))
        case "BRANCH":
            return _generate_sequence(random.choice(value[1]), random, groups)
        case "SUBPATTERN":
            groups[value[0]] = _generate_sequence(value[3], random, groups)
            return groups[value[0]]
        case "ATOMIC_GROUP":
            return _generate_sequence(value, random, groups)
        case "GROUPREF":
            return groups.get(value, "")
        case "AT" | "ASSERT" | "ASSERT_NOT":
            return ""
    raise ValueError(f"regular expression construct {kind} is not supported")


def _list_characters(members: Any) -> str:
    """Return the characters of a set such as `[a-z_]`."""
    characters = ""
    is_negated = False
    for kind, value in members:
        match str(kind):
            case "NEGATE":
                is_negated = True
            case "LITERAL":
                characters += chr(value)
            case "RANGE":
                characters += "".join(map(chr, range(value[0], min(value[1], value[0] + 255) + 1)))
            case "CATEGORY":
                characters += _CATEGORIES[str(value)]
    if not is_negated:
        return characters
    return "".join(character for character in _PRINTABLE if character not in characters)
