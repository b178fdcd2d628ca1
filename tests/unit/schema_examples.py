"""Documents that fit a JSON schema, made from the schema: to read back what a model may have stored."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import Phase, find, settings
from hypothesis import strategies as st

__all__ = ["LATER", "examples"]

LATER = "of_a_later_version"
"""A key that no model has."""
_FORMATS = {
    "date-time": "2026-11-24T12:00:00Z",
    "date": "2026-11-24",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "binary": "YQ==",
}
_DEEPEST = 6
_USUAL = ("a", "a" * 64, "0" * 40, "https://example.org/a")


def examples(schema: dict[str, Any], *, later: bool = False) -> Iterator[Any]:
    """Of each kind first with every property, then with those alone that are required, then with these and one more
    each. `later`: every object that has properties of its own also has a key that nobody knows. In the same order
    either way."""
    known = schema.get("$defs", {})
    for kind in schema.get("oneOf", [schema]):
        of = _Examples(known, later)
        yield of.make(kind, 0)
        of.full = False
        yield of.make(kind, 0)
        for name in of.resolved(kind).get("properties", {}):
            yield of.make(kind, 0, also=name)


class _Examples:
    def __init__(self, known: dict[str, Any], later: bool) -> None:
        self._known, self._later, self.full = known, later, True

    def resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in schema:
            return self.resolved(self._known[schema["$ref"].rpartition("/")[2]])
        if len(schema.get("allOf", ())) == 1:
            return self.resolved(schema["allOf"][0])
        return schema

    def make(self, schema: dict[str, Any], depth: int, also: str = "") -> Any:
        schema = self.resolved(schema)
        for one in ("const", "default") if depth > _DEEPEST else ("const",):
            if one in schema:
                return schema[one]
        if choices := schema.get("oneOf") or schema.get("anyOf"):
            return self.make(self._chosen(choices, depth), depth)
        return schema["enum"][0] if "enum" in schema else self._of_type(schema, depth, also)

    def _of_type(self, schema: dict[str, Any], depth: int, also: str) -> Any:
        match schema.get("type"):
            case "object":
                return self._object(schema, depth, also)
            case "array":
                return self._array(schema, depth)
            case "string":
                return _text(schema)
            case "integer" | "number":
                return _number(schema)
        return {"boolean": True, "null": None}.get(schema.get("type", ""), {})

    def _chosen(self, choices: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        null = [one for one in choices if one.get("type") == "null"]
        if null and depth > _DEEPEST:
            return null[0]
        return next(one for one in choices if one.get("type") != "null")

    def _object(self, schema: dict[str, Any], depth: int, also: str) -> dict[str, Any]:
        properties = schema.get("properties")
        if properties is None:
            values = schema.get("additionalProperties")
            return {"k": self.make(values, depth + 1)} if isinstance(values, dict) and self.full else {}
        needed = {*schema.get("required", ()), also}
        made = {name: self.make(one, depth + 1) for name, one in properties.items() if self.full or name in needed}
        return made | ({LATER: {"deep": [1]}} if self._later else {})

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        if "prefixItems" in schema:
            return [self.make(one, depth + 1) for one in schema["prefixItems"]]
        least = schema.get("minItems", 0)
        count = max(least, 1) if self.full and depth <= _DEEPEST else least
        made = [self.make(schema.get("items", {}), depth + 1) for _ in range(count)]
        return [one + str(place) if place and one == "a" else one for place, one in enumerate(made)]


def _text(schema: dict[str, Any]) -> str:
    if "pattern" in schema:
        return _fitting(schema["pattern"])
    shortest: int = schema.get("minLength", 1)
    return _FORMATS.get(schema.get("format", ""), "a" * max(1, shortest))


@cache
def _fitting(pattern: str) -> str:
    usual = next((one for one in _USUAL if re.search(pattern, one)), None)
    if usual is not None:
        return usual
    quick = settings(phases=(Phase.generate,), database=None)
    return str(find(st.from_regex(pattern, fullmatch=True), lambda _: True, settings=quick))


def _number(schema: dict[str, Any]) -> float:
    if "exclusiveMinimum" in schema:
        above: float = schema["exclusiveMinimum"] + (1 if schema["type"] == "integer" else 0.5)
        return above
    least: float = schema.get("minimum", 0)
    return least
