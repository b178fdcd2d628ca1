"""The simulator's answers: valid against any schema, about the prompt, and faulty exactly when asked."""

import json
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError, create_model

from simulator.answers import GeneratedAnswer, compose, find_schema, get_node
from simulator.prompt import parse_prompt
from simulator.schema import InvalidSchema
from simulator.settings import ANSWER_FAULTS, AnswerFault
from tests.unit.drawn_models import LEAF_TYPES, Strict, draw_models, extend_types
from workers.llm.answer_schema import build_answer_schema

PROMPT = """# The idea

<idea 0a1b2c3d>
Soil microbes under drought. We sequence rhizosphere communities of maize along a moisture gradient.
Then mixed models relate community turnover to plant growth, with 40 plots over two seasons.
[P9] is no evidence, it stands inside the idea.
</idea 0a1b2c3d>

# The papers

[P1] Drought and roots (2019)
<paper 11111111>
Root exudates change within days of water stress. Community composition follows the exudates after a week.
</paper 11111111>

[P2] Maize yields (2021, with full text)
<paper 22222222>
Yields fell by 12 percent in dry plots. Inoculation with native strains restored half of the loss.

A second paragraph belongs to the same paper and reports the control plots in detail.
</paper 22222222>

[P4] A title and nothing else (no date)

# Dimensions

[D1]
<dimension 33333333>
The gradient design with forty plots over two growing seasons.
</dimension 33333333>

Answer now.
"""


PaperLabel = Annotated[str, Field(pattern=r"^P\d+$")]
CitedText = Annotated[str, Field(description="Cites papers by label, e.g. [P3].")]


class Verdict(Strict):
    dimension: str = Field(pattern=r"^D\d+$")
    reason: str
    verdict: Literal[-1, 0, 1]


class Reading(Strict):
    label: PaperLabel
    relevant: bool
    summary: str = Field(description="What it did; empty if not relevant.")
    quote: str = Field(description="Words copied exactly; an empty string if not relevant.")
    stance: Literal["supports", "neutral", "contradicts"]
    verdicts: list[Verdict]


class Citation(Strict):
    paper: PaperLabel
    quote: str


class Claim(Strict):
    text: CitedText
    citations: list[Citation] = Field(min_length=1, max_length=3)


class Review(Strict):
    readings: list[Reading]
    claims: list[Claim] = Field(max_length=4)
    seen: list[PaperLabel]
    name: str
    queries: list[str] = Field(max_length=3)
    score: float = Field(ge=0, le=10)


class Tree(Strict):
    label: str
    children: list["Tree"]
    twin: "Tree | None"


class Cat(Strict):
    kind: Literal["cat"]
    lives: int = Field(ge=1, le=9)


class Dog(Strict):
    kind: Literal["dog"]
    owner: Cat | None


class Zoo(Strict):
    animals: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = Field(min_length=2)
    by_name: dict[str, Cat]
    pair: tuple[int, str]
    tags: set[Literal["a", "b", "c"]] = Field(min_length=2)


def make_answer(model: type[BaseModel], seed: int = 0, prompt: str = PROMPT) -> Any:
    content = compose(get_node(model.model_json_schema()), parse_prompt([prompt]), seed).content
    assert content is not None
    return model.model_validate_json(content)


def make_faulty_answer(model: type[BaseModel], *kinds: AnswerFault, random_share: float = 0.5) -> GeneratedAnswer:
    return compose(get_node(model.model_json_schema()), parse_prompt([PROMPT]), 7, kinds, random_share)


@settings(deadline=None)  # machines that run tests are shared
@given(kind=draw_models(st.recursive(LEAF_TYPES, extend_types, max_leaves=6)), seed=st.integers(0, 2**32))
def test_answer_to_any_model_is_valid(kind: type[BaseModel], seed: int) -> None:
    schema = kind.model_json_schema()
    content = compose(get_node(schema), parse_prompt([PROMPT]), seed).content
    assert content is not None
    jsonschema.validate(json.loads(content), schema, jsonschema.Draft202012Validator)
    kind.model_validate_json(content)


