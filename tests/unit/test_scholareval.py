"""ScholarEval end to end in memory: depth, citations, failures as data, honesty about the corpus."""

import asyncio
import datetime as dt
import re
from dataclasses import replace

import pytest
from pydantic import BaseModel

from assayer.errors import BudgetExhausted, LlmRejected, LlmUnavailable, MalformedAnswer
from assayer.ideas.parsing import parse_idea
from assayer.llm import Answer, Task
from assayer.methods.scholareval.pipeline import evaluate
from assayer.methods.scholareval.schemas import (
    Claim,
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
from assayer.methods.scholareval.tasks import REVIEW, SYNTHESIS
from assayer.models import (
    Absent,
    Assessment,
    Report,
    Score,
)
from assayer.ports import Embedder
from assayer.run.run import Run
from tests.unit.scholareval_questions import IDEA
from tests.unit.scholareval_runs import (
    OPTIONS,
    backends_beyond_corpus,
    corpus_papers,
    evaluated,
    twin_backends,
)
from tests.unit.twins import In, Out, TwinLlm, a_run

_KINDS = ("support", "contradiction")


def _texts(report: Report) -> list[str]:
    return re.findall(r"\[(P\d+)\]", report.model_dump_json())


async def test_an_idea_gets_both_modules_with_scores_and_citations() -> None:
    report = await evaluated(twin_backends()[0])
    assert [part.name for part in report.parts] == ["soundness", "contribution"]
    assert all(isinstance(part.score, Score) for part in report.parts)
    assert report.references
    assert report.summary.strengths or report.summary.weaknesses


async def test_modules_are_five_and_six_levels_deep_and_the_check_of_claims_one_more() -> None:
    few = OPTIONS.model_copy(update={"candidates": 8, "hits": 8})
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, twin_backends()[0], a_run(), few)).report
    assert {depth.module: depth.levels for depth in report.coverage.depth} == {
        "soundness": 5,
        "contribution": 6,
        "plan": 1,
        "claims": 1,
    }


async def test_every_label_in_the_report_is_a_reference_with_our_own_record() -> None:
    report = await evaluated(twin_backends()[0])
    records = {paper.id: paper for paper in corpus_papers()}
    labels = {reference.label for reference in report.references}
    assert set(_texts(report)) <= labels
    assert len(labels) == len(report.references)
    assert all(reference.url == records[reference.id].url for reference in report.references)


async def test_the_same_run_twice_gives_the_same_report() -> None:
    first, second = await evaluated(twin_backends()[0]), await evaluated(twin_backends()[0])
    assert first.model_dump_json(exclude={"usage"}) == second.model_dump_json(exclude={"usage"})


async def test_one_look_at_all_titles_and_each_opened_paper_is_read_once_for_all_methods() -> None:
    backends, llm = twin_backends()
    await evaluated(backends)
    looks = [one for _, one in llm.asked if isinstance(one, FirstLookQuestion) and one.purpose == "soundness"]
    reads = [one for _, one in llm.asked if isinstance(one, ReadingQuestion)]
    papers = [item.paper_id for question in reads for item in question.evidence]
    assert len(looks) == 1
    assert papers
    assert len(papers) == len(set(papers)) <= len(looks[0].shown)
    assert all(question.parts == looks[0].parts for question in reads)


async def test_nothing_is_read_of_papers_whose_titles_bear_on_nothing() -> None:
    def nothing(_: BaseModel) -> FirstLook:
        return FirstLook(labels=[])

    backends, llm = twin_backends(scripted={"scholareval.first_look": nothing})
    report = await evaluated(backends)
    assert {name for name, _ in llm.asked} & {"scholareval.reading", "scholareval.review"} == set()
    assert all(one.score == Absent(reason="No paper relevant to this method was found.") for one in _methods(report))
    assert report.coverage.papers_read == 0
    assert any(one.reason == "its title bears on no part of the idea" for one in report.coverage.dropped)


