"""Every prompt of InnoEval's search renders, the shared part first, everything from outside fenced."""

import re
from typing import Any

import pytest
from pydantic import BaseModel

from assayer.llm import Task
from assayer.methods.innoeval import tasks
from assayer.methods.innoeval.schemas import (
    EarlierQuery,
    ExtractionQuestion,
    GroundedFind,
    GroundedPart,
    Groundings,
    RefinedQuery,
    Refinement,
    SearchQueriesQuestion,
)
from assayer.prompts import fence
from benchmarks.simulator.answers import compose, node_for
from benchmarks.simulator.prompt import read
from tests.unit.innoeval_questions import DIGEST, FINDS, GROUNDING, IDEA, PARTS, QUESTIONS, REFINING
from workers.llm.chat_completion import Completion
from workers.llm.structured_output import answer_schema, parse_answer

CASES = pytest.mark.parametrize(("task", "question"), QUESTIONS, ids=lambda value: getattr(value, "name", ""))


def test_every_task_has_a_case() -> None:
    assert {task.name for task, _ in QUESTIONS} == {task.name for task in tasks.SEARCH_TASKS}


@CASES
def test_prompts_share_their_beginning(task: Task[Any, Any], question: BaseModel) -> None:
    system, user = task.messages(question)
    assert system.content == QUESTIONS[0][0].messages(QUESTIONS[0][1])[0].content
    if isinstance(question, ExtractionQuestion):
        assert user.content.startswith(f"# The idea\n\n{fence(IDEA, 'idea')}\n\n# ")
    else:
        assert user.content.startswith(f"# The idea, taken apart\n\n{fence(DIGEST, 'idea')}\n\n# ")


@CASES
def test_prompts_render_completely(task: Task[Any, Any], question: BaseModel) -> None:
    text = task.messages(question)[1].content
    assert not re.search(r"\{\{|\{%|%\}|\}\}", text)
    assert "\n# Task: " in text
    for kind, mark in re.findall(r"^<(\w+) ([0-9a-f]{16})>$", text, re.MULTILINE):
        assert text.count(f"</{kind} {mark}>") >= 1


@CASES
def test_every_task_is_versioned_and_has_a_closed_schema(task: Task[Any, Any], question: BaseModel) -> None:
    assert task.version >= 1
    objects = [task.schema, *task.schema.get("$defs", {}).values()]
    assert all(one["additionalProperties"] is False for one in objects if one.get("type") == "object")
    assert all(set(one["required"]) == set(one["properties"]) for one in objects if one.get("type") == "object")


def _simulated(task: Task[Any, Any], question: BaseModel, seed: int) -> Any:
    output: type[BaseModel] = task.output
    node = node_for(answer_schema(output).schema, strict=True)
    made = compose(node, read([message.content for message in task.messages(question)]), seed)
    return output.model_validate_json(made.text)


@CASES
@pytest.mark.parametrize("seed", range(5))
def test_simulated_answers_pass_every_check(task: Task[Any, Any], question: BaseModel, seed: int) -> None:
    assert list(task.check(question, _simulated(task, question, seed))) == []


def test_simulated_queries_are_words_to_search_for() -> None:
    answer = _simulated(*QUESTIONS[1], seed=0)
    queries = [query for one in answer.queries for query in (*one.literature, *one.web, *one.code)]
    assert queries
    assert all(len(query.split()) <= 12 and not query.endswith(".") for query in queries)


def test_kinds_that_are_not_searched_are_not_asked_for() -> None:
    question = SearchQueriesQuestion(digest=DIGEST, parts=PARTS, kinds=("literature",))
    task = tasks.queries_task(question.kinds)
    text = task.messages(question)[1].content
    assert not any(f"`{kind}`" in text for kind in ("web", "code", "data"))
    (entry,) = (one for name, one in task.schema["$defs"].items() if name == "PartQueries")
    assert set(entry["properties"]) == {"part", "literature"}
    text = '{"queries": [{"part": "S1", "literature": ["wrong quotes found"]}]}'
    read_back = parse_answer(Completion(text, "", "stop", 10, 10), task.output)
    assert read_back.fault is None
    assert read_back.value is not None
    answer = read_back.value
    assert (answer.queries[0].web, answer.queries[0].code, answer.queries[0].data) == ([], [], [])
    full = tasks.queries_task(("literature", "web", "code", "data")).schema["$defs"]["PartQueries"]
    assert set(full["properties"]) == {"part", "literature", "web", "code", "data"}


def test_refinement_shows_what_earlier_rounds_asked() -> None:
    earlier = EarlierQuery(kind="literature", part="method 1", query="misquotation in peer review")
    task = tasks.refinement_task(6)
    shown = task.messages(REFINING.model_copy(update={"earlier": (earlier,)}))[1].content
    assert "literature, for method 1: misquotation in peer review" in shown
    assert "# Queries of earlier rounds" not in task.messages(REFINING)[1].content


def test_a_find_may_speak_for_one_claim_of_a_part_and_against_another() -> None:
    both = [GroundedPart(part="S1", quote="words", analysis="It.", stance=one) for one in ("supports", "contradicts")]
    rest = [GroundedFind(label=find.label, groundings=[]) for find in FINDS[1:]]
    answer = Groundings(finds=[GroundedFind(label="P1", groundings=both), *rest])
    assert list(tasks.GROUNDING.check(GROUNDING, answer)) == []


def test_code_is_spoken_of_only_where_there_is_some() -> None:
    papers = tuple(find.model_copy(update={"kind": "literature"}) for find in FINDS)
    without = tasks.GROUNDING.messages(GROUNDING.model_copy(update={"evidence": papers}))[1].content
    assert "the code shows" in tasks.GROUNDING.messages(GROUNDING)[1].content
    assert "the code shows" not in without


def test_labels_that_were_not_given_are_complained_about() -> None:
    refined = RefinedQuery(tried="Q9", problem="None.", change="narrow", query="quotes")
    (complaint,) = tasks.refinement_task(6).check(REFINING, Refinement(queries=[refined]))
    assert complaint == "Q9 is not a query given here."
    point = GroundedPart(part="S7", quote="words", analysis="None.", stance="supports")
    answer = Groundings(finds=[GroundedFind(label=find.label, groundings=[point]) for find in FINDS[:2]])
    assert list(tasks.GROUNDING.check(GROUNDING, answer)) == [
        "There is no entry for find P3.",
        "Find P1: S7 is not a part given here.",
        "Find P2: S7 is not a part given here.",
    ]


def test_refinement_shows_which_finds_were_worth_reading_and_takes_no_more_than_its_limit() -> None:
    task = tasks.refinement_task(6)
    text = task.messages(REFINING)[1].content
    assert "\nworth reading: Wrong quotes, part 1\nnot worth reading: Wrong quotes, part 2\n" in text
    assert "At most 6 queries" in text
    assert task.schema["properties"]["queries"]["maxItems"] == 6


def test_a_third_query_from_the_same_one_is_complained_about() -> None:
    refined = [
        RefinedQuery(tried="Q1", problem="None.", change="extend", query=f"quotes {number}") for number in range(3)
    ]
    check = tasks.refinement_task(6).check
    assert list(check(REFINING, Refinement(queries=refined[:2]))) == []
    assert list(check(REFINING, Refinement(queries=refined))) == ["More than two queries come from Q1."]


def test_strings_that_look_like_labels_are_said_to_be_none_inside_texts() -> None:
    system, _ = QUESTIONS[0][0].messages(QUESTIONS[0][1])
    assert "inside a text, bracketed or not, belongs to the text and is no label" in system.content
