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
from tests.unit.twins import call_record, make_run

_OPTIONS = CurationOptions(candidates=4)
_RANKING = RankingOptions(dimensions=DEFAULT_DIMENSIONS[:3], order_by="effectiveness", both_ways=0)
_NEW_IDEA = KindAnswer(quote="We propose to diffuse heat", reason="It brings a way of cutting.", kind="new_idea")
_KINDS = "curation.classification"

Script = Callable[[Task[Any, Any], Any], BaseModel]


class ScriptedLlm:
    """Model that answers by a function of task and question; its exceptions are failures of the endpoint."""

    models = ("scripted",)

    def __init__(self, script: Script) -> None:
        self._script = script
        self.requests: list[tuple[Task[Any, Any], Any]] = []

    async def run(self, task: Task[Any, Any], data: Any, run: Run) -> Answer[Any]:
        self.requests.append((task, data))
        value = task.output.model_validate(self._script(task, data).model_dump())
        assert list(task.check(data, value)) == []
        return Answer(value, call_record(task, "scripted"))


def script_paper(questions: Sequence[str | Exception], kind: KindAnswer | Exception = _NEW_IDEA) -> ScriptedLlm:
    remaining = list(questions)

    def answer(task: Task[Any, Any], data: Any) -> BaseModel:
        scripted_question = kind if task.name == _KINDS else remaining.pop(0)
        if isinstance(scripted_question, Exception):
            raise scripted_question
        return (
            QuestionAnswer(problem="p", method="m", other_answer="o", no_answer="n", question=scripted_question)
            if isinstance(scripted_question, str)
            else scripted_question
        )

    return ScriptedLlm(answer)


async def curate(llm: ScriptedLlm, options: CurationOptions = _OPTIONS) -> CuratedPaper:
    return await curate_paper(PAPER, llm, make_run(), options)


async def test_a_new_idea_gets_a_question_that_does_not_leak() -> None:
    curated = await curate(script_paper([CLEAN]))
    assert (curated.id, curated.kind, curated.question, curated.attempts) == ("p1", "new_idea", CLEAN, 1)
    assert curated.leakage is not None
    assert not curated.leakage.leaks


async def test_leaking_question_is_retried_with_feedback() -> None:
    llm = script_paper([LEAKING, CLEAN])
    curated = await curate(llm)
    assert (curated.question, curated.attempts) == (CLEAN, 2)
    retry_question = llm.requests[-1][1]
    assert isinstance(retry_question, QuestionQuestion)
    assert retry_question.refused[0].text == LEAKING
    assert "superpixels" in retry_question.refused[0].repeated


async def test_question_leaking_twice_is_absent_with_leaked_words() -> None:
    llm = script_paper([LEAKING, LEAKING, CLEAN])
    curated = await curate(llm)
    assert isinstance(curated.question, Absent)
    assert "revealed the method 2 times" in curated.question.reason
    assert "“superpixels”" in curated.question.reason
    assert curated.leakage is not None
    assert curated.leakage.leaks
    assert len(llm.requests) == 3


@pytest.mark.parametrize(("kind", "reason"), [("survey", "this is a survey"), ("evaluation", "an evaluation")])
async def test_question_is_generated_only_for_requested_paper_kinds(kind: str, reason: str) -> None:
    kind_answer = _NEW_IDEA.model_copy(update={"kind": kind})
    llm = script_paper([CLEAN], kind_answer)
    curated = await curate(llm)
    assert isinstance(curated.question, Absent)
    assert reason in curated.question.reason
    assert len(llm.requests) == 1
    options = CurationOptions.model_validate({"question_kinds": [kind]})
    assert (await curate(script_paper([CLEAN], kind_answer), options)).question == CLEAN


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (_NEW_IDEA.model_copy(update={"kind": "unclear"}), "could not tell"),
        (MalformedAnswer("No JSON came."), "could not be classified: No JSON came."),
        (BudgetExhausted("The budget is spent."), "The budget is spent."),
    ],
)
async def test_unclassified_paper_has_neither_kind_nor_question(kind: KindAnswer | Exception, reason: str) -> None:
    curated = await curate(script_paper([CLEAN], kind))
    assert isinstance(curated.kind, Absent)
    assert reason in curated.kind.reason
    assert isinstance(curated.question, Absent)
    assert curated.leakage is None


_PLAN = (
    "Plan {n}: let two people outline the same hundred images, learn from where they disagree which borders are "
    "doubtful, and ask an expert about those alone, with random borders as the control for the same effort. "
    "It fails if the doubtful borders are no better a choice than random ones."
)