async def test_a_first_look_that_was_lost_opens_the_likeliest_and_says_so() -> None:
    failing = {"scholareval.first_look": MalformedAnswer("no JSON")}
    backends, llm = twin_backends(failing=failing)
    few = OPTIONS.model_copy(update={"opened": 3})
    report = (await evaluate(parse_idea(IDEA, source="idea.md"), backends, a_run(), few)).report
    reads = [one for _, one in llm.asked if isinstance(one, ReadingQuestion)]
    assert sum(len(question.evidence) for question in reads) == 3
    assert any(one.what == "first look at titles" for one in report.coverage.dropped)


async def test_without_a_first_look_everything_found_is_read() -> None:
    backends, llm = twin_backends()
    faithful = OPTIONS.model_copy(update={"looked_at": 0, "compared": 100})
    await evaluate(parse_idea(IDEA, source="idea.md"), backends, a_run(), faithful)
    reads = [one for _, one in llm.asked if isinstance(one, ReadingQuestion)]
    assert not any(isinstance(one, FirstLookQuestion) for _, one in llm.asked)
    assert sum(len(question.evidence) for question in reads) == len(corpus_papers())


async def test_steps_can_be_left_out_and_the_report_says_so() -> None:
    backends, llm = twin_backends()
    bare = OPTIONS.model_copy(update={"without": ("reading", "comparison")})
    report = (await evaluate(parse_idea(IDEA, source="idea.md"), backends, a_run(), bare)).report
    assert {"scholareval.reading", "scholareval.comparison"}.isdisjoint(name for name, _ in llm.asked)
    assert any(one.text == "Left out by the settings: reading and comparison." for one in report.notices)
    notes = [note for _, one in llm.asked if isinstance(one, ReviewQuestion) for note in one.notes]
    compared = [one for _, it in llm.asked if isinstance(it, SynthesisQuestion) for one in it.compared]
    assert {note.stance for note in notes} == {None} == {one.verdict for one in compared}
    assert all("We train a small reader" in note.did for note in notes)
    assert all("We train a small reader" in one.reason for one in compared)
    stances = {it.stance for part in report.parts for one in part.assessments for it in one.readings}
    assert stances == {None}


async def test_what_nobody_read_is_shown_as_its_own_words() -> None:
    backends, llm = twin_backends()
    bare = OPTIONS.model_copy(update={"without": ("reading", "comparison")})
    await evaluate(parse_idea(IDEA, source="idea.md"), backends, a_run(), bare)
    review = next(one for _, one in llm.asked if isinstance(one, ReviewQuestion))
    synthesis = next(one for _, one in llm.asked if isinstance(one, SynthesisQuestion))
    assert "nobody read it for this method" in REVIEW.messages(review)[1].content
    assert "stance:" not in REVIEW.messages(review)[1].content.split("# Task")[0]
    assert "nobody compared it" in SYNTHESIS.messages(synthesis)[1].content


async def test_reviews_of_the_contribution_see_what_was_read_for_the_methods() -> None:
    few = OPTIONS.model_copy(update={"compared": 2, "opened": 5, "augmented": 0})
    backends, llm = twin_backends()
    await evaluate(parse_idea(IDEA, source="idea.md"), backends, a_run(), few)
    asked = [one for _, one in llm.asked if isinstance(one, SynthesisQuestion)]
    assert asked
    for question in asked:
        compared = {one.title for one in question.compared}
        assert 0 < len(question.read) <= 6
        assert not compared & {one.title for one in question.read}
        labels = [*(one.label for one in question.compared), *(one.label for one in question.read)]
        assert labels == [f"P{number}" for number in range(1, len(labels) + 1)]
        assert "read for the idea's methods" in SYNTHESIS.messages(question)[1].content


@pytest.mark.parametrize("day", [None, dt.date(2024, 6, 30)])
async def test_reviews_say_as_of_which_day_they_judge(day: dt.date | None) -> None:
    backends, llm = twin_backends()
    await evaluate(parse_idea(IDEA, source="idea.md"), backends, a_run(day), OPTIONS)
    texts = [REVIEW.messages(one)[1].content for _, one in llm.asked if isinstance(one, ReviewQuestion)]
    texts += [SYNTHESIS.messages(one)[1].content for _, one in llm.asked if isinstance(one, SynthesisQuestion)]
    assert texts
    assert all(("Judge as of 2024-06-30:" in text) == (day is not None) for text in texts)


