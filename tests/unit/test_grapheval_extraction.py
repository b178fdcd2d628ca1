"""Prompts of GraphEval, their checks, and the extraction built on them."""

import pytest

from assayer.errors import MalformedAnswer
from assayer.llm import NoLlm
from assayer.methods.grapheval import tasks
from assayer.methods.grapheval.schemas import ExtractedViewpoint, ExtractedViewpoints, Relation, Relations
from assayer.methods.grapheval.viewpoints.extraction import extract_viewpoints, name_extractor, relate_viewpoints
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER
from tests.unit.grapheval_questions import IDEA, RELATIONS, VIEWPOINTS
from tests.unit.twins import TwinLlm, make_run


def make_viewpoint(statement: str, words: str = "Our network may shorten that to one day.") -> ExtractedViewpoint:
    return ExtractedViewpoint(words=words, statement=statement)


FAITHFUL_VIEWPOINT = make_viewpoint(
    "MapNet finds bridges on 40 old maps.", "a network that finds bridges on 40 old maps"
)
UNFAITHFUL_VIEWPOINT = make_viewpoint("MapNet finds 50 bridges.", "a network that finds bridges on 40 old maps")
VIEWPOINT_WITH_FOREIGN_WORDS = make_viewpoint(
    "Drawing maps takes weeks.", "words that stand in no sentence of this idea"
)


def test_mostly_unfaithful_answer_is_rejected_with_every_reason() -> None:
    complaints = tasks.VIEWPOINTS.check(
        VIEWPOINTS,
        ExtractedViewpoints(viewpoints=[FAITHFUL_VIEWPOINT, UNFAITHFUL_VIEWPOINT, VIEWPOINT_WITH_FOREIGN_WORDS]),
    )
    assert len(complaints) == 2
    assert "50 stands nowhere in the idea" in complaints[0]
    assert "its words do not stand in the idea" in complaints[1]


def test_answer_with_too_many_viewpoints_is_rejected() -> None:
    question = VIEWPOINTS.model_copy(update={"limit": 1})
    (complaint,) = tasks.VIEWPOINTS.check(
        question, ExtractedViewpoints(viewpoints=[FAITHFUL_VIEWPOINT, FAITHFUL_VIEWPOINT])
    )
    assert "at most 1" in complaint


@pytest.mark.parametrize(
    ("pairs", "expected_complaints"),
    [
        ([("V1", "V2")], []),
        ([("V1", "V3")], ["V3 is no viewpoint"]),
        ([("V1", "V1")], ["related to itself"]),
        ([("V1", "V2"), ("V2", "V1")], ["stands there twice"]),
    ],
)
def test_relations_between_unknown_identical_or_repeated_viewpoints_are_rejected(
    pairs: list[tuple[str, str]], expected_complaints: list[str]
) -> None:
    answer = Relations(relations=[Relation(first=a, second=b, kind="supporting") for a, b in pairs])
    complaints = tasks.RELATIONS.check(RELATIONS, answer)
    assert len(complaints) == len(expected_complaints)
    assert all(part in complaint for part, complaint in zip(expected_complaints, complaints, strict=True))


async def test_splitter_extracts_viewpoints_without_a_model_and_is_recorded_as_maker() -> None:
    viewpoints = await extract_viewpoints(IDEA, NoLlm(), make_run(), 30)
    assert viewpoints.maker == SPLITTER
    assert viewpoints.viewpoints[1].text == "MapNet: It forgets no map that it has seen."


async def test_faithful_model_viewpoints_are_kept_and_unfaithful_viewpoints_are_counted() -> None:
    run = make_run()
    answer = ExtractedViewpoints(
        viewpoints=[*[FAITHFUL_VIEWPOINT] * 5, UNFAITHFUL_VIEWPOINT, make_viewpoint("This may shorten it to one day.")]
    )
    llm = TwinLlm({tasks.VIEWPOINTS.name: lambda _: answer})
    viewpoints = await extract_viewpoints(IDEA, llm, run, 30)
    assert viewpoints.maker == name_extractor(llm) == "grapheval.viewpoints v1, twin"
    assert [item.self_contained for item in viewpoints.viewpoints] == [True] * 5 + [False]
    assert [item.text for item in viewpoints.refused] == ["MapNet finds 50 bridges."]
    assert [(item.item_kind, item.count) for item in run.journal.list_dropped()] == [("viewpoint", 1)]


async def test_splitter_replaces_unusable_model_answer_and_loss_is_counted() -> None:
    run = make_run()
    llm = TwinLlm(failing={tasks.VIEWPOINTS.name: MalformedAnswer("No JSON.")})
    viewpoints = await extract_viewpoints(IDEA, llm, run, 30)
    assert viewpoints.maker == SPLITTER
    assert viewpoints.viewpoints
    assert [item.reason for item in run.journal.list_dropped()] == ["the LLM gave no valid answer"]


async def test_relations_are_returned_as_viewpoint_indices() -> None:
    answer = Relations(relations=[Relation(first="V2", second="V1", kind="opposing")])
    llm = TwinLlm({tasks.RELATIONS.name: lambda _: answer})
    viewpoints = (await extract_viewpoints(IDEA, NoLlm(), make_run(), 30)).viewpoints
    assert await relate_viewpoints(IDEA, viewpoints, llm, make_run()) == [(1, 0)]
