"""ScholarEval end to end in memory: citations, failures as data, honesty about the corpus."""

import re
from dataclasses import replace

import pytest
from pydantic import BaseModel

from assayer.errors import BudgetExhausted, LlmUnavailable, MalformedAnswer
from assayer.llm import Answer, In, Out, Task
from assayer.methods.scholareval.pipeline import evaluate
from assayer.methods.scholareval.schemas import (
    Claim,
    ComparisonQuestion,
    FirstLook,
    FirstLookQuestion,
    MethodNote,
    MethodReview,
    PaperReading,
    ReadingQuestion,
    Readings,
    ReviewQuestion,
    Stance,
    SynthesisQuestion,
)
from assayer.models import Absent, Assessment, Report, Score
from assayer.run.run import Run
from tests.unit.scholareval_runs import OPTIONS, evaluate_idea, make_corpus_papers, make_twin_backends, open_context
from tests.unit.twins import Answerer, TwinLlm, make_run

_KINDS = ("support", "contradiction")


def list_cited_labels(report: Report) -> list[str]:
    return re.findall(r"\[(P\d+)\]", report.model_dump_json())


async def test_every_report_label_resolves_to_a_corpus_reference() -> None:
    report = await evaluate_idea(make_twin_backends()[0])
    assert [(part.name, isinstance(part.score, Score)) for part in report.parts] == [
        ("soundness", True),
        ("contribution", True),
    ]
    assert report.references
    records = {paper.id: paper for paper in make_corpus_papers()}
    labels = {reference.label for reference in report.references}
    assert set(list_cited_labels(report)) <= labels
    assert len(labels) == len(report.references)
    assert all(reference.url == records[reference.id].url for reference in report.references)


async def test_titles_are_screened_once_and_each_paper_is_read_once() -> None:
    backends, llm = make_twin_backends()
    await evaluate_idea(backends)
    first_looks = [question for question in llm.list_questions(FirstLookQuestion) if question.purpose == "soundness"]
    reading_questions = llm.list_questions(ReadingQuestion)
    papers = [item.paper_id for question in reading_questions for item in question.evidence]
    assert len(first_looks) == 1
    assert papers
    assert len(papers) == len(set(papers)) <= len(first_looks[0].shown)
    assert all(question.parts == first_looks[0].parts for question in reading_questions)


class _SmallWindow(TwinLlm):
    """Model with a small context window: it sees only two papers of a question."""

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        cut = {"evidence": data.evidence[:2]} if isinstance(data, ReadingQuestion | ComparisonQuestion) else {}
        return await super().run(task, data.model_copy(update=cut), run)


async def test_papers_beyond_a_small_context_window_are_sent_in_another_request() -> None:
    def choose_first_six(question: BaseModel) -> FirstLook:
        assert isinstance(question, FirstLookQuestion)
        return FirstLook(labels=[item.label for item in question.shown[:6]])

    llm = _SmallWindow({"scholareval.first_look": choose_first_six})
    await evaluate_idea(replace(make_twin_backends()[0], llm=llm))
    reading_questions = [
        [item.paper_id for item in question.evidence] for question in llm.list_questions(ReadingQuestion)
    ]
    assert [len(papers) for papers in reading_questions] == [2, 2, 2]
    assert len({paper for papers in reading_questions for paper in papers}) == 6
    compared = [item.paper_id for question in llm.list_questions(ComparisonQuestion) for item in question.evidence]
    assert len(compared) == len(set(compared)) >= 6


async def test_papers_with_irrelevant_titles_are_not_read() -> None:
    def choose_none(_: BaseModel) -> FirstLook:
        return FirstLook(labels=[])

    backends, llm = make_twin_backends(scripted={"scholareval.first_look": choose_none})
    report = await evaluate_idea(backends)
    assert {name for name, _ in llm.requests} & {"scholareval.reading", "scholareval.review"} == set()
    assert all(
        method.score == Absent(reason="No paper relevant to this method was found.") for method in list_methods(report)
    )
    assert report.coverage.papers_read == 0
    assert any(item.reason == "its title is not relevant to any part of the idea" for item in report.coverage.dropped)


async def test_failed_title_screening_opens_likeliest_papers_and_is_reported() -> None:
    failing = {"scholareval.first_look": MalformedAnswer("no JSON")}
    backends, llm = make_twin_backends(failing=failing)
    options = OPTIONS.model_copy(update={"opened": 3})
    report = (await evaluate(open_context(backends, make_run(), options))).report
    reading_questions = llm.list_questions(ReadingQuestion)
    assert sum(len(question.evidence) for question in reading_questions) == 3
    assert any(item.item_kind == "first look at titles" for item in report.coverage.dropped)


async def test_papers_read_for_the_methods_are_compared_for_novelty() -> None:
    options = OPTIONS.model_copy(update={"compared": 2, "opened": 5, "augmented": 0})
    backends, llm = make_twin_backends()
    await evaluate(open_context(backends, make_run(), options))
    question = llm.list_questions(SynthesisQuestion)
    assert question
    comparisons = llm.list_questions(ComparisonQuestion)
    compared = [item.paper_id for question in comparisons for item in question.evidence]
    read = {item.paper_id for question in llm.list_questions(ReadingQuestion) for item in question.evidence}
    assert len(compared) == len(set(compared)) > 2
    assert set(compared[2:]) <= read


def list_methods(report: Report) -> tuple[Assessment, ...]:
    return report.parts[0].assessments


def script_reading(stance: Stance, results: str, quote: str | None = None) -> Answerer:
    """Return what reads of every paper the same result, with its own words or others as the quote."""

    def read(question: BaseModel) -> Readings:
        assert isinstance(question, ReadingQuestion)
        fields = {"method": "M1", "did": "Did so.", "results": results, "context": "Everywhere.", "stance": stance}
        readings = [
            PaperReading(label=item.label, notes=[MethodNote.model_validate({**fields, "quote": quote or item.text})])
            for item in question.evidence
        ]
        return Readings(readings=readings)

    return read