async def test_a_soundness_that_stops_keeps_no_review_of_the_contribution_waiting() -> None:
    backends, llm = twin_backends(failing={"scholareval.methods": MalformedAnswer("no JSON")})
    report = (await evaluate(parse_idea(IDEA, source="idea.md"), backends, a_run(), OPTIONS)).report
    asked = [one for _, one in llm.asked if isinstance(one, SynthesisQuestion)]
    assert asked
    assert all(one.read == () for one in asked)
    assert isinstance(report.parts[1].score, Score)


async def test_scores_carry_the_certainty_of_the_evidence() -> None:
    report = await evaluated(twin_backends()[0])
    scores = [one.score for part in report.parts for one in part.assessments if isinstance(one.score, Score)]
    assert {score.certainty for score in scores} == {"low"}


def _methods(report: Report) -> tuple[Assessment, ...]:
    return report.parts[0].assessments


def _note(quote: str, stance: Stance, results: str) -> MethodNote:
    return MethodNote(method="M1", did="Did so.", results=results, context="Everywhere.", quote=quote, stance=stance)


async def test_invented_quotes_are_marked_and_their_points_downgraded() -> None:
    def invent(question: BaseModel) -> Readings:
        assert isinstance(question, ReadingQuestion)
        return Readings(
            readings=[
                PaperReading(
                    label=item.label,
                    notes=[
                        _note(
                            "these are words that no paper in this corpus has ever contained",
                            "supports",
                            "It worked for 977 of them.",
                        )
                    ],
                )
                for item in question.evidence
            ]
        )

    report = await evaluated(twin_backends(scripted={"scholareval.reading": invent})[0])
    soundness = report.parts[0]
    readings = [reading for one in soundness.assessments for reading in one.readings]
    assert readings
    assert all(reading.quote and reading.quote.quote_state == "not_found" for reading in readings)
    assert {reading.numbers_not_found for reading in readings} == {("977",)}
    assert report.coverage.quotes_unverified >= len(readings)
    points = [point for one in soundness.assessments for point in one.points if point.citations]
    assert {point.downgraded for point in points if point.kind == "support"} == {True}
    assert {point.downgraded for point in points if point.kind != "support"} <= {False}


async def test_quote_of_a_paper_that_contradicts_carries_no_point_of_support() -> None:
    def contradict(question: BaseModel) -> Readings:
        assert isinstance(question, ReadingQuestion)
        return Readings(
            readings=[
                PaperReading(label=item.label, notes=[_note(item.text, "contradicts", "It failed, in 97 of 98 tries.")])
                for item in question.evidence
            ]
        )

    def praise(question: BaseModel) -> MethodReview:
        assert isinstance(question, ReviewQuestion)
        claim = Claim(text=f"It works in 97 of 98 tries {' '.join(f'[{note.label}]' for note in question.notes)}.")
        return MethodReview(
            support=[claim], contradictions=[claim], suggestions=[], rationale="So.", certainty="high", score=5
        )

    scripted = {"scholareval.reading": contradict, "scholareval.review": praise}
    report = await evaluated(twin_backends(scripted=scripted)[0])
    points = _methods(report)[0].points
    states = {kind: {c.quote_state for p in points if p.kind == kind for c in p.citations} for kind in _KINDS}
    assert states == {"support": {"none"}, "contradiction": {"verified"}}
    assert {point.numbers_not_found for point in points} == {("97", "98")}


async def test_a_lost_step_is_counted_and_never_becomes_a_score() -> None:
    report = await evaluated(twin_backends(failing={"scholareval.review": MalformedAnswer("no JSON")})[0])
    soundness, contribution = report.parts
    assert isinstance(soundness.score, Absent)
    assert all(isinstance(one.score, Absent) and one.readings for one in soundness.assessments)
    assert isinstance(contribution.score, Score)
    assert any(
        one.what == "review of a method" and one.reason == "the LLM gave no valid answer"
        for one in report.coverage.dropped
    )
    assert any(notice.kind == "absent_part" for notice in report.notices)


