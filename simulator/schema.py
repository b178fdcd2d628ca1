"""Compilation of a JSON schema into nodes that generate answers."""

import re
from typing import Any, cast

from simulator import containers, scalars
from simulator.draft import Draft
from simulator.prompt import Prompt
from simulator.roles import cites_labels, label_letter, may_stay_empty, role, usual_length
from simulator.scalars import Node

Schema = dict[str, Any]

_ANNOTATIONS = {"title", "description", "default", "examples", "$defs", "definitions", "deprecated"}
_UNSUPPORTED = ("not", "if", "patternProperties", "dependentRequired", "contains", "unevaluatedProperties")


class InvalidSchema(ValueError):
    """Error for a schema that is invalid or uses unsupported features."""


def compiled(schema: Any, strict: bool = False) -> Node:
    """Compile a schema. Raises InvalidSchema, also if one of a few sample values cannot be generated."""
    if not isinstance(schema, dict):
        raise InvalidSchema("schema must be a JSON Schema object")
    try:
        if strict:
            _require_strict(schema, ())
        node = _Compiler(schema).node(schema, "", "")
        for seed in range(5):
            node.make(Draft(Prompt("A sample of an idea.", "A sample of an idea.", {}), seed))
    except (TypeError, KeyError, AttributeError, ValueError, RecursionError, re.error) as error:
        raise InvalidSchema(str(error) or type(error).__name__) from error
    return node


def _require_strict(schema: Schema, path: tuple[str, ...]) -> None:
    """Check the rules of OpenAI's strict mode: every object closed, every property required."""
    if schema.get("type") == "object" or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            raise InvalidSchema(
                f"In context={path!r}, 'additionalProperties' is required to be supplied and to be false."
            )
        missing = [name for name in schema.get("properties", {}) if name not in schema.get("required", ())]
        if missing:
            raise InvalidSchema(
                f"In context={path!r}, 'required' is required to be supplied and to be an array including every "
                f"key in properties. Missing '{missing[0]}'."
            )
    for key in ("properties", "$defs"):
        for name, child in schema.get(key, {}).items():
            _require_strict(child, (*path, key, name))
    for index, child in enumerate(schema.get("anyOf", ())):
        _require_strict(child, (*path, "anyOf", str(index)))
    if isinstance(schema.get("items"), dict):
        _require_strict(schema["items"], (*path, "items"))


