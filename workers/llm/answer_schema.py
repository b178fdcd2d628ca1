"""Convert a pydantic model to an answer's strict JSON schema, and that schema to the form that is sent.

The form that is sent uses only keywords that every server accepts: OpenAI's strict mode, Gemini, Anthropic's tools, and
the grammars in llama.cpp and vLLM (xgrammar). All other restrictions are checked when the answer is parsed."""

import json
import re
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel

from assayer.llm import AnswerBounds, LabelledList

_DROPPED_KEYWORDS = frozenset(
    {"title", "default", "examples", "discriminator", "minLength", "maxLength", "uniqueItems"}
)
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
_BOUNDED_KEYWORDS = SENT_KEYWORDS | {"minItems"}
"""Keywords kept in schemas for bounded answers. `maxLength` and `prefixItems` are then added."""
_BOUNDED_MARK = "$comment"
"""Keyword that marks a bounded answer's schema, which is sent without further changes."""
_STATED_WORD_LIMIT = re.compile(r"(\d+) (?:consecutive )?words")
_CHARS_PER_WORD = 9
"""Characters per word, including a space, for converting a text's limit from words to characters."""
_MAX_CHARS = 1_000
"""Maximum length in characters of a text in a bounded answer, if the field's description states no number of words."""
_MAX_COUNTED_CHARS = 2_000
"""Maximum number of characters that llama.cpp's grammars can count. Longer texts are limited only by tokens."""
_MAX_ENTRIES = 20
"""Maximum number of entries in a bounded answer's list that has no maximum of its own."""


class AnswerSchema(NamedTuple):
    schema: dict[str, Any]
    text: str
    """Schema as compact JSON."""


def _serialise_schema(schema: dict[str, Any]) -> AnswerSchema:
    return AnswerSchema(schema, json.dumps(schema, ensure_ascii=False, separators=(",", ":")))


@lru_cache(maxsize=256)
def build_answer_schema(output: type[BaseModel]) -> AnswerSchema:
    """Return an answer's strict schema, with every restriction that JSON schema can express."""
    return _serialise_schema(make_strict(output.model_json_schema()))


@lru_cache(maxsize=256)
def convert_to_sent_schema(text: str) -> AnswerSchema:
    """Convert a strict schema, serialised as `text`, to the form that is sent to an endpoint."""
    schema = json.loads(text)
    return _serialise_schema(schema if schema.pop(_BOUNDED_MARK, None) else _reduce_schema(schema, SENT_KEYWORDS))


def _reduce_schema(schema: Mapping[str, Any], keywords: Set[str]) -> dict[str, Any]:
    """Return a schema with only these keywords, and with references replaced by their definitions."""
    definitions = schema.get("$defs", {})
    reduced = _copy_schema(schema, definitions, (), keywords)
    if _find_references(reduced):
        reduced["$defs"] = {
            name: _copy_schema(item, definitions, (name,), keywords) for name, item in definitions.items()
        }
    return reduced


def build_bounded_schema(output: type[BaseModel], bounds: AnswerBounds) -> AnswerSchema:
    """Return the schema to send for a bounded answer, with a limit for every list and for all but long texts."""
    schema = {_BOUNDED_MARK: "bounded", **_reduce_schema(build_answer_schema(output).schema, _BOUNDED_KEYWORDS)}
    for node in (schema, *schema.get("$defs", {}).values()):
        _bound_node(node, "", bounds)
    return _serialise_schema(schema)


def _bound_node(node: dict[str, Any], name: str, bounds: AnswerBounds) -> None:
    """Limit the texts and lists in the field `name` and in all fields within it, in place."""
    for option in node.get("anyOf", ()):
        _bound_node(option, name, bounds)
    for field, part in node.get("properties", {}).items():
        _bound_node(part, field, bounds)
    if node.get("type") == "array":
        _bound_node(node["items"], name, bounds)
        max_entries = min(bounds.entries.get(name, _MAX_ENTRIES), node.get("maxItems", _MAX_ENTRIES))
        node["maxItems"] = max_entries if bounds.labels.get(name, [""]) else 0
        if min_entries := min(max(node.get("minItems", 0), bounds.least.get(name, 0)), node["maxItems"]):
            node["minItems"] = min_entries
        if name in bounds.lists:
            _bind_entries(node, bounds.lists[name])
    elif node.get("type") == "string" and "enum" not in node:
        if labels := bounds.labels.get(name) or (bounds.words.get(name) == 0 and [""]):
            node["enum"] = list(labels)
        else:
            stated_limits = map(int, _STATED_WORD_LIMIT.findall(node.get("description", "")))
            max_entries = _CHARS_PER_WORD * bounds.words.get(name, max(stated_limits, default=0)) or _MAX_CHARS
            if max_entries <= _MAX_COUNTED_CHARS:
                node["maxLength"] = max_entries