@pytest.mark.parametrize("step", ["comparison"])
async def test_a_search_that_was_lost_is_not_silence_of_the_literature(step: str) -> None:
    report = await evaluated(twin_backends(failing={f"scholareval.{step}": MalformedAnswer("no JSON")})[0])
    for dimension in report.parts[1].assessments:
        assert isinstance(dimension.score, Absent)
        assert dimension.score.reason.startswith("Not judged: part of the search for papers failed")
        assert dimension.points == ()


async def test_papers_that_could_not_be_read_are_counted_and_not_called_missing() -> None:
    report = await evaluated(twin_backends(failing={"scholareval.reading": MalformedAnswer("no JSON")})[0])
    for method in report.parts[0].assessments:
        assert isinstance(method.score, Absent)
        assert "could not be read" in method.score.reason
    lost = [one for one in report.coverage.dropped if one.reason == "the LLM gave no valid answer"]
    assert sum(one.count for one in lost if one.what == "paper read for the methods") >= len(corpus_papers()) // 2


async def test_a_synthesis_that_failed_leaves_the_comparisons_in_the_report() -> None:
    report = await evaluated(twin_backends(failing={"scholareval.synthesis": MalformedAnswer("no JSON")})[0])
    assert all(isinstance(one.score, Absent) and one.readings for one in report.parts[1].assessments)


async def test_a_heading_that_looks_like_a_marker_is_just_a_heading() -> None:
    idea = parse_idea(IDEA.replace("## Method", "## @Design of the method"), source="idea.md")
    report = (await evaluate(idea, twin_backends()[0], a_run(), OPTIONS)).report
    assert report.references


async def test_a_module_that_stops_leaves_the_other_one_standing() -> None:
    report = await evaluated(twin_backends(failing={"scholareval.dimensions": MalformedAnswer("no JSON")})[0])
    assert isinstance(report.parts[0].score, Score)
    assert isinstance(report.parts[1].score, Absent)


async def test_when_nothing_answers_the_error_is_raised() -> None:
    down = LlmUnavailable("The endpoint is down.")
    backends, _ = twin_backends(failing={"scholareval.dimensions": down, "scholareval.methods": down})
    with pytest.raises(LlmUnavailable, match="The endpoint is down"):
        await evaluated(backends)


async def test_a_refused_key_ends_the_evaluation() -> None:
    backends, _ = twin_backends(failing={"scholareval.first_look": LlmRejected("wrong key")})
    with pytest.raises(LlmRejected):
        await evaluated(backends)


async def test_a_spent_budget_ends_in_a_report_that_says_so() -> None:
    backends, _ = twin_backends(failing={"scholareval.synthesis": BudgetExhausted("The budget of $1.00 is spent.")})
    report = await evaluated(backends)
    assert isinstance(report.parts[1].score, Absent)
    assert next(notice for notice in report.notices if notice.kind == "budget").text.startswith("The budget of $1.00")
    assert report.coverage.llm_calls_lost


class _Dawdling(TwinLlm):
    """Leaves the others so many turns before it answers a task of that name."""

    def __init__(self, embedder: Embedder, slow: str) -> None:
        super().__init__(embedder)
        self._slow = slow

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        for _ in range(300 if task.name == self._slow else 0):
            await asyncio.sleep(0)
        return await super().run(task, data, run)


async def test_prompts_do_not_depend_on_which_module_is_first() -> None:
    asked = []
    for slow in ("scholareval.methods", "scholareval.dimensions"):
        run = a_run()
        backends = backends_beyond_corpus(run)
        llm = _Dawdling(backends.embedder, slow)
        await evaluate(parse_idea(IDEA, source="idea.md"), replace(backends, llm=llm), run, OPTIONS)
        asked.append(sorted((name, data.model_dump_json()) for name, data in llm.asked))
    assert asked[0] == asked[1]
