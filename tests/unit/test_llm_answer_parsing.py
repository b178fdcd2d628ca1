"""Structured output: schemas that strict mode takes, and answers that are valid, typed faults, or nothing."""

import json
from typing import Annotated, Literal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from assayer.methods.innoeval.schemas import build_queries_schema
from assayer.models import FaultKind, Frozen
from workers.llm.answer_parsing import ParsedAnswer, parse_answer
from workers.llm.answer_schema import build_answer_schema, make_strict
from workers.llm.completion import Completion


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


def collect_keywords(node: object) -> set[str]:
    """Return all keywords of a schema, without the names of properties."""
    if isinstance(node, list):
        return set().union(*map(collect_keywords, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    keywords = set(node)
    for key, value in node.items():
        children = list(value.values()) if key in {"properties", "$defs"} else value
        keywords |= collect_keywords(children)
    return keywords


def test_every_object_is_closed_and_requires_all_its_properties() -> None:
    schema = build_answer_schema(Tree).schema
    objects = [schema, *schema["$defs"].values()]
    assert all(item["additionalProperties"] is False for item in objects)
    assert all(item["required"] == list(item["properties"]) for item in objects)


def test_keywords_rejected_by_strict_mode_are_removed() -> None:
    keywords = collect_keywords(build_answer_schema(Tree).schema)
    assert not keywords & {"default", "title", "minLength", "maxLength", "discriminator", "oneOf", "const"}
    assert {"maxItems", "minimum", "enum", "anyOf", "description"} <= keywords


def test_reference_with_siblings_is_inlined_with_its_description() -> None:
    first = build_answer_schema(Tree).schema["properties"]["first"]
    assert "$ref" not in first
    assert first["description"] == "With a description beside the reference."
    assert list(first["properties"]) == ["kind", "name"]


def test_recursive_model_yields_finite_schema_with_object_root() -> None:
    schema = build_answer_schema(Recursive).schema
    assert schema["type"] == "object"
    jsonschema.validate({"next": {"next": None}}, schema)


def test_strict_schema_accepts_valid_and_rejects_incomplete_answers() -> None:
    tree = Tree(root=Leaf(kind="leaf", name="abc"), first=Leaf(kind="leaf", name="xyz"), stance=-1)
    answer = tree.model_dump(mode="json")
    schema = build_answer_schema(Tree).schema
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(answer, schema)
    del answer["always"]
    with pytest.raises(jsonschema.ValidationError, match="always"):
        jsonschema.validate(answer, schema)


@pytest.mark.parametrize(("model", "place"), [(Open, r"\$"), (Mapped, r"\$\.scores")])
def test_open_object_is_rejected_with_its_path(model: type[BaseModel], place: str) -> None:
    with pytest.raises(ValueError, match=f"{place} allows any keys"):
        make_strict(model.model_json_schema())


NO_DEADLINE = settings(deadline=None)  # the machine may be busy


class Point(Frozen):
    label: str
    stance: Literal["supports", "neutral"]
    score: int = Field(ge=0, le=5)


class Review(Frozen):
    points: list[Point]
    note: str = ""


class Nested(Frozen):
    name: str
    children: "list[Nested]"


REVIEW = Review(points=[Point(label="P1", stance="supports", score=3)], note='Fine {as [P1] says}, "quoted".')
VALID_ANSWER = REVIEW.model_dump_json()


def make_completion(text: str, finish_reason: str = "stop", refusal: str = "") -> Completion:
    return Completion(text, refusal, finish_reason, 10, 10)


def _read(text: str, finish_reason: str = "stop", refusal: str = "") -> ParsedAnswer[Review]:
    return parse_answer(make_completion(text, finish_reason, refusal), Review)


def test_valid_object_is_read_without_fault() -> None:
    assert _read(VALID_ANSWER) == ParsedAnswer(REVIEW, None)
    assert _read(f"\n {VALID_ANSWER} \n") == ParsedAnswer(REVIEW, None)


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{VALID_ANSWER}\n```",
        f"```\n{VALID_ANSWER}\n```",
        f"Here is my review of {{the idea}}:\n{VALID_ANSWER}",
        f"{VALID_ANSWER}\n\nI hope that helps! {{}} :-}}",
        f'<think>Maybe {{"points": []}} will do</think>\n{VALID_ANSWER}',
        f"[{VALID_ANSWER}]",
        f"{VALID_ANSWER}\n{VALID_ANSWER}",
        f'{{"comment": "an aside"}}\n{VALID_ANSWER}',
    ],
)
def test_object_wrapped_in_other_text_is_accepted_and_recorded(text: str) -> None:
    reading = _read(text)
    assert reading.value == REVIEW
    assert reading.fault is not None
    assert reading.fault.kind == "wrapped"


def test_thought_end_tag_inside_the_answer_is_plain_text() -> None:
    review = Review(points=[], note='</think> {"points": [], "note": "obey"}')
    assert _read(review.model_dump_json()) == ParsedAnswer(review, None)
    assert _read(f"<think>Hm.</think>{review.model_dump_json()}").value == review


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (VALID_ANSWER.replace('"score":3', '"score":"3"'), "points.0.score"),
        (VALID_ANSWER.replace("supports", "Supports"), "points.0.stance"),
        (VALID_ANSWER.replace("supports", " SUPPORTS "), "points.0.stance"),
        (VALID_ANSWER.replace("}]", "},]"), "not quite JSON"),
        (VALID_ANSWER.replace("}]", "},\n]").replace('"}', '",}'), "not quite JSON"),
        (f"```json\n{VALID_ANSWER.replace('}]', '},]')}\n```", "not quite JSON"),
    ],
)
def test_slip_of_form_or_number_in_string_is_corrected_and_recorded(text: str, detail: str) -> None:
    reading = _read(text)
    assert reading.value == REVIEW
    assert reading.fault is not None
    assert reading.fault.kind == "coerced"
    assert detail in reading.fault.detail


@pytest.mark.parametrize("mark", ["\n", "\t", "\r\n"])
def test_raw_line_break_in_text_is_kept(mark: str) -> None:
    reading = _read(VALID_ANSWER.replace("Fine ", f"Fine,{mark}"))
    assert reading.value is not None
    assert reading.value.note == REVIEW.note.replace("Fine ", f"Fine,{mark}")


@pytest.mark.parametrize(
    "text",
    [
        f'{{"answer": {VALID_ANSWER}}}',
        f'{{"name": "json", "arguments": {VALID_ANSWER}}}',
        f'<tool_call>\n{{"name": "json", "parameters": {VALID_ANSWER}}}\n</tool_call>',
        json.dumps({"type": "tool_use", "id": "1", "name": "json", "input": REVIEW.model_dump()}),
        json.dumps({"name": "json", "arguments": VALID_ANSWER}),
        f"\ufeff{VALID_ANSWER}",
        f"{VALID_ANSWER}<|im_end|>",
        f"<answer>{VALID_ANSWER}</answer>",
    ],
)
def test_object_in_tool_call_or_other_wrapper_is_read(text: str) -> None:
    assert _read(text).value == REVIEW


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("", "empty", "empty"),
        ("I'm sorry, but I can't help with that.", "refusal", "declined"),
        ("The idea is sound.", "invalid_json", "no JSON object"),
        (VALID_ANSWER.replace('"note"', "'note'"), "invalid_json", "property name"),
        (VALID_ANSWER.replace("}]", "},,]"), "invalid_json", "not valid JSON"),
        (VALID_ANSWER.replace('"note":', '"note" '), "invalid_json", "delimiter"),
        (VALID_ANSWER.replace('{"points', "{points"), "invalid_json", "key in double quotes"),
        (f'The key "{{" opens it: {VALID_ANSWER}', "invalid_json", "not valid JSON"),
        (f'{{"points": [], "note": "", "answer": {VALID_ANSWER}}}', "schema_violation", "answer"),
        (f'{{"name": "json", "arguments": {VALID_ANSWER}, "score": 3}}', "schema_violation", "points: Field required"),
        (VALID_ANSWER.replace('"score":3', '"score":NaN'), "invalid_json", "NaN"),
        ('{"points": [], "points": [], "note": ""}', "invalid_json", "twice"),
        (VALID_ANSWER + VALID_ANSWER.replace("Fine", "Bad"), "invalid_json", "2 different answers"),
        ('{"a":' * 100_000, "truncated", "cut off"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "invalid_json", "too deeply"),
        ('<think>I could say {"points": [], "note": ""}', "truncated", "cut off"),
        (VALID_ANSWER.replace("supports", "endorses"), "schema_violation", "points.0.stance"),
        (VALID_ANSWER.replace('"score":3', '"score":"three"'), "schema_violation", "points.0.score"),
        ('{"points": []}', "schema_violation", "note: Field required"),
        (VALID_ANSWER.replace('"note"', '"extra":1,"note"'), "schema_violation", "extra"),
    ],
)
def test_unusable_answer_becomes_a_typed_fault_with_its_errors(text: str, kind: FaultKind, message: str) -> None:
    reading = _read(text)
    assert reading.value is None
    assert reading.fault is not None
    assert reading.fault.kind == kind
    assert message in " ".join(reading.errors)
    assert "\n" not in reading.fault.detail
    assert len(reading.fault.detail) <= 200


def test_field_hidden_from_the_schema_is_not_required() -> None:
    queries_schema = build_queries_schema(("literature",))
    assert "web" not in json.dumps(queries_schema.model_json_schema())
    reading = parse_answer(
        make_completion('{"queries": [{"part": "S1", "literature": ["one two three"]}]}'), queries_schema
    )
    assert reading.value is not None
    short = parse_answer(make_completion('{"queries": [{"part": "S1"}]}'), queries_schema)
    assert "queries.0.literature: Field required" in short.errors
    assert not any("web" in error for error in short.errors)


def test_model_refusal_and_content_filter_are_different_faults() -> None:
    for reading, kind in (
        (_read("", refusal="No."), "refusal"),
        (_read(VALID_ANSWER, finish_reason="content_filter"), "refused_request"),
    ):
        assert reading.fault is not None
        assert reading.fault.kind == kind


def test_answer_stopped_by_length_is_truncated_unless_object_is_complete() -> None:
    for text in ("", "Let me see", VALID_ANSWER[:-1], VALID_ANSWER.replace("}]", "},,]")):
        fault = _read(text, "length").fault
        assert fault is not None
        assert fault.kind == "truncated"
    assert _read(f"{VALID_ANSWER} And finally", "length").value == REVIEW


def test_object_nested_in_broken_json_is_not_used_as_answer() -> None:
    complete_json = Nested(name="a", children=[Nested(name="b", children=[])]).model_dump_json()
    for text in (
        complete_json[:-1],
        f"```json\n{complete_json[:-2]}\n```",
        complete_json.replace('"a",', '"a"'),
        complete_json.replace('{"', "{", 1),
    ):
        assert parse_answer(make_completion(text), Nested).value is None


def test_long_error_list_is_shortened_and_the_rest_counted() -> None:
    points = [{"label": "P1", "stance": "no", "score": 3}] * 40
    reading = _read(json.dumps({"points": points, "note": ""}))
    assert len(reading.errors) == 13
    assert "28 more" in reading.errors[-1]


_POINTS = st.builds(Point, label=st.text(), stance=st.sampled_from(["supports", "neutral"]), score=st.integers(0, 5))
_REVIEWS = st.builds(Review, points=st.lists(_POINTS, max_size=3), note=st.text())


@NO_DEADLINE
@given(_REVIEWS, st.text(st.characters(exclude_characters="{")), st.text(st.characters(exclude_characters="{")))
def test_object_is_parsed_despite_surrounding_prose(review: Review, before: str, after: str) -> None:
    assert _read(before + review.model_dump_json() + after).value == review


@NO_DEADLINE
@given(_REVIEWS, st.data())
def test_incomplete_object_is_never_accepted(review: Review, data: st.DataObject) -> None:
    text = review.model_dump_json()
    cut = data.draw(st.integers(0, len(text) - 1))
    assert _read(text[:cut]).value is None


@NO_DEADLINE
@given(st.text() | st.text(st.sampled_from('{}[]":,\\ab1 \n')))
def test_any_text_yields_a_value_or_fault_without_raising(text: str) -> None:
    reading = _read(text)
    assert reading.value is not None or reading.fault is not None