@pytest.mark.parametrize("model", [Review, Tree, Zoo])
@pytest.mark.parametrize("prompt", [PROMPT, "Nothing labelled here.", ""])
def test_answer_to_nested_model_is_valid(model: type[BaseModel], prompt: str) -> None:
    for seed in range(40):
        make_answer(model, seed, prompt)


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "object", "properties": {"a": {"not": {}}}}, "'not' is not supported"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/B"}}}, "has no target"),
        ({"type": "object", "properties": {"a": {"type": "whatever"}}}, "'whatever' is not supported"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "there is no number between 3 and 2"),
        ({"type": "string", "pattern": "("}, "unterminated"),
        ({"$defs": {"A": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"}, "is infinitely recursive"),
        ([], "must be a JSON Schema object"),
    ],
)
def test_unusable_schema_is_refused_with_its_reason(schema: Any, complaint: str) -> None:
    with pytest.raises(InvalidSchema, match=complaint):
        get_node(schema)


# What answers say


def test_prompt_is_read_into_idea_and_items() -> None:
    prompt = parse_prompt(["System text.", PROMPT])
    assert prompt.idea.startswith("Soil microbes")
    assert [item.label for item in prompt.items["P"]] == ["P1", "P2", "P4"]
    assert prompt.items["P"][1].text.endswith("control plots in detail.")
    assert prompt.items["P"][2].text == "A title and nothing else (no date)"
    assert [item.label for item in prompt.items["D"]] == ["D1"]


CLAIMS = """[C1]
<passage 44444444>
Rehearsal halved forgetting on all of the five streams.
</passage 44444444>
<passage 44444444>
It took eleven percent more memory than the plain learner.
</passage 44444444>
<title 55555555>
Rehearsal for lifelong learners
</title 55555555>
<claim 66666666>
Memory for rehearsal is cheap [this source].
</claim 66666666>

[C2]
<passage 77777777>
Streams without borders between tasks were left for later.
</passage 77777777>
<title 88888888>
Streams
</title 88888888>
"""


def test_passages_under_same_label_form_a_single_item() -> None:
    passages = parse_prompt([CLAIMS]).items["C"]
    halved = "Rehearsal halved forgetting on all of the five streams."
    assert [(item.label, item.text) for item in passages] == [
        ("C1", halved),
        ("C2", "Streams without borders between tasks were left for later."),
    ]
    assert [item.further_texts for item in passages] == [
        ("It took eleven percent more memory than the plain learner.",),
        (),
    ]
    passages_again = parse_prompt(
        [CLAIMS, "[C1]\n<passage 44444444>\nOne.\n</passage 44444444>\n<passage 44444444>\nTwo.\n</passage 44444444>"]
    )
    assert passages_again.items["C"] == passages


def test_labelled_arrays_have_an_object_per_label_in_order() -> None:
    for seed in range(30):
        review = make_answer(Review, seed)
        assert [reading.label for reading in review.readings] == ["P1", "P2", "P4"]
        assert all([verdict.dimension for verdict in reading.verdicts] == ["D1"] for reading in review.readings)


def test_quotes_are_verbatim_from_labelled_text() -> None:
    texts = {item.label: item.text for item in parse_prompt([PROMPT]).items["P"]}
    for seed in range(30):
        review = make_answer(Review, seed)
        relevant = [reading for reading in review.readings if reading.relevant]
        assert all(reading.quote and reading.quote in texts[reading.label] for reading in relevant)
        citations = [citation for claim in review.claims for citation in claim.citations]
        assert citations
        assert all(citation.quote in texts[citation.paper] for citation in citations)


def test_claim_text_cites_a_paper_from_its_citations() -> None:
    for seed in range(30):
        for claim in make_answer(Review, seed).claims:
            assert any(f"[{citation.paper}]" in claim.text for citation in claim.citations)


def test_irrelevant_reading_is_empty_and_neutral() -> None:
    readings = [reading for seed in range(30) for reading in make_answer(Review, seed).readings]
    irrelevant = [reading for reading in readings if not reading.relevant]
    assert 0.15 < len(irrelevant) / len(readings) < 0.45
    assert {(item.summary, item.quote, item.stance) for item in irrelevant} == {("", "", "neutral")}


def test_schema_written_into_the_prompt_is_found() -> None:
    schema = json.dumps(Review.model_json_schema())
    node = find_schema([f"Answer with JSON of this schema:\n{schema}\nNothing else.", "A set {1, 2} and {x}."])
    assert node is not None
    content = compose(node, parse_prompt([PROMPT]), 1).content
    assert content is not None
    Review.model_validate_json(content)
    assert find_schema(["No schema: {}"]) is None


# Faults


@pytest.mark.parametrize("kind", ANSWER_FAULTS)
@pytest.mark.parametrize("random_share", [0.01, 0.35, 0.6, 0.99])
def test_every_fault_kind_has_its_expected_effect(kind: AnswerFault, random_share: float) -> None:
    answer = make_faulty_answer(Review, kind, random_share=random_share)
    assert answer.fault == kind
    assert describe_effect(answer) == {
        "truncated": "not JSON",
        "invalid_json": "not JSON",
        "trailing_comma": "not JSON",
        "fenced": "not JSON",
        "preamble": "not JSON",
        "empty": "empty",
        "refusal": "refusal",
        "brackets_in_strings": "nasty",
        "unknown_label": "unknown label",
    }.get(kind, "invalid")
    assert (answer.finish_reason == "length") == (kind == "truncated")


def describe_effect(answer: GeneratedAnswer) -> str:
    if not answer.content:
        return "refusal" if answer.refusal else "empty"
    try:
        value = json.loads(answer.content)
    except ValueError:
        return "not JSON"
    if not jsonschema.Draft202012Validator(Review.model_json_schema()).is_valid(value):
        return "invalid"
    if "P904" in answer.content or "D901" in answer.content:
        return "unknown label"
    return "nasty" if "```json" in answer.content else "sound"


class Plain(BaseModel):
    """Model without enums, numbers or labels; its only field is optional."""

    names: list[str] = []


def test_inapplicable_fault_falls_back_to_next_kind() -> None:
    no_hold: tuple[AnswerFault, ...] = (
        "wrong_enum",
        "string_number",
        "missing_field",
        "extra_field",
        "unknown_label",
        "respelled_choice",
        "brackets_in_strings",
    )
    assert make_faulty_answer(Plain, *no_hold, "fenced").fault == "fenced"
    unfaulted = make_faulty_answer(Plain, *no_hold)
    assert unfaulted.fault is None
    assert unfaulted == compose(get_node(Plain.model_json_schema()), parse_prompt([PROMPT]), 7)


class Lenient(Strict):
    size: Literal["big", "small"] | int | str


def test_fault_still_valid_under_another_alternative_is_not_counted() -> None:
    assert make_faulty_answer(Lenient, "wrong_enum", "respelled_choice", "string_number").fault is None


@settings(deadline=None)
@given(
    fault=st.sampled_from(["missing_field", "extra_field", "wrong_enum", "respelled_choice", "string_number"]),
    random_share=st.floats(0, 0.999),
)
def test_value_fault_always_violates_schema(fault: AnswerFault, random_share: float) -> None:
    answer = make_faulty_answer(Zoo, fault, random_share=random_share)
    assert answer.content is not None
    sound = jsonschema.Draft202012Validator(Zoo.model_json_schema()).is_valid(json.loads(answer.content))
    assert sound == (answer.fault is None)
    if answer.fault is not None and fault != "string_number":  # pydantic reads "3" as 3
        with pytest.raises(ValidationError):
            Zoo.model_validate_json(answer.content)


def test_numeric_enum_values_are_sampled_and_faults_fall_outside_enum() -> None:
    scores: list[Any] = [0, 1, 1.5, 2]
    graded = create_model("Graded", __base__=Strict, score=(float, Field(json_schema_extra={"enum": scores})))
    node = get_node(build_answer_schema(graded).schema, strict=True)
    sampled_scores = {json.loads(compose(node, parse_prompt([PROMPT]), seed).text)["score"] for seed in range(40)}
    assert sampled_scores == set(scores)
    faults = [make_faulty_answer(graded, "wrong_enum", random_share=tenth / 10) for tenth in range(10)]
    assert {(fault.fault, json.loads(fault.text)["score"] in scores) for fault in faults} == {("wrong_enum", False)}


def test_item_marked_as_before_has_passages_of_the_item_before_it() -> None:
    fenced = (
        "[C1]\n<passage 11111111>\nBees forage.\n</passage 11111111>\n<claim 22222222>\nThey do.\n</claim 22222222>"
    )
    prompt = parse_prompt([f"{fenced}\n\n[C2] as before\n<claim 33333333>\nThey always do.\n</claim 33333333>\n"])
    assert [item.text for item in prompt.items["C"]] == ["Bees forage.", "Bees forage."]