async def test_invented_quotes_are_marked_and_their_points_downgraded() -> None:
    invent = script_reading(
        "supports", "It worked for 977 of them.", "words that no paper in this corpus has ever contained"
    )
    report = await evaluate_idea(make_twin_backends(scripted={"scholareval.reading": invent})[0])
    soundness = report.parts[0]
    readings = [reading for assessment in soundness.assessments for reading in assessment.readings]
    assert readings
    assert all(reading.quote and reading.quote.quote_state == "not_found" for reading in readings)
    assert {reading.numbers_not_found for reading in readings} == {("977",)}
    assert report.coverage.quotes_unverified >= len(readings)
    points = [point for assessment in soundness.assessments for point in assessment.points if point.citations]
    assert {point.downgraded for point in points if point.kind == "support"} == {True}
    assert {point.downgraded for point in points if point.kind != "support"} <= {False}


async def test_contradicting_paper_cannot_be_quoted_in_support() -> None:
    def answer_praise(question: BaseModel) -> MethodReview:
        assert isinstance(question, ReviewQuestion)
        claim = Claim(text=f"It works in 97 of 98 tries {' '.join(f'[{note.label}]' for note in question.notes)}.")
        return MethodReview(
            support=[claim], contradictions=[claim], suggestions=[], rationale="So.", certainty="high", score=5
        )

    contradict = script_reading("contradicts", "It failed, in 97 of 98 tries.")
    scripted = {"scholareval.reading": contradict, "scholareval.review": answer_praise}
    report = await evaluate_idea(make_twin_backends(scripted=scripted)[0])
    points = list_methods(report)[0].points
    states = {kind: {c.quote_state for p in points if p.kind == kind for c in p.citations} for kind in _KINDS}
    assert states == {"support": {"none"}, "contradiction": {"verified"}}
    assert {point.numbers_not_found for point in points} == {("97", "98")}


async def test_background_readings_are_neutral_and_not_compared_for_novelty() -> None:
    tell_background = script_reading("background", "Readers exist.")
    backends, llm = make_twin_backends(scripted={"scholareval.reading": tell_background})
    options = OPTIONS.model_copy(update={"compared": 2, "augmented": 0})
    report = (await evaluate(open_context(backends, make_run(), options))).report
    readings = [reading for item in report.parts[0].assessments for reading in item.readings]
    assert readings
    assert {reading.stance for reading in readings} == {0}
    compared = [item for question in llm.list_questions(ComparisonQuestion) for item in question.evidence]
    assert len(compared) <= 2


@pytest.mark.parametrize("score", [None, 5])
async def test_underspecified_method_has_no_score_even_if_model_returns_a_number(score: float | None) -> None:
    def judge(question: BaseModel) -> MethodReview:
        return MethodReview(
            support=[],
            contradictions=[],
            suggestions=[],
            rationale="Underspecified: the reader is not described.",
            certainty="low",
            score=score,
        )

    report = await evaluate_idea(make_twin_backends(scripted={"scholareval.review": judge})[0])
    assert {item.score for item in report.parts[0].assessments} == {
        Absent(reason="underspecified: the reader is not described.")
    }


async def test_failed_step_is_counted_and_leaves_score_missing() -> None:
    report = await evaluate_idea(make_twin_backends(failing={"scholareval.review": MalformedAnswer("no JSON")})[0])
    soundness, contribution = report.parts
    assert isinstance(soundness.score, Absent)
    assert all(isinstance(assessment.score, Absent) and assessment.readings for assessment in soundness.assessments)
    assert isinstance(contribution.score, Score)
    assert any(
        item.item_kind == "review of a method" and item.reason == "the LLM gave no valid answer"
        for item in report.coverage.dropped
    )
    assert any(notice.kind == "absent_part" for notice in report.notices)


async def test_failed_search_is_not_treated_as_absence_of_literature() -> None:
    report = await evaluate_idea(make_twin_backends(failing={"scholareval.comparison": MalformedAnswer("no JSON")})[0])
    for dimension in report.parts[1].assessments:
        assert isinstance(dimension.score, Absent)
        assert dimension.score.reason.startswith("Not judged: part of the search for papers failed")
        assert dimension.points == ()


@pytest.mark.parametrize(("step", "is_stopped"), [("dimensions", 1), ("methods", 0)])
async def test_failed_module_does_not_affect_the_other_module(step: str, is_stopped: int) -> None:
    report = await evaluate_idea(make_twin_backends(failing={f"scholareval.{step}": MalformedAnswer("no JSON")})[0])
    assert isinstance(report.parts[is_stopped].score, Absent)
    assert isinstance(report.parts[1 - is_stopped].score, Score)


async def test_unavailable_endpoint_error_is_raised_when_all_steps_fail() -> None:
    unavailable = LlmUnavailable("The endpoint is down.")
    backends, _ = make_twin_backends(
        failing={"scholareval.dimensions": unavailable, "scholareval.methods": unavailable}
    )
    with pytest.raises(LlmUnavailable, match="The endpoint is down"):
        await evaluate_idea(backends)


async def test_exhausted_budget_still_produces_report_with_notice() -> None:
    backends, _ = make_twin_backends(
        failing={"scholareval.synthesis": BudgetExhausted("The budget of $1.00 is spent.")}
    )
    report = await evaluate_idea(backends)
    assert isinstance(report.parts[1].score, Absent)
    assert next(notice for notice in report.notices if notice.kind == "budget").text.startswith("The budget of $1.00")
    assert report.coverage.llm_requests_failed