def script_proposals(texts: Sequence[str | Exception]) -> ScriptedLlm:
    def answer(task: Task[Any, Any], data: Any) -> BaseModel:
        scripted_text = texts[task.sample - 1]
        if isinstance(scripted_text, Exception):
            raise scripted_text
        return ProposalAnswer(problem="p", gap="g", bridge="b", title=f"Title {task.sample}", idea=scripted_text)

    return ScriptedLlm(answer)


async def propose(texts: Sequence[str | Exception]) -> ProposedCandidates:
    options = CurationOptions(candidates=len(texts), candidate_tier="fast", temperature=0.7)
    return await propose_candidates(RESEARCH_QUESTION, script_proposals(texts), make_run(), options)


async def test_candidates_are_sampled_independently() -> None:
    llm = script_proposals([_PLAN.format(n=n) for n in range(4)])
    proposed = await propose_candidates(RESEARCH_QUESTION, llm, make_run(), _OPTIONS)
    assert [candidate.number for candidate in proposed.candidates] == [1, 2, 3, 4]
    assert [candidate.id for candidate in proposed.candidates] == ["p1-1", "p1-2", "p1-3", "p1-4"]
    assert {(task.sample, task.temperature) for task, _ in llm.requests} == {(n, 0.8) for n in (1, 2, 3, 4)}
    assert {data.question for _, data in llm.requests if isinstance(data, ProposalQuestion)} == {CLEAN}


async def test_lost_and_duplicate_candidates_are_recorded_separately() -> None:
    failure = MalformedAnswer("No JSON came.")
    scripted_texts: list[str | Exception] = [_PLAN.format(n=1), failure, _PLAN.format(n=1).upper(), _PLAN.format(n=2)]
    proposed = await propose(scripted_texts)
    assert [candidate.number for candidate in proposed.candidates] == [1, 4]
    assert {number: str(error) for number, error in proposed.lost.items()} == {2: "No JSON came."}
    assert proposed.repeats == {3: 1}


def make_candidates(count: int) -> list[Candidate]:
    texts = {"question": CLEAN, "problem": "p", "gap": "g", "bridge": "b"}
    return [
        Candidate.model_validate(
            {"id": f"p1-{n}", "number": n, "title": f"Title {n}", "text": _PLAN.format(n=n), **texts}
        )
        for n in range(1, count + 1)
    ]


def parse_plan_number(text: str) -> int:
    return int(text.partition("Plan ")[2].partition(":")[0])


def _judge(lost_dimensions: Sequence[int] = (), level: bool = False) -> ScriptedLlm:
    """Return a judge that prefers the higher number, or gives equal scores if `level`."""

    def answer(task: Task[Any, Any], data: Any) -> BaseModel:
        if isinstance(data, PairQuestion):
            if {parse_plan_number(data.first), parse_plan_number(data.second)} & set(lost_dimensions):
                raise AnswerRefused("The content filter refused the question.")
            better = "A" if parse_plan_number(data.first) > parse_plan_number(data.second) else "B"
            entry = {"in_a": "a", "in_b": "b", "reason": "r", "better": "tie" if level else better}
            entries = [{"label": f"D{place}", **entry} for place in range(1, len(data.dimensions) + 1)]
            return build_comparison_task(len(entries)).output.model_validate({"entries": entries})
        if parse_plan_number(data.idea) in lost_dimensions:
            raise MalformedAnswer("No JSON came.")
        texts = {"speaks_for": "a", "speaks_against": "b", "reason": "r"}
        score = 3 if level else min(5, parse_plan_number(data.idea))
        scored = [{**texts, "label": f"D{place}", "score": score} for place in (1, 2, 3)]
        return build_scoring_task(DIMENSIONS).output.model_validate({"entries": scored})

    return ScriptedLlm(answer)


async def rank_candidates(order_by: BestBy, llm: ScriptedLlm, count: int = 5, seed: int = 0) -> tuple[Candidate, ...]:
    options = CurationOptions(comparisons_per_candidate=4, seed=seed)
    return await place_candidates(make_candidates(count), order_by, llm, make_run(), options, _RANKING, DIMENSIONS)


@pytest.mark.parametrize("order_by", ["comparisons", "scores"])
async def test_best_candidate_is_first_regardless_of_proposal_order(order_by: BestBy) -> None:
    placed = await rank_candidates(order_by, _judge())
    assert [item.number for item in placed] == [5, 4, 3, 2, 1]
    assert [item.rank for item in placed] == [1, 2, 3, 4, 5]


