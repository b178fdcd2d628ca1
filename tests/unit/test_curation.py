"""Papers become questions, questions candidates, candidates a best one; what fails is absent and says why."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from assayer.curation.best_of import place_candidates, shuffle_candidates
from assayer.curation.candidates import ProposedCandidates, propose_candidates
from assayer.curation.options import CurationOptions
from assayer.curation.papers import curate_paper
from assayer.curation.schemas import KindAnswer, ProposalAnswer, ProposalQuestion, QuestionAnswer, QuestionQuestion
from assayer.curation.scoring import score_idea
from assayer.curation.tasks import build_scoring_task
from assayer.errors import AnswerRefused, BudgetExhausted, MalformedAnswer
from assayer.ideas.parsing import parse_idea
from assayer.llm import Answer, Task
from assayer.models import Absent
from assayer.ranking.comparison import PairQuestion, build_comparison_task
from assayer.ranking.options import DEFAULT_DIMENSIONS, RankingOptions
from assayer.run.run import Run
from assayer_client.curation import BestBy, Candidate, CuratedPaper
from cluster.curation_inputs import read_papers, read_questions
from tests.unit.curation_questions import CLEAN, DIMENSIONS, LEAKING, PAPER, RESEARCH_QUESTION
from tests.unit.twins import a_run, call_record

_OPTIONS = CurationOptions(candidates=4)
_RANKING = RankingOptions(dimensions=DEFAULT_DIMENSIONS[:3], order_by="effectiveness", both_ways=0)
_NEW_IDEA = KindAnswer(quote="We propose to diffuse heat", reason="It brings a way of cutting.", kind="new_idea")
_KINDS = "curation.classification"

Script = Callable[[Task[Any, Any], Any], BaseModel]


class _Scripted:
    """Model that answers by a function of task and question; its exceptions are failures of the endpoint."""

    models = ("scripted",)

    def __init__(self, script: Script) -> None:
        self._script = script
        self.asked: list[tuple[Task[Any, Any], Any]] = []

    async def run(self, task: Task[Any, Any], data: Any, run: Run) -> Answer[Any]:
        self.asked.append((task, data))
        value = task.output.model_validate(self._script(task, data).model_dump())
        assert list(task.check(data, value)) == []
        return Answer(value, call_record(task, "scripted"))


def _paper_script(questions: Sequence[str | Exception], kind: KindAnswer | Exception = _NEW_IDEA) -> _Scripted:
    left = list(questions)

    def answer(task: Task[Any, Any], data: Any) -> BaseModel:
        said = kind if task.name == _KINDS else left.pop(0)
        if isinstance(said, Exception):
            raise said
        return (
            QuestionAnswer(problem="p", method="m", other_answer="o", no_answer="n", question=said)
            if isinstance(said, str)
            else said
        )

    return _Scripted(answer)


async def _curated(llm: _Scripted, options: CurationOptions = _OPTIONS) -> CuratedPaper:
    return await curate_paper(PAPER, llm, a_run(), options)


async def test_a_new_idea_gets_a_question_that_does_not_leak() -> None:
    found = await _curated(_paper_script([CLEAN]))
    assert (found.id, found.kind, found.question, found.attempts) == ("p1", "new_idea", CLEAN, 1)
    assert found.leakage is not None
    assert not found.leakage.leaks


async def test_leaking_question_is_retried_with_feedback() -> None:
    llm = _paper_script([LEAKING, CLEAN])
    found = await _curated(llm)
    assert (found.question, found.attempts) == (CLEAN, 2)
    again = llm.asked[-1][1]
    assert isinstance(again, QuestionQuestion)
    assert again.refused[0].text == LEAKING
    assert "superpixels" in again.refused[0].repeated


async def test_question_leaking_twice_is_absent_with_leaked_words() -> None:
    llm = _paper_script([LEAKING, LEAKING, CLEAN])
    found = await _curated(llm)
    assert isinstance(found.question, Absent)
    assert "revealed the method 2 times" in found.question.reason
    assert "“superpixels”" in found.question.reason
    assert found.leakage is not None
    assert found.leakage.leaks
    assert len(llm.asked) == 3


@pytest.mark.parametrize(("kind", "says"), [("survey", "this is a survey"), ("evaluation", "an evaluation")])
async def test_question_is_generated_only_for_requested_paper_kinds(kind: str, says: str) -> None:
    said = _NEW_IDEA.model_copy(update={"kind": kind})
    llm = _paper_script([CLEAN], said)
    found = await _curated(llm)
    assert isinstance(found.question, Absent)
    assert says in found.question.reason
    assert len(llm.asked) == 1
    wanted = CurationOptions.model_validate({"question_kinds": [kind]})
    assert (await _curated(_paper_script([CLEAN], said), wanted)).question == CLEAN


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (_NEW_IDEA.model_copy(update={"kind": "unclear"}), "could not tell"),
        (MalformedAnswer("No JSON came."), "could not be classified: No JSON came."),
        (BudgetExhausted("The budget is spent."), "The budget is spent."),
    ],
)
async def test_unclassified_paper_has_neither_kind_nor_question(kind: KindAnswer | Exception, says: str) -> None:
    found = await _curated(_paper_script([CLEAN], kind))
    assert isinstance(found.kind, Absent)
    assert says in found.kind.reason
    assert isinstance(found.question, Absent)
    assert found.leakage is None


_PLAN = (
    "Plan {n}: let two people outline the same hundred images, learn from where they disagree which borders are "
    "doubtful, and ask an expert about those alone, with random borders as the control for the same effort. "
    "It fails if the doubtful borders are no better a choice than random ones."
)


def _proposals(texts: Sequence[str | Exception]) -> _Scripted:
    def answer(task: Task[Any, Any], data: Any) -> BaseModel:
        said = texts[task.sample - 1]
        if isinstance(said, Exception):
            raise said
        return ProposalAnswer(problem="p", gap="g", bridge="b", title=f"Title {task.sample}", idea=said)

    return _Scripted(answer)


async def _proposed(texts: Sequence[str | Exception]) -> ProposedCandidates:
    options = CurationOptions(candidates=len(texts), candidate_tier="fast", temperature=0.7)
    return await propose_candidates(RESEARCH_QUESTION, _proposals(texts), a_run(), options)


async def test_candidates_are_sampled_independently() -> None:
    llm = _proposals([_PLAN.format(n=n) for n in range(4)])
    found = await propose_candidates(RESEARCH_QUESTION, llm, a_run(), _OPTIONS)
    assert [candidate.number for candidate in found.candidates] == [1, 2, 3, 4]
    assert [candidate.id for candidate in found.candidates] == ["p1-1", "p1-2", "p1-3", "p1-4"]
    assert {(task.sample, task.temperature) for task, _ in llm.asked} == {(n, 0.8) for n in (1, 2, 3, 4)}
    assert {data.question for _, data in llm.asked if isinstance(data, ProposalQuestion)} == {CLEAN}


async def test_lost_and_duplicate_candidates_are_recorded_separately() -> None:
    lost = MalformedAnswer("No JSON came.")
    said: list[str | Exception] = [_PLAN.format(n=1), lost, _PLAN.format(n=1).upper(), _PLAN.format(n=2)]
    found = await _proposed(said)
    assert [candidate.number for candidate in found.candidates] == [1, 4]
    assert {number: str(error) for number, error in found.lost.items()} == {2: "No JSON came."}
    assert found.repeats == {3: 1}


def _candidates(count: int) -> list[Candidate]:
    texts = {"question": CLEAN, "problem": "p", "gap": "g", "bridge": "b"}
    return [
        Candidate.model_validate(
            {"id": f"p1-{n}", "number": n, "title": f"Title {n}", "text": _PLAN.format(n=n), **texts}
        )
        for n in range(1, count + 1)
    ]


def _number(text: str) -> int:
    return int(text.partition("Plan ")[2].partition(":")[0])


def _judge(lost: Sequence[int] = (), level: bool = False) -> _Scripted:
    """The higher number is better, unless all are level."""

    def answer(task: Task[Any, Any], data: Any) -> BaseModel:
        if isinstance(data, PairQuestion):
            if {_number(data.first), _number(data.second)} & set(lost):
                raise AnswerRefused("The content filter refused the question.")
            better = "A" if _number(data.first) > _number(data.second) else "B"
            entry = {"in_a": "a", "in_b": "b", "reason": "r", "better": "tie" if level else better}
            entries = [{"label": f"D{place}", **entry} for place in range(1, len(data.dimensions) + 1)]
            return build_comparison_task(len(entries)).output.model_validate({"entries": entries})
        if _number(data.idea) in lost:
            raise MalformedAnswer("No JSON came.")
        texts = {"speaks_for": "a", "speaks_against": "b", "reason": "r"}
        score = 3 if level else min(5, _number(data.idea))
        scored = [{**texts, "label": f"D{place}", "score": score} for place in (1, 2, 3)]
        return build_scoring_task(DIMENSIONS).output.model_validate({"entries": scored})

    return _Scripted(answer)


async def _placed(by: BestBy, llm: _Scripted, count: int = 5, seed: int = 0) -> tuple[Candidate, ...]:
    options = CurationOptions(comparisons_per_candidate=4, seed=seed)
    return await place_candidates(_candidates(count), by, llm, a_run(), options, _RANKING, DIMENSIONS)


@pytest.mark.parametrize("by", ["comparisons", "scores"])
async def test_best_candidate_is_first_regardless_of_proposal_order(by: BestBy) -> None:
    placed = await _placed(by, _judge())
    assert [item.number for item in placed] == [5, 4, 3, 2, 1]
    assert [item.rank for item in placed] == [1, 2, 3, 4, 5]


async def test_candidate_without_scores_is_unranked_with_reason() -> None:
    placed = await _placed("scores", _judge(lost=[4]))
    assert [item.number for item in placed] == [5, 3, 2, 1, 4]
    assert placed[-1].rank == Absent(reason="There is no score for novelty.")


async def test_candidate_without_answered_comparisons_is_unranked_and_last() -> None:
    placed = await _placed("comparisons", _judge(lost=[4]))
    assert [item.number for item in placed] == [5, 3, 2, 1, 4]
    assert [item.rank for item in placed[:-1]] == [1, 2, 3, 4]
    absent = placed[-1].rank
    assert isinstance(absent, Absent)
    assert "All comparisons of this idea failed" in absent.reason
    assert absent.reason.endswith("the LLM declined to answer.")


async def test_tied_candidates_are_ordered_by_seed() -> None:
    orders = {
        tuple(item.number for item in await _placed("scores", _judge(level=True), seed=seed)) for seed in range(5)
    }
    assert len(orders) > 1
    again = await _placed("scores", _judge(level=True), seed=3)
    assert again == await _placed("scores", _judge(level=True), seed=3)
    assert [item.number for item in again] == [item.number for item in shuffle_candidates(_candidates(5)[::-1], 3)]


async def test_every_dimension_is_scored_and_lost_scores_are_absent() -> None:
    idea = parse_idea(_PLAN.format(n=4), "plan.md")
    found = await score_idea(idea, DIMENSIONS, _judge(), a_run(), _OPTIONS)
    assert [(score.dimension, score.score) for score in found.scores] == [
        (dimension.name, 4.0) for dimension in DIMENSIONS
    ]
    assert found.mean == 0.75
    run = a_run()
    lost = await score_idea(idea, DIMENSIONS, _judge(lost=[4]), run, _OPTIONS)
    assert {score.score for score in lost.scores} == {Absent(reason="No JSON came.")}
    assert isinstance(lost.mean, Absent)
    assert [(item.item_kind, item.count) for item in run.journal.list_dropped()] == [("scores of an idea", 1)]


def _lines(path: Path, *records: object) -> Path:
    path.write_text("\n".join(record if isinstance(record, str) else json.dumps(record) for record in records), "utf-8")
    return path


def test_papers_are_read_by_line_and_invalid_lines_are_reported(tmp_path: Path) -> None:
    abstract = " ".join(["word"] * 30)
    good = {"id": "a", "title": "A title", "abstract": abstract, "venue": "V"}
    path = _lines(
        tmp_path / "papers.jsonl",
        good,
        "",
        "{",
        {"title": "No abstract"},
        {**good, "title": "The same id"},
        {"title": "Without id", "abstract": abstract},
        {"title": "Short", "abstract": "Four words and more."},
    )
    read = read_papers(path, 6_000)
    assert [(item.source, item.title) for item in read.found] == [(f"{path}:1", "A title"), (f"{path}:6", "Without id")]
    assert [item.split(" ")[0] for item in read.rejected] == [f"{path}:{n}{':' * (n == 7)}" for n in (3, 4, 5, 7)]
    assert f"{path}:5 has the same id 'a' as {path}:1" in read.rejected[2]


def test_curated_lines_become_questions_and_lines_without_question_are_skipped(tmp_path: Path) -> None:
    with_question = {"id": "a", "kind": "new_idea", "question": CLEAN}
    without = {"id": "b", "kind": "survey", "question": {"reason": "this is a survey"}}
    read = read_questions(_lines(tmp_path / "curated.jsonl", with_question, without, json.dumps(CLEAN), {"id": "c"}))
    assert [item.text for item in read.found] == [CLEAN, CLEAN]
    assert read.found[0].id == "a"
    assert len(read.rejected) == 1
    assert "has no question" in read.rejected[0]


def test_a_candidate_line_is_read_as_an_idea() -> None:
    from assayer.ideas.records import idea_of_record

    (one,) = _candidates(1)
    read = idea_of_record(json.loads(one.model_dump_json()), "candidates.jsonl:1")
    assert (read.title, read.text) == (one.title, one.text)
