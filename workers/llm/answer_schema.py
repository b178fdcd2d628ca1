"""Convert a pydantic model into the strict JSON schema of an answer, and that into the form that is sent.

The form that is sent uses only keywords that every server accepts: OpenAI's strict mode, Gemini, Anthropic's tools, and
the grammars of llama.cpp and vLLM (xgrammar). The other restrictions are checked when the answer is parsed."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel

_DROPPED = frozenset({"title", "default", "examples", "discriminator", "minLength", "maxLength", "uniqueItems"})
"""Schema keywords that strict mode rejects or that carry no information for a model."""
SENT_KEYWORDS = frozenset(
    {
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "maxItems",
        "enum",
        "anyOf",
        "minimum",
        "maximum",
        "$ref",
        "$defs",
    }
)
"""Schema keywords that are sent. `$ref` and `$defs` are sent only for a type that contains itself."""


class AnswerSchema(NamedTuple):
    schema: dict[str, Any]
    text: str
    """Schema as compact JSON."""


def _written(schema: dict[str, Any]) -> AnswerSchema:
    return AnswerSchema(schema, json.dumps(schema, ensure_ascii=False, separators=(",", ":")))


@lru_cache(maxsize=256)
def answer_schema(output: type[BaseModel]) -> AnswerSchema:
    """Return the strict schema of an answer, with every restriction that JSON schema can express."""
    return _written(strict_schema(output.model_json_schema()))


@lru_cache(maxsize=256)
def sent_schema(text: str) -> AnswerSchema:
    """Return the form in which a strict schema, serialised as `text`, is sent to an endpoint."""
    schema = json.loads(text)
    sent = _sent(schema, schema.get("$defs", {}), ())
    left = _references(sent)
    if left:
        definitions = schema["$defs"]
        sent["$defs"] = {name: _sent(definition, definitions, (name,)) for name, definition in definitions.items()}
    return _written(sent)


def _sent(node: Mapping[str, Any], definitions: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    """Copy a schema without the keywords that some servers refuse, replacing references by their definitions. `inside`
    names the definitions that enclose the node; these are not copied into themselves."""
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        if name in inside or _recursive(name, definitions):
            return {"$ref": node["$ref"]}
        return _sent(definitions[name], definitions, (*inside, name))
    result = {key: value for key, value in node.items() if key in SENT_KEYWORDS and key != "$defs"}
    if "properties" in result:
        result["properties"] = {name: _sent(part, definitions, inside) for name, part in result["properties"].items()}
    if "items" in result:
        result["items"] = _sent(result["items"], definitions, inside)
    if "anyOf" in result:
        result["anyOf"] = [_sent(option, definitions, inside) for option in result["anyOf"]]
    return result


def _recursive(name: str, definitions: Mapping[str, Any]) -> bool:
    """Return whether a definition contains itself."""
    reached: set[str] = set()
    left = [name]
    while left:
        found = _references(definitions[left.pop()])
        if name in found:
            return True
        left += found - reached
        reached |= found
    return False


def _references(node: object) -> set[str]:
    """Return the names of all definitions to which a schema refers directly."""
    if isinstance(node, dict):
        own = {str(node["$ref"]).rpartition("/")[2]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(_references(value) for key, value in node.items() if key != "$defs"))
    if isinstance(node, list):
        return set().union(*map(_references, node))
    return set()


def strict_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the same schema with every object closed and every property required.

    Raises ValueError, naming the location, for schemas that strict mode cannot express: open objects and mappings."""
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
    """Replace a reference by its definition, unless the definition is recursive. Strict mode does not allow other
    keywords beside a reference."""
    name = str(node["$ref"]).rpartition("/")[2]
    if name in seen:
        return {"$ref": node["$ref"]}
    siblings = {key: value for key, value in node.items() if key != "$ref"}
    return _strict({**root["$defs"][name], **siblings}, root, place, (*seen, name))