class _Compiler:
    def __init__(self, root: Schema) -> None:
        self.root = root
        self.parts: dict[str, Node] = {}
        self.open: list[str] = []
        """References being compiled, outermost first."""
        self.endless: set[str] = set()
        """Recursive references."""

    def node(self, schema: Schema, name: str, around: str) -> Node:  # noqa: PLR0911 - one case per keyword
        """Compile a part of the schema; `name` is the name of the nearest property, `around` the description of the
        enclosing part."""
        for keyword in _UNSUPPORTED:
            if keyword in schema:
                raise InvalidSchema(f"keyword '{keyword}' is not supported")
        if "$ref" in schema:
            return self._reference(schema["$ref"], name)
        if "allOf" in schema:
            return self.node(self._merged(schema), name, around)
        if "const" in schema:
            return scalars.Choice([schema["const"]])
        if "enum" in schema:
            return scalars.Choice(list(schema["enum"]))
        if "anyOf" in schema or "oneOf" in schema:
            return self._one_of(schema.get("anyOf") or schema["oneOf"], schema, name, around)
        kind = schema.get("type")
        if isinstance(kind, list):
            return self._one_of([{**schema, "type": item} for item in kind], {}, name, around)
        return self._typed(kind, schema, name, around)

    def _typed(  # noqa: PLR0911 - one case per type
        self, kind: str | None, schema: Schema, name: str, around: str
    ) -> Node:
        match kind:
            case "object":
                return self._object(schema, name)
            case "array":
                return self._array(schema, name, around)
            case "string" | None:
                if kind is None and "properties" in schema:
                    return self._object(schema, name)
                return self._string(schema, name, around)
            case "integer" | "number":
                return _number(schema, kind == "integer")
            case "boolean":
                return scalars.Boolean(relevance=name in {"relevant", "is_relevant"})
            case "null":
                return scalars.Choice([None])
        raise InvalidSchema(f"type {kind!r} is not supported")

    def _resolved(self, schema: Schema) -> Schema:
        """Return the schema with references and `allOf` resolved; its own annotations take precedence."""
        while "$ref" in schema:
            own = {key: value for key, value in schema.items() if key in _ANNOTATIONS}
            schema = {**self._pointed(schema["$ref"]), **own}
        return self._merged(schema) if "allOf" in schema else schema

    def _pointed(self, pointer: str) -> Schema:
        if not pointer.startswith("#"):
            raise InvalidSchema(f"$ref {pointer!r} does not point into the schema")
        found: Any = self.root
        for step in pointer[1:].strip("/").split("/"):
            if step:
                found = found.get(step.replace("~1", "/").replace("~0", "~"))
                if not isinstance(found, dict):
                    raise InvalidSchema(f"$ref {pointer!r} has no target")
        return cast(Schema, found)

    def _merged(self, schema: Schema) -> Schema:
        merged: Schema = {}
        for part in [*schema["allOf"], {key: value for key, value in schema.items() if key != "allOf"}]:
            for key, value in self._resolved(part).items():
                if isinstance(value, dict) and isinstance(merged.get(key), dict):
                    merged[key] = {**merged[key], **value}
                elif key == "required":
                    merged[key] = [*merged.get(key, []), *value]
                else:
                    merged[key] = value
        return merged

    def _reference(self, pointer: str, name: str) -> Node:
        # The purpose of a part's strings may depend on the property that refers to it.
        key = f"{pointer} as {name}"
        if key in self.open:
            self.endless.update(self.open[self.open.index(key) :])
        elif key not in self.parts:
            self.open.append(key)
            self.parts[key] = self.node(self._pointed(pointer), name, "")
            self.open.pop()
        return containers.Reference(key, self.parts)

    def _one_of(self, branches: list[Schema], shared: Schema, name: str, around: str) -> Node:
        text = shared.get("description", around)
        real = [branch for branch in branches if branch.get("type") != "null"]
        made = [self.node({"description": text, **branch}, name, around) for branch in real]
        if not made:
            return scalars.Choice([None])
        if len(made) == 1 and len(real) == len(branches):
            return made[0]
        ends = [item for item in made if not (isinstance(item, containers.Reference) and item.pointer in self.endless)]
        return containers.OneOf(made, ends, nullable=len(real) < len(branches))

    def _object(self, schema: Schema, name: str) -> Node:
        properties: Schema = schema.get("properties", {})
        free = schema.get("additionalProperties")
        if not properties and free is not False:
            values = self.node(free if isinstance(free, dict) else {"type": "string"}, name, "")
            keys = self.node({"type": "string", **schema.get("propertyNames", {})}, "name", "")
            return containers.Mapping(keys, values, schema.get("minProperties", 0), schema.get("maxProperties", 1_000))
        around = schema.get("description", "")
        made = {item: self.node(part, item, around) for item, part in properties.items()}
        return containers.Object(
            properties=made,
            required=[item for item in schema.get("required", ()) if item in made],
            closed=free is False,
        )

    def _array(self, schema: Schema, name: str, around: str) -> Node:
        if "prefixItems" in schema:
            return containers.Tuple([self.node(item, name, around) for item in schema["prefixItems"]])
        described = schema.get("description", around)
        raw = schema.get("items", {"type": "string"})
        items = self.node({"description": described, **raw} if "$ref" not in raw else raw, name, around)
        array = containers.Array(
            items, schema.get("minItems", 0), schema.get("maxItems"), schema.get("uniqueItems", False)
        )
        bare = containers.plain(items)
        if isinstance(bare, scalars.Labelled):
            array.about, array.letter = "labels", bare.letter
        elif isinstance(bare, containers.Object):
            array.objects = True
            label = bare.label()
            if label is not None:
                array.about = "citations" if bare.only_cites() else "every_label"
                array.letter = label.letter
                array.may_stay_empty = may_stay_empty(described)
        return array

    def _string(self, schema: Schema, name: str, around: str) -> Node:
        shortest, longest = schema.get("minLength", 0), schema.get("maxLength")
        pattern = schema.get("pattern")
        purpose = role(name, schema)
        if pattern is None and schema.get("format") in scalars.FORMATS:
            return scalars.Formatted(schema["format"])
        if purpose == "label" and shortest <= 2 and (longest is None or longest >= len("[P99999]")):
            letter = label_letter(name, schema)
            for bracketed in (False, True):
                sample = f"[{letter or 'P'}1]" if bracketed else f"{letter or 'P'}1"
                if pattern is None or re.search(pattern, sample):
                    return scalars.Labelled(letter, bracketed)
        if pattern is not None:
            return scalars.Patterned(pattern, shortest, longest)
        described = schema.get("description") or around
        return scalars.Text(
            role=purpose,
            cites=cites_labels(described),
            shortest=shortest,
            longest=longest,
            usual=usual_length(described),
            may_stay_empty=may_stay_empty(described),
        )


def _number(schema: Schema, whole: bool) -> Node:
    """Return the node of a number. Without bounds, it is 0 to 10; with one bound, the other is ten away from it."""
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    lowest = least if above is None else above
    highest = most if below is None else below
    if lowest is None:
        lowest = 0 if highest is None else min(0, highest - 10)
    if highest is None:
        highest = max(10, lowest + 10)
    if lowest > highest:
        raise InvalidSchema(f"there is no number between {lowest} and {highest}")
    if whole and schema.get("multipleOf") is None:
        lowest += lowest == above
        highest -= highest == below
    return scalars.Number(lowest, highest, whole, schema.get("multipleOf"), (above is None, below is None))
