"""From a pydantic model to the JSON schema that strict structured output accepts."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel

__all__ = ["AnswerSchema", "answer_schema", "schema_of", "strict"]

_DROPPED = frozenset({"title", "default", "examples", "discriminator", "minLength", "maxLength", "uniqueItems"})
"""Keywords that strict mode refuses or that say nothing to a model. Our own validation still enforces them."""


class AnswerSchema(NamedTuple):
    schema: dict[str, Any]
    text: str
    """The schema as compact JSON, for prompts."""


@lru_cache(maxsize=256)
def answer_schema(output: type[BaseModel]) -> AnswerSchema:
    schema = strict(output.model_json_schema())
    return AnswerSchema(schema, json.dumps(schema, ensure_ascii=False, separators=(",", ":")))


@lru_cache(maxsize=256)
def schema_of(text: str) -> AnswerSchema:
    """The schema that was made elsewhere and came as text."""
    return AnswerSchema(json.loads(text), text)


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema with every object closed, every property required, no keyword that strict mode refuses.

    Raises ValueError, naming the place, for what strict mode cannot say: open objects and mappings.
    """
    return _strict(schema, schema, "$", ())


def _strict(node: Mapping[str, Any], root: Mapping[str, Any], place: str, seen: tuple[str, ...]) -> dict[str, Any]:
    if "$ref" in node and len(node.keys() - _DROPPED) > 1:
        return _inlined(node, root, place, seen)
    result = {key: value for key, value in node.items() if key not in _DROPPED}
    if "oneOf" in result:
        result["anyOf"] = result.pop("oneOf")
    if "const" in result:
        result["enum"] = [result.pop("const")]
    if result.get("type") == "object":
        result |= _closed(result, root, place, seen)
    if isinstance(result.get("items"), Mapping):
        result["items"] = _strict(result["items"], root, f"{place}[]", seen)
    if "anyOf" in result:
        result["anyOf"] = [_strict(option, root, place, seen) for option in result["anyOf"]]
    if "$defs" in result:
        result["$defs"] = {
            name: _strict(definition, root, name, (name,)) for name, definition in result["$defs"].items()
        }
    return result


def _closed(node: Mapping[str, Any], root: Mapping[str, Any], place: str, seen: tuple[str, ...]) -> dict[str, Any]:
    if node.get("additionalProperties", True) is not False:
        raise ValueError(
            f"{place} is an open object. Answers need closed ones: a model with extra='forbid', "
            "and a list of such models in place of a mapping."
        )
    properties = {
        name: _strict(property_, root, f"{place}.{name}", seen)
        for name, property_ in node.get("properties", {}).items()
    }
    return {"properties": properties, "required": list(properties)}


def _inlined(node: Mapping[str, Any], root: Mapping[str, Any], place: str, seen: tuple[str, ...]) -> dict[str, Any]:
    """A reference may have no siblings in strict mode: the definition is copied in, unless it holds itself."""
    name = str(node["$ref"]).rpartition("/")[2]
    if name in seen:
        return {"$ref": node["$ref"]}
    siblings = {key: value for key, value in node.items() if key != "$ref"}
    return _strict({**root["$defs"][name], **siblings}, root, place, (*seen, name))