async def test_candidate_without_scores_is_unranked_with_reason() -> None:
    placed = await rank_candidates("scores", _judge(lost_dimensions=[4]))
    assert [item.number for item in placed] == [5, 3, 2, 1, 4]
    assert placed[-1].rank == Absent(reason="There is no score for novelty.")


async def test_candidate_without_answered_comparisons_is_unranked_and_last() -> None:
    placed = await rank_candidates("comparisons", _judge(lost_dimensions=[4]))
    assert [item.number for item in placed] == [5, 3, 2, 1, 4]
    assert [item.rank for item in placed[:-1]] == [1, 2, 3, 4]
    absent_rank = placed[-1].rank
    assert isinstance(absent_rank, Absent)
    assert "All comparisons of this idea failed" in absent_rank.reason
    assert absent_rank.reason.endswith("the LLM declined to answer.")


async def test_tied_candidates_are_ordered_by_seed() -> None:
    orders = {
        tuple(item.number for item in await rank_candidates("scores", _judge(level=True), seed=seed))
        for seed in range(5)
    }
    assert len(orders) > 1
    repeated_order = await rank_candidates("scores", _judge(level=True), seed=3)
    assert repeated_order == await rank_candidates("scores", _judge(level=True), seed=3)
    assert [item.number for item in repeated_order] == [
        item.number for item in shuffle_candidates(make_candidates(5)[::-1], 3)
    ]


async def test_every_dimension_is_scored_and_lost_scores_are_absent() -> None:
    idea = parse_idea(_PLAN.format(n=4), "plan.md")
    scores = await score_idea(idea, DIMENSIONS, _judge(), make_run(), _OPTIONS)
    assert [(score.dimension, score.score) for score in scores.scores] == [
        (dimension.name, 4.0) for dimension in DIMENSIONS
    ]
    assert scores.mean == 0.75
    run = make_run()
    scores_with_loss = await score_idea(idea, DIMENSIONS, _judge(lost_dimensions=[4]), run, _OPTIONS)
    assert {score.score for score in scores_with_loss.scores} == {Absent(reason="No JSON came.")}
    assert isinstance(scores_with_loss.mean, Absent)
    assert [(item.item_kind, item.count) for item in run.journal.list_dropped()] == [("scores of an idea", 1)]


def write_records(path: Path, *records: object) -> Path:
    path.write_text("\n".join(record if isinstance(record, str) else json.dumps(record) for record in records), "utf-8")
    return path


def test_papers_are_read_by_line_and_invalid_lines_are_reported(tmp_path: Path) -> None:
    abstract = " ".join(["word"] * 30)
    valid_record = {"id": "a", "title": "A title", "abstract": abstract, "venue": "V"}
    path = write_records(
        tmp_path / "papers.jsonl",
        valid_record,
        "",
        "{",
        {"title": "No abstract"},
        {**valid_record, "title": "The same id"},
        {"title": "Without id", "abstract": abstract},
        {"title": "Short", "abstract": "Four words and more."},
    )
    read = read_papers(path, 6_000)
    assert [(item.source, item.title) for item in read.found] == [(f"{path}:1", "A title"), (f"{path}:6", "Without id")]
    assert [item.split(" ")[0] for item in read.rejected] == [f"{path}:{n}{':' * (n == 7)}" for n in (3, 4, 5, 7)]
    assert f"{path}:5 has the same id 'a' as {path}:1" in read.rejected[2]


def test_curated_lines_become_questions_and_lines_without_question_are_skipped(tmp_path: Path) -> None:
    with_question = {"id": "a", "kind": "new_idea", "question": CLEAN}
    line_without_question = {"id": "b", "kind": "survey", "question": {"reason": "this is a survey"}}
    read = read_questions(
        write_records(tmp_path / "curated.jsonl", with_question, line_without_question, json.dumps(CLEAN), {"id": "c"})
    )
    assert [item.text for item in read.found] == [CLEAN, CLEAN]
    assert read.found[0].id == "a"
    assert len(read.rejected) == 1
    assert "has no question" in read.rejected[0]


def test_a_candidate_line_is_read_as_an_idea() -> None:
    from assayer.ideas.records import idea_of_record

    (candidate,) = make_candidates(1)
    read = idea_of_record(json.loads(candidate.model_dump_json()), "candidates.jsonl:1")
    assert (read.title, read.text) == (candidate.title, candidate.text)
