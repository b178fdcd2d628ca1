"""Schemas of all tasks as they are sent: within what every server accepts."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, Field

from assayer.models import Frozen
from simulator.answers import compose, node_for
from simulator.prompt import read
from tests.unit.all_questions import all_tasks
from workers.llm.answer_schema import SENT_KEYWORDS, answer_schema, sent_schema

_STRICT_MODE_DEPTH = 5
"""Nesting of objects and arrays that OpenAI's strict mode allowed at first; Gemini recommends no more."""
_STRICT_MODE_PROPERTIES = 100
_MOST_ENTRIES = 40
"""Long array limits are among what Gemini names as causes of too many states."""
_TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}
_PROMPT = (
    "<idea 0a1b2c3d>\nRoots under drought. We sequence soils along a gradient. Models follow.\n</idea 0a1b2c3d>\n\n"
)


TASKS = all_tasks()


def _nodes(node: Any, depth: int = 0) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield every schema within a schema, with the number of objects and arrays around it."""
    yield node, depth
    inner = depth + (node.get("type") in ("object", "array"))
    for child in (*node.get("properties", {}).values(), *node.get("anyOf", ())):
        yield from _nodes(child, inner)
    if "items" in node:
        yield from _nodes(node["items"], inner)


def _sent(name: str) -> dict[str, Any]:
    output: type[BaseModel] = TASKS[name].output
    return sent_schema(answer_schema(output).text).schema


@pytest.mark.parametrize("name", TASKS)
def test_schema_has_only_keywords_and_types_that_every_server_accepts(name: str) -> None:
    for node, _ in _nodes(_sent(name)):
        assert node.keys() <= SENT_KEYWORDS - {"$ref", "$defs"}
        assert isinstance(node.get("type", "object"), str)
        assert "anyOf" in node or "enum" in node or node["type"] in _TYPES
    assert "\\d" not in json.dumps(_sent(name))


@pytest.mark.parametrize("name", TASKS)
def test_schema_follows_strict_mode_and_is_not_nested_deeply(name: str) -> None:
    schema = _sent(name)
    assert schema["type"] == "object"
    properties = 0
    for node, depth in _nodes(schema):
        assert depth <= _STRICT_MODE_DEPTH
        assert node.get("maxItems", 0) <= _MOST_ENTRIES
        if node.get("type") == "object":
            properties += len(node["properties"])
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
    assert properties <= _STRICT_MODE_PROPERTIES


@pytest.mark.parametrize("name", TASKS)
def test_answer_generated_from_sent_schema_is_valid(name: str) -> None:
    labels = "".join(f"[{letter}1] Soils (2020)\nWords on the soils of {letter}.\n\n" for letter in "ACDEIMNOPQSVW")
    answer = compose(node_for(_sent(name), strict=True), read([_PROMPT + labels]), 1).content
    assert answer is not None
    jsonschema.validate(json.loads(answer), _sent(name))
    TASKS[name].output.model_validate_json(answer)


class Limited(Frozen):
    label: str = Field(pattern=r"^P\d+$", min_length=2)
    day: str = Field(json_schema_extra={"format": "date"})
    parts: list[str] = Field(min_length=1, max_length=3)


def test_unsupported_constraints_are_removed_from_sent_schema_only() -> None:
    strict = answer_schema(Limited)
    sent = sent_schema(strict.text).schema["properties"]
    assert sent == {
        "label": {"type": "string"},
        "day": {"type": "string"},
        "parts": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    }
    assert strict.schema["properties"]["label"]["pattern"] == r"^P\d+$"


class Tree(Frozen):
    name: str
    branches: "list[Tree]"


class Grove(Frozen):
    trees: list[Tree]
    first: Limited
    last: Limited


def test_references_are_replaced_except_within_a_recursive_type() -> None:
    schema = sent_schema(answer_schema(Grove).text).schema
    assert schema["properties"]["first"] == schema["properties"]["last"]
    assert schema["properties"]["first"]["type"] == "object"
    assert schema["properties"]["trees"]["items"] == {"$ref": "#/$defs/Tree"}
    leaf = {"label": "P1", "day": "", "parts": []}
    jsonschema.validate(
        {"trees": [{"name": "a", "branches": [{"name": "b", "branches": []}]}], "first": leaf, "last": leaf}, schema
    )
