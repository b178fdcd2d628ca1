"""Schemas for strict structured output: closed, everything required, nothing that strict mode refuses."""

from typing import Annotated, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from assayer.models import Frozen
from workers.llm.schema import answer_schema, strict


class Leaf(Frozen):
    kind: Literal["leaf"]
    name: str = Field(min_length=2, max_length=9, description="A name.")


class Branch(Frozen):
    kind: Literal["branch"]
    parts: list["Branch | Leaf"] = Field(max_length=3)


class Tree(Frozen):
    root: Annotated[Branch | Leaf, Field(discriminator="kind")]
    first: Leaf = Field(description="With a description beside the reference.")
    stance: Literal[-1, 0, 1]
    score: float | None = Field(default=None, ge=0)
    always: Literal["yes"] = "yes"


class Recursive(Frozen):
    next: "Recursive | None" = Field(description="Itself.")


class Open(BaseModel):
    name: str


class Mapped(Frozen):
    scores: dict[str, int]


def _keywords(node: object) -> set[str]:
    """Every schema keyword, property names left out."""
    if isinstance(node, list):
        return set().union(*map(_keywords, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    found = set(node)
    for key, value in node.items():
        children = list(value.values()) if key in {"properties", "$defs"} else value
        found |= _keywords(children)
    return found


def test_every_object_is_closed_and_requires_all_its_properties() -> None:
    schema = answer_schema(Tree).schema
    objects = [schema, *schema["$defs"].values()]
    assert all(one["additionalProperties"] is False for one in objects)
    assert all(one["required"] == list(one["properties"]) for one in objects)


def test_keywords_that_strict_mode_refuses_are_gone() -> None:
    found = _keywords(answer_schema(Tree).schema)
    assert not found & {"default", "title", "minLength", "maxLength", "discriminator", "oneOf", "const"}
    assert {"maxItems", "minimum", "enum", "anyOf", "description"} <= found


def test_reference_with_siblings_is_copied_in_with_its_description() -> None:
    first = answer_schema(Tree).schema["properties"]["first"]
    assert "$ref" not in first
    assert first["description"] == "With a description beside the reference."
    assert list(first["properties"]) == ["kind", "name"]


def test_recursive_model_stays_finite_and_an_object_at_the_root() -> None:
    schema = answer_schema(Recursive).schema
    assert schema["type"] == "object"
    jsonschema.validate({"next": {"next": None}}, schema)


def test_valid_answer_satisfies_the_strict_schema_and_an_incomplete_one_does_not() -> None:
    tree = Tree(root=Leaf(kind="leaf", name="abc"), first=Leaf(kind="leaf", name="xyz"), stance=-1)
    answer = tree.model_dump(mode="json")
    schema = answer_schema(Tree).schema
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(answer, schema)
    del answer["always"]
    with pytest.raises(jsonschema.ValidationError, match="always"):
        jsonschema.validate(answer, schema)


def test_schema_of_one_model_is_made_once() -> None:
    assert answer_schema(Tree) is answer_schema(Tree)


@pytest.mark.parametrize(("model", "place"), [(Open, r"\$"), (Mapped, r"\$\.scores")])
def test_open_object_is_refused_by_place(model: type[BaseModel], place: str) -> None:
    with pytest.raises(ValueError, match=f"{place} is an open object"):
        strict(model.model_json_schema())
