"""Compilation of a JSON schema into nodes that generate answers."""

import re
from typing import Any, cast

from simulator import containers, scalars
from simulator.draft import Draft
from simulator.prompt import Prompt
from simulator.roles import cites_labels, infer_label_letter, infer_role, may_stay_empty, parse_usual_length
from simulator.scalars import Node

Schema = dict[str, Any]

_ANNOTATIONS = {"title", "description", "default", "examples", "$defs", "definitions", "deprecated"}
_UNSUPPORTED = ("not", "if", "patternProperties", "dependentRequired", "contains", "unevaluatedProperties")


class InvalidSchema(ValueError):
    """Error for a schema that is invalid or uses unsupported features."""


def compile_schema(schema: Any, strict: bool = False) -> Node:
    """Compile a schema. Raises InvalidSchema, also if one of a few sample values cannot be generated."""
    if not isinstance(schema, dict):
        raise InvalidSchema("schema must be a JSON Schema object")
    try:
        if strict:
            _require_strict(schema, ())
        node = _Compiler(schema).compile(schema, "", "")
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
        missing_names = [name for name in schema.get("properties", {}) if name not in schema.get("required", ())]
        if missing_names:
            raise InvalidSchema(
                f"In context={path!r}, 'required' is required to be supplied and to be an array including every "
                f"key in properties. Missing '{missing_names[0]}'."
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
        self.open_references: list[str] = []
        """References being compiled, outermost first."""
        self.recursive_references: set[str] = set()
        """Recursive references."""

    def compile(self, schema: Schema, name: str, outer_description: str) -> Node:  # noqa: PLR0911 - one case per keyword
        """Compile a part of the schema; `name` is the name of the nearest property, `outer_description` the description
        of the enclosing part."""
        for keyword in _UNSUPPORTED:
            if keyword in schema:
                raise InvalidSchema(f"keyword '{keyword}' is not supported")
        if "$ref" in schema:
            return self._compile_reference(schema["$ref"], name)
        if "allOf" in schema:
            return self.compile(self._merge_all_of(schema), name, outer_description)
        if "const" in schema:
            return scalars.Choice([schema["const"]])
        if "enum" in schema:
            return scalars.Choice(list(schema["enum"]))
        if "anyOf" in schema or "oneOf" in schema:
            return self._compile_branches(schema.get("anyOf") or schema["oneOf"], schema, name, outer_description)
        kind = schema.get("type")
        if isinstance(kind, list):
            return self._compile_branches([{**schema, "type": item} for item in kind], {}, name, outer_description)
        return self._compile_type(kind, schema, name, outer_description)

    def _compile_type(  # noqa: PLR0911 - one case per type
        self, kind: str | None, schema: Schema, name: str, outer_description: str
    ) -> Node:
        match kind:
            case "object":
                return self._compile_object(schema, name)
            case "array":
                return self._compile_array(schema, name, outer_description)
            case "string" | None:
                if kind is None and "properties" in schema:
                    return self._compile_object(schema, name)
                return self._compile_string(schema, name, outer_description)
            case "integer" | "number":
                return _compile_number(schema, kind == "integer")
            case "boolean":
                return scalars.Boolean(is_relevance=name in {"relevant", "is_relevant"})
            case "null":
                return scalars.Choice([None])
        raise InvalidSchema(f"type {kind!r} is not supported")

    def _resolve_reference(self, schema: Schema) -> Schema:
        """Return the schema with references and `allOf` resolved; its own annotations take precedence."""
        while "$ref" in schema:
            annotations = {key: value for key, value in schema.items() if key in _ANNOTATIONS}
            schema = {**self._follow_pointer(schema["$ref"]), **annotations}
        return self._merge_all_of(schema) if "allOf" in schema else schema

    def _follow_pointer(self, pointer: str) -> Schema:
        if not pointer.startswith("#"):
            raise InvalidSchema(f"$ref {pointer!r} does not point into the schema")
        target: Any = self.root
        for step in pointer[1:].strip("/").split("/"):
            if step:
                target = target.get(step.replace("~1", "/").replace("~0", "~"))
                if not isinstance(target, dict):
                    raise InvalidSchema(f"$ref {pointer!r} has no target")
        return cast(Schema, target)

    def _merge_all_of(self, schema: Schema) -> Schema:
        merged_schema: Schema = {}
        for part in [*schema["allOf"], {key: value for key, value in schema.items() if key != "allOf"}]:
            for key, value in self._resolve_reference(part).items():
                if isinstance(value, dict) and isinstance(merged_schema.get(key), dict):
                    merged_schema[key] = {**merged_schema[key], **value}
                elif key == "required":
                    merged_schema[key] = [*merged_schema.get(key, []), *value]
                else:
                    merged_schema[key] = value
        return merged_schema

    def _compile_reference(self, pointer: str, name: str) -> Node:
        # The purpose of a part's strings may depend on the property that refers to it.
        key = f"{pointer} as {name}"
        if key in self.open_references:
            self.recursive_references.update(self.open_references[self.open_references.index(key) :])
        elif key not in self.parts:
            self.open_references.append(key)
            self.parts[key] = self.compile(self._follow_pointer(pointer), name, "")
            self.open_references.pop()
        return containers.Reference(key, self.parts)

    def _compile_branches(
        self, branches: list[Schema], shared_schema: Schema, name: str, outer_description: str
    ) -> Node:
        text = shared_schema.get("description", outer_description)
        non_null_branches = [branch for branch in branches if branch.get("type") != "null"]
        nodes = [self.compile({"description": text, **branch}, name, outer_description) for branch in non_null_branches]
        if not nodes:
            return scalars.Choice([None])
        if len(nodes) == 1 and len(non_null_branches) == len(branches):
            return nodes[0]
        finite_nodes = [
            node
            for node in nodes
            if not (isinstance(node, containers.Reference) and node.pointer in self.recursive_references)
        ]
        return containers.OneOf(nodes, finite_nodes, is_nullable=len(non_null_branches) < len(branches))

    def _compile_object(self, schema: Schema, name: str) -> Node:
        properties: Schema = schema.get("properties", {})
        additional_properties = schema.get("additionalProperties")
        if not properties and additional_properties is not False:
            values = self.compile(
                additional_properties if isinstance(additional_properties, dict) else {"type": "string"}, name, ""
            )
            keys = self.compile({"type": "string", **schema.get("propertyNames", {})}, "name", "")
            return containers.Mapping(keys, values, schema.get("minProperties", 0), schema.get("maxProperties", 1_000))
        description = schema.get("description", "")
        property_nodes = {
            property_name: self.compile(part, property_name, description) for property_name, part in properties.items()
        }
        return containers.Object(
            properties=property_nodes,
            required=[property_name for property_name in schema.get("required", ()) if property_name in property_nodes],
            is_closed=additional_properties is False,
        )

    def _compile_array(self, schema: Schema, name: str, outer_description: str) -> Node:
        if "prefixItems" in schema:
            return containers.Tuple([self.compile(item, name, outer_description) for item in schema["prefixItems"]])
        description = schema.get("description", outer_description)
        item_schema = schema.get("items", {"type": "string"})
        items = self.compile(
            {"description": description, **item_schema} if "$ref" not in item_schema else item_schema,
            name,
            outer_description,
        )
        array = containers.Array(
            items, schema.get("minItems", 0), schema.get("maxItems"), schema.get("uniqueItems", False)
        )
        item_node = containers.resolve(items)
        if isinstance(item_node, scalars.Labelled):
            array.content, array.letter = "labels", item_node.letter
        elif isinstance(item_node, containers.Object):
            array.has_objects = True
            label = item_node.find_label()
            if label is not None:
                array.content = "citations" if item_node.only_cites() else "every_label"
                array.letter = label.letter
                array.may_stay_empty = may_stay_empty(description)
        return array

    def _compile_string(self, schema: Schema, name: str, outer_description: str) -> Node:
        min_length, max_length = schema.get("minLength", 0), schema.get("maxLength")
        pattern = schema.get("pattern")
        purpose = infer_role(name, schema)
        if pattern is None and schema.get("format") in scalars.FORMATS:
            return scalars.Formatted(schema["format"])
        if purpose == "label" and min_length <= 2 and (max_length is None or max_length >= len("[P99999]")):
            letter = infer_label_letter(name, schema)
            for is_bracketed in (False, True):
                sample = f"[{letter or 'P'}1]" if is_bracketed else f"{letter or 'P'}1"
                if pattern is None or re.search(pattern, sample):
                    return scalars.Labelled(letter, is_bracketed)
        if pattern is not None:
            return scalars.Patterned(pattern, min_length, max_length)
        description = schema.get("description") or outer_description
        return scalars.Text(
            role=purpose,
            cites=cites_labels(description),
            min_length=min_length,
            max_length=max_length,
            usual_length=parse_usual_length(description),
            may_stay_empty=may_stay_empty(description),
        )


def _compile_number(schema: Schema, is_integer: bool) -> Node:
    """Return the node of a number. Without bounds, it is 0 to 10; with one bound, the other is ten away from it."""
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    exclusive_minimum, exclusive_maximum = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    lowest = minimum if exclusive_minimum is None else exclusive_minimum
    highest = maximum if exclusive_maximum is None else exclusive_maximum
    if lowest is None:
        lowest = 0 if highest is None else min(0, highest - 10)
    if highest is None:
        highest = max(10, lowest + 10)
    if lowest > highest:
        raise InvalidSchema(f"there is no number between {lowest} and {highest}")
    if is_integer and schema.get("multipleOf") is None:
        lowest += lowest == exclusive_minimum
        highest -= highest == exclusive_maximum
    return scalars.Number(
        lowest, highest, is_integer, schema.get("multipleOf"), (exclusive_minimum is None, exclusive_maximum is None)
    )
