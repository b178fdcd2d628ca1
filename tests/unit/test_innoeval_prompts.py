"""Every prompt of InnoEval's search renders, with the shared part first and external text fenced."""

from assayer.methods.innoeval import tasks
from assayer.methods.innoeval.schemas import (
    GroundedFind,
    GroundedPart,
    Groundings,
    RefinedQuery,
    Refinement,
    SearchQueriesQuestion,
)
from tests.unit.innoeval_questions import DIGEST, FINDS, GROUNDING, PARTS, REFINEMENT_QUESTION
from workers.llm.answer_parsing import parse_answer
from workers.llm.completion import Completion


def test_unsearched_source_kinds_are_omitted_from_the_query_prompt() -> None:
    question = SearchQueriesQuestion(digest=DIGEST, parts=PARTS, kinds=("literature",))
    task = tasks.build_queries_task(question.kinds)
    text = task.messages(question)[1].content
    assert not any(f"`{kind}`" in text for kind in ("web", "code", "data"))
    (entry,) = (item for name, item in task.schema["$defs"].items() if name == "PartQueries")
    assert set(entry["properties"]) == {"part", "literature"}
    text = '{"queries": [{"part": "S1", "literature": ["wrong quotes found"]}]}'
    read_back = parse_answer(Completion(text, "", "stop", 10, 10), task.output)
    assert read_back.fault is None
    assert read_back.value is not None
    answer = read_back.value
    assert (answer.queries[0].web, answer.queries[0].code, answer.queries[0].data) == ([], [], [])
    full = tasks.build_queries_task(("literature", "web", "code", "data")).schema["$defs"]["PartQueries"]
    assert set(full["properties"]) == {"part", "literature", "web", "code", "data"}


def test_source_may_support_and_contradict_the_same_idea_part() -> None:
    groundings = [
        GroundedPart(part="S1", quote="words", analysis="It.", stance=text) for text in ("supports", "contradicts")
    ]
    other_finds = [GroundedFind(label=find.label, groundings=[]) for find in FINDS[1:]]
    answer = Groundings(finds=[GroundedFind(label="P1", groundings=groundings), *other_finds])
    assert list(tasks.GROUNDING.check(GROUNDING, answer)) == []


def test_unknown_labels_are_reported() -> None:
    refined = RefinedQuery(tried="Q9", problem="None.", change="narrow", query="quotes")
    (complaint,) = tasks.build_refinement_task(6).check(REFINEMENT_QUESTION, Refinement(queries=[refined]))
    assert complaint == "Q9 is not a query given here."
    point = GroundedPart(part="S7", quote="words", analysis="None.", stance="supports")
    answer = Groundings(finds=[GroundedFind(label=find.label, groundings=[point]) for find in FINDS[:2]])
    assert list(tasks.GROUNDING.check(GROUNDING, answer)) == [
        "There is no entry for find P3.",
        "Find P1: S7 is not a part given here.",
        "Find P2: S7 is not a part given here.",
    ]


def test_third_refinement_of_the_same_query_is_reported() -> None:
    refined = [
        RefinedQuery(tried="Q1", problem="None.", change="extend", query=f"quotes {number}") for number in range(3)
    ]
    check = tasks.build_refinement_task(6).check
    assert list(check(REFINEMENT_QUESTION, Refinement(queries=refined[:2]))) == []
    assert list(check(REFINEMENT_QUESTION, Refinement(queries=refined))) == ["More than two queries come from Q1."]