def _bind_entries(node: dict[str, Any], entries: LabelledList) -> None:
    """Give an array exactly one entry for each label, in order."""
    text = json.dumps(node["items"])
    node["prefixItems"] = []
    for number, label in enumerate(entries.labels):
        entry = json.loads(text)
        _restrict_choices(entry, "label", [label])
        for field, choices in entries.choices.items():
            _restrict_choices(entry, field, choices[number])
        node["prefixItems"].append(entry)
    for keyword in ("items", "minItems", "maxItems"):
        node.pop(keyword, None)


def _restrict_choices(node: dict[str, Any], field: str, choices: Sequence[str]) -> None:
    """Restrict the field, at any depth, to these texts."""
    properties = node.get("properties", {})
    if field in properties:
        properties[field] = {"type": "string", "enum": list(choices)}
    for part in (*properties.values(), *((node["items"],) if "items" in node else ())):
        _restrict_choices(part, field, choices)


def _copy_schema(
    node: Mapping[str, Any], definitions: Mapping[str, Any], enclosing: tuple[str, ...], keywords: Set[str]
) -> dict[str, Any]:
    """Copy a schema with only these keywords, replacing references by their definitions. `enclosing` names the
    definitions that enclose the node; these are not copied into themselves."""
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        if name in enclosing or _is_recursive(name, definitions):
            return {"$ref": node["$ref"]}
        return _copy_schema(definitions[name], definitions, (*enclosing, name), keywords)
    result = {key: value for key, value in node.items() if key in keywords and key != "$defs"}
    if "properties" in result:
        properties = result["properties"].items()
        result["properties"] = {name: _copy_schema(part, definitions, enclosing, keywords) for name, part in properties}
    if "items" in result:
        result["items"] = _copy_schema(result["items"], definitions, enclosing, keywords)
    if "anyOf" in result:
        result["anyOf"] = [_copy_schema(option, definitions, enclosing, keywords) for option in result["anyOf"]]
    return result


def _is_recursive(name: str, definitions: Mapping[str, Any]) -> bool:
    """Return whether a definition contains itself."""
    reachable: set[str] = set()
    unvisited = [name]
    while unvisited:
        references = _find_references(definitions[unvisited.pop()])
        if name in references:
            return True
        unvisited += references - reachable
        reachable |= references
    return False


def _find_references(node: object) -> set[str]:
    """Return the names of all definitions to which a schema refers directly."""
    if isinstance(node, dict):
        own_references = {str(node["$ref"]).rpartition("/")[2]} if isinstance(node.get("$ref"), str) else set()
        return own_references.union(*(_find_references(value) for key, value in node.items() if key != "$defs"))
    if isinstance(node, list):
        return set().union(*map(_find_references, node))
    return set()


def make_strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with every object closed and every property required.

    Raises ValueError, which names the location, if the schema contains an object with arbitrary keys (a mapping or an
    open object), because strict mode does not allow them."""
    return _make_node_strict(schema, schema, "$", ())


def _make_node_strict(
    node: Mapping[str, Any], root: Mapping[str, Any], location: str, enclosing: tuple[str, ...]
) -> dict[str, Any]:
    if "$ref" in node and len(node.keys() - _DROPPED_KEYWORDS) > 1:
        return _resolve_reference(node, root, location, enclosing)
    result = {key: value for key, value in node.items() if key not in _DROPPED_KEYWORDS}
    if "oneOf" in result:
        result["anyOf"] = result.pop("oneOf")
    if "const" in result:
        result["enum"] = [result.pop("const")]
    if result.get("type") == "object":
        result |= _close_objects(result, root, location, enclosing)
    if isinstance(result.get("items"), Mapping):
        result["items"] = _make_node_strict(result["items"], root, f"{location}[]", enclosing)
    if "anyOf" in result:
        result["anyOf"] = [_make_node_strict(option, root, location, enclosing) for option in result["anyOf"]]
    if "$defs" in result:
        result["$defs"] = {
            name: _make_node_strict(definition, root, name, (name,)) for name, definition in result["$defs"].items()
        }
    return result


def _close_objects(
    node: Mapping[str, Any], root: Mapping[str, Any], location: str, enclosing: tuple[str, ...]
) -> dict[str, Any]:
    if node.get("additionalProperties", True) is not False:
        raise ValueError(
            f"{location} allows any keys, but an answer must declare all of its keys. Use a model with "
            "extra='forbid', and a list of such models instead of a mapping."
        )
    properties = {
        name: _make_node_strict(property_, root, f"{location}.{name}", enclosing)
        for name, property_ in node.get("properties", {}).items()
    }
    return {"properties": properties, "required": list(properties)}


def _resolve_reference(
    node: Mapping[str, Any], root: Mapping[str, Any], location: str, enclosing: tuple[str, ...]
) -> dict[str, Any]:
    """Replace a reference by its definition, unless the definition is recursive. Strict mode allows no other keywords
    beside a reference."""
    name = str(node["$ref"]).rpartition("/")[2]
    if name in enclosing:
        return {"$ref": node["$ref"]}
    siblings = {key: value for key, value in node.items() if key != "$ref"}
    return _make_node_strict({**root["$defs"][name], **siblings}, root, location, (*enclosing, name))
