"""Schemas of all tasks as they are sent: within what every server accepts."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, Field

from assayer.llm import AnswerBounds, LabelledList, Task
from assayer.models import Frozen
from simulator.answers import compose, get_node
from simulator.prompt import parse_prompt
from tests.unit.all_questions import ALL_QUESTIONS, list_all_tasks
from workers.llm.answer_schema import SENT_KEYWORDS, build_answer_schema, build_bounded_schema, convert_to_sent_schema

_STRICT_MODE_DEPTH = 5
"""Nesting of objects and arrays that OpenAI's strict mode allowed at first; Gemini recommends no more."""
_STRICT_MODE_PROPERTIES = 100
_MAX_ENTRIES = 40
"""Long array limits are among what Gemini names as causes of too many states."""
_TYPES = {"object", "array", "string", "integer", "number", "boolean", "null"}
_PROMPT = (
    "<idea 0a1b2c3d>\nRoots under drought. We sequence soils along a gradient. Models follow.\n</idea 0a1b2c3d>\n\n"
)


TASKS = list_all_tasks()


def iterate_schemas(node: Any, depth: int = 0) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield every schema within a schema, with the number of objects and arrays around it."""
    yield node, depth
    inner = depth + (node.get("type") in ("object", "array"))
    for child in (*node.get("properties", {}).values(), *node.get("anyOf", ())):
        yield from iterate_schemas(child, inner)
    if "items" in node:
        yield from iterate_schemas(node["items"], inner)


def build_sent_schema(name: str) -> dict[str, Any]:
    output: type[BaseModel] = TASKS[name].output
    return convert_to_sent_schema(build_answer_schema(output).text).schema


@pytest.mark.parametrize("name", TASKS)
def test_schema_has_only_keywords_and_types_that_every_server_accepts(name: str) -> None:
    for node, _ in iterate_schemas(build_sent_schema(name)):
        assert node.keys() <= SENT_KEYWORDS - {"$ref", "$defs"}
        assert isinstance(node.get("type", "object"), str)
        assert "anyOf" in node or "enum" in node or node["type"] in _TYPES
    assert "\\d" not in json.dumps(build_sent_schema(name))


@pytest.mark.parametrize("name", TASKS)
def test_schema_follows_strict_mode_and_is_not_nested_deeply(name: str) -> None:
    schema = build_sent_schema(name)
    assert schema["type"] == "object"
    properties = 0
    for node, depth in iterate_schemas(schema):
        assert depth <= _STRICT_MODE_DEPTH
        assert node.get("maxItems", 0) <= _MAX_ENTRIES
        if node.get("type") == "object":
            properties += len(node["properties"])
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
    assert properties <= _STRICT_MODE_PROPERTIES


@pytest.mark.parametrize("name", TASKS)
def test_answer_generated_from_sent_schema_is_valid(name: str) -> None:
    labels = "".join(f"[{letter}1] Soils (2020)\nWords on the soils of {letter}.\n\n" for letter in "ACDEIMNOPQSVW")
    answer = compose(get_node(build_sent_schema(name), strict=True), parse_prompt([_PROMPT + labels]), 1).content
    assert answer is not None
    jsonschema.validate(json.loads(answer), build_sent_schema(name))
    TASKS[name].output.model_validate_json(answer)


@pytest.mark.parametrize(("task", "question"), ALL_QUESTIONS, ids=lambda value: getattr(value, "name", ""))
def test_bounded_schema_limits_every_text_and_list(task: Task[Any, Any], question: BaseModel) -> None:
    output: type[BaseModel] = task.output
    bounded = build_bounded_schema(output, task.bounds(question))
    assert {"$comment": "bounded"} | convert_to_sent_schema(bounded.text).schema == bounded.schema
    for node in iterate_bounded_schemas(bounded.schema):
        if node.get("type") == "string":
            assert "enum" in node or 0 < node.get("maxLength", 1) <= 2_000  # what llama.cpp's grammars can count
        if node.get("type") == "array":
            assert node.get("prefixItems") or node["maxItems"] <= _MAX_ENTRIES


def iterate_bounded_schemas(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    parts = (*node.get("properties", {}).values(), *node.get("anyOf", ()), *node.get("prefixItems", ()))
    for child in (*parts, *([node["items"]] if "items" in node else ())):
        yield from iterate_bounded_schemas(child)


class Noted(Frozen):
    label: str = Field(pattern=r"^P\d+$")
    shows: str = Field(description="At most 14 words.")
    cites: list[str]
    named: list[str]


class Reading(Frozen):
    papers: list[Noted]
    labels: list[str] = Field(max_length=5)
    remark: str | None


def test_bounds_of_question_fix_labels_and_entries() -> None:
    labels = {"cites": ["E1", "E2"], "named": []}
    bounds = AnswerBounds(
        {"labels": 3, "cites": 9}, labels, {"papers": LabelledList(["P1", "P2"])}, {"remark": 0}, {"labels": 1}
    )
    schema = build_bounded_schema(Reading, bounds).schema["properties"]
    first, second = schema["papers"]["prefixItems"]
    assert "items" not in schema["papers"]
    assert [entry["properties"]["label"]["enum"] for entry in (first, second)] == [["P1"], ["P2"]]
    assert first["properties"]["shows"]["maxLength"] == 9 * 14
    assert first["properties"]["cites"]["items"]["enum"] == ["E1", "E2"]
    assert (first["properties"]["cites"]["maxItems"], first["properties"]["named"]["maxItems"]) == (9, 0)
    assert (schema["labels"]["minItems"], schema["labels"]["maxItems"]) == (1, 3)
    assert schema["remark"]["anyOf"][0]["enum"] == [""]
    unbounded = build_bounded_schema(Reading, AnswerBounds()).schema["properties"]
    assert unbounded["remark"]["anyOf"][0]["maxLength"] == 1_000


def test_entries_offer_only_the_texts_of_their_own_paper() -> None:
    papers = LabelledList(["P1", "P2"], {"shows": [["One.", "Two."], ["Three."]]})
    first, second = build_bounded_schema(Reading, AnswerBounds(lists={"papers": papers})).schema["properties"][
        "papers"
    ]["prefixItems"]
    assert first["properties"]["shows"]["enum"] == ["One.", "Two."]
    assert second["properties"]["shows"]["enum"] == ["Three."]


class Limited(Frozen):
    label: str = Field(pattern=r"^P\d+$", min_length=2)
    day: str = Field(json_schema_extra={"format": "date"})
    parts: list[str] = Field(min_length=1, max_length=3)


def test_unsupported_constraints_are_removed_from_sent_schema_only() -> None:
    strict = build_answer_schema(Limited)
    sent_properties = convert_to_sent_schema(strict.text).schema["properties"]
    assert sent_properties == {
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
    schema = convert_to_sent_schema(build_answer_schema(Grove).text).schema
    assert schema["properties"]["first"] == schema["properties"]["last"]
    assert schema["properties"]["first"]["type"] == "object"
    assert schema["properties"]["trees"]["items"] == {"$ref": "#/$defs/Tree"}
    leaf = {"label": "P1", "day": "", "parts": []}
    jsonschema.validate(
        {"trees": [{"name": "a", "branches": [{"name": "b", "branches": []}]}], "first": leaf, "last": leaf}, schema
    )
