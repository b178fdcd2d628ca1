"""ScholarEval end to end in memory: depth, citations, failures as data, honesty about the corpus."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from pydantic import BaseModel

from assayer.errors import AssayerError, BudgetExhausted, LlmRejected, LlmUnavailable, MalformedAnswer
from assayer.ideas import parse_idea
from assayer.methods.scholareval import Options
from assayer.methods.scholareval.pipeline import evaluate
from assayer.methods.scholareval.schemas import PaperReading, ReadingQuestion, Readings, RelevanceQuestion
from assayer.models import Absent, CorpusFit, Paper, PaperId, Report, Retraction, Score
from assayer.ports import Embedder
from assayer.run import Run
from assayer.world import World
from index.memory import MemoryCorpus
from tests.unit.scholareval_questions import IDEA
from tests.unit.twins import Answerer, NoFullTexts, TwinLlm, a_run
from workers.embedding_hashing import HashingEmbedder

OPTIONS = Options()
POOR = CorpusFit(level="poor", value=0.01, criterion="given by the test")
TOPICS = (
    "a small reader",
    "abstract checking",
    "quoted sentences",
    "annotated claims",
    "citation accuracy",
    "baselines",
)


def _papers() -> list[Paper]:
    return [
        Paper(
            id=PaperId(f"paper {number}"),
            title=f"Reading claims, study {number}: {topic}",
            abstract=f"We train a small reader for {topic} that checks every quoted sentence against the abstract. "
            f"We compare it with three baselines on 2,000 annotated claims. Accuracy reaches {60 + number}% but fails "
            "out of domain.",
            publication_date=dt.date(2020, 1, 1) + dt.timedelta(days=number),
            url=f"https://example.org/{number}",
            source="corpus",
        )
        for number, topic in enumerate(TOPICS * 4)
    ]


def _world(
    fit: CorpusFit | None = None,
    scripted: Mapping[str, Answerer] | None = None,
    failing: Mapping[str, AssayerError] | None = None,
) -> tuple[World, TwinLlm]:
    embedder: Embedder = HashingEmbedder()
    llm = TwinLlm(embedder, scripted, failing)
    corpus = MemoryCorpus(_papers(), embedder, fit=fit)
    return World(llm=llm, literature=corpus, full_texts=NoFullTexts(), embedder=embedder), llm


async def _report(world: World, run: Run | None = None) -> Report:
    idea = parse_idea(IDEA, source="idea.md")
    return (await evaluate(idea, world, run or a_run(), OPTIONS)).report


def _texts(report: Report) -> list[str]:
    return re.findall(r"\[(P\d+)\]", report.model_dump_json())


async def test_an_idea_gets_both_modules_with_scores_and_citations() -> None:
    report = await _report(_world()[0])
    assert [part.name for part in report.parts] == ["soundness", "contribution"]
    assert all(isinstance(part.score, Score) for part in report.parts)
    assert report.references
    assert report.summary.strengths or report.summary.weaknesses


async def test_modules_are_five_and_six_levels_deep() -> None:
    few = OPTIONS.model_copy(update={"candidates": 8, "hits": 8})
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _world()[0], a_run(), few)).report
    assert {depth.module: depth.levels for depth in report.coverage.depth} == {"soundness": 5, "contribution": 6}


async def test_every_label_in_the_report_is_a_reference_with_our_own_record() -> None:
    report = await _report(_world()[0])
    records = {paper.id: paper for paper in _papers()}
    labels = {reference.label for reference in report.references}
    assert set(_texts(report)) <= labels
    assert len(labels) == len(report.references)
    assert all(reference.url == records[reference.id].url for reference in report.references)


async def test_the_same_run_twice_gives_the_same_report() -> None:
    first, second = await _report(_world()[0]), await _report(_world()[0])
    assert first.model_dump_json(exclude={"usage"}) == second.model_dump_json(exclude={"usage"})


async def test_relevance_is_judged_ten_abstracts_a_call_and_no_paper_twice() -> None:
    world, llm = _world()
    await _report(world)
    judged = [question for name, question in llm.asked if name == "scholareval.relevance"]
    papers = [
        item.paper_id for question in judged if isinstance(question, RelevanceQuestion) for item in question.evidence
    ]
    assert len(papers) == len(set(papers)) == len(_papers())
    assert len(judged) == 3


async def test_invented_quotes_are_marked_and_their_points_downgraded() -> None:
    def invent(question: BaseModel) -> Readings:
        assert isinstance(question, ReadingQuestion)
        return Readings(
            readings=[
                PaperReading(
                    label=item.label,
                    relevant=True,
                    method="Did so.",
                    results="It worked.",
                    context="Everywhere.",
                    quote="these are words that no paper in this corpus has ever contained",
                    stance="supports",
                )
                for item in question.evidence
            ]
        )

    report = await _report(_world(scripted={"scholareval.reading": invent})[0])
    soundness = report.parts[0]
    readings = [reading for one in soundness.assessments for reading in one.readings]
    assert readings
    assert all(reading.quote and reading.quote.quote_state == "not_found" for reading in readings)
    assert report.coverage.quotes_unverified >= len(readings)
    assert all(point.downgraded for one in soundness.assessments for point in one.points if point.citations)


async def test_a_lost_step_is_counted_and_never_becomes_a_score() -> None:
    report = await _report(_world(failing={"scholareval.review": MalformedAnswer("no JSON")})[0])
    soundness, contribution = report.parts
    assert isinstance(soundness.score, Absent)
    assert all(isinstance(one.score, Absent) and one.readings for one in soundness.assessments)
    assert isinstance(contribution.score, Score)
    assert any(
        one.what == "review of a method" and one.reason == "the LLM gave no valid answer"
        for one in report.coverage.dropped
    )
    assert any(notice.kind == "absent_part" for notice in report.notices)


@pytest.mark.parametrize("step", ["queries", "relevance", "comparison"])
async def test_a_search_that_was_lost_is_not_silence_of_the_literature(step: str) -> None:
    report = await _report(_world(failing={f"scholareval.{step}": MalformedAnswer("no JSON")})[0])
    for dimension in report.parts[1].assessments:
        assert isinstance(dimension.score, Absent)
        assert dimension.score.reason.startswith("Not judged: part of the search for papers was lost")
        assert dimension.points == ()


async def test_papers_that_could_not_be_read_are_counted_and_not_called_missing() -> None:
    report = await _report(_world(failing={"scholareval.reading": MalformedAnswer("no JSON")})[0])
    for method in report.parts[0].assessments:
        assert isinstance(method.score, Absent)
        assert "could not be read" in method.score.reason
    lost = [one for one in report.coverage.dropped if one.reason == "the LLM gave no valid answer"]
    assert sum(one.count for one in lost if one.what == "paper for a method") >= len(_papers()) // 2


async def test_a_synthesis_that_failed_leaves_the_comparisons_in_the_report() -> None:
    report = await _report(_world(failing={"scholareval.synthesis": MalformedAnswer("no JSON")})[0])
    assert all(isinstance(one.score, Absent) and one.readings for one in report.parts[1].assessments)


async def test_a_heading_that_looks_like_a_marker_is_just_a_heading() -> None:
    idea = parse_idea(IDEA.replace("## Method", "## @Design of the method"), source="idea.md")
    report = (await evaluate(idea, _world()[0], a_run(), OPTIONS)).report
    assert report.references


async def test_a_module_that_stops_leaves_the_other_one_standing() -> None:
    report = await _report(_world(failing={"scholareval.dimensions": MalformedAnswer("no JSON")})[0])
    assert isinstance(report.parts[0].score, Score)
    assert isinstance(report.parts[1].score, Absent)


async def test_when_nothing_answers_the_error_is_raised() -> None:
    down = LlmUnavailable("The endpoint is down.")
    world, _ = _world(failing={"scholareval.dimensions": down, "scholareval.methods": down})
    with pytest.raises(LlmUnavailable, match="The endpoint is down"):
        await _report(world)


async def test_a_refused_key_ends_the_evaluation() -> None:
    world, _ = _world(failing={"scholareval.query": LlmRejected("wrong key")})
    with pytest.raises(LlmRejected):
        await _report(world)


async def test_a_spent_budget_ends_in_a_report_that_says_so() -> None:
    world, _ = _world(failing={"scholareval.synthesis": BudgetExhausted("The budget of $1.00 is spent.")})
    report = await _report(world)
    assert isinstance(report.parts[1].score, Absent)
    assert next(notice for notice in report.notices if notice.kind == "budget").text.startswith("The budget of $1.00")


async def test_a_corpus_that_does_not_cover_the_field_gives_no_score_and_parades_no_far_off_paper() -> None:
    strict = OPTIONS.model_copy(update={"admission": Options().admission.model_copy(update={"poor": 0.99})})
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _world(fit=POOR)[0], a_run(), strict)).report
    assert report.references == ()
    assert all(isinstance(part.score, Absent) for part in report.parts)
    assert any(notice.kind == "corpus_fit" for notice in report.notices)
    assert any("does not cover the field" in one.reason for one in report.coverage.dropped)


async def test_near_papers_in_a_poor_corpus_are_shown_but_earn_no_novelty_score() -> None:
    lenient = OPTIONS.model_copy(update={"admission": OPTIONS.admission.model_copy(update={"poor": 0.0})})
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _world(fit=POOR)[0], a_run(), lenient)).report
    assert report.references
    assert all(isinstance(one.score, Absent) for one in report.parts[1].assessments)


async def test_near_papers_earn_a_score_once_a_search_beyond_a_poor_corpus_found_something() -> None:
    lenient = OPTIONS.model_copy(update={"admission": OPTIONS.admission.model_copy(update={"poor": 0.0})})
    run = a_run()
    run.journal.use("arxiv", "search", requests=1, results=5)
    run.journal.near_beyond.update({PaperId(f"arxiv:{number}"): "arxiv" for number in range(5)})
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _world(fit=POOR)[0], run, lenient)).report
    assert any(isinstance(one.score, Score) for one in report.parts[1].assessments)
    notice = next(notice for notice in report.notices if notice.kind == "corpus_fit")
    assert "Searches in arxiv found 5 paper(s) near" in notice.text
    assert report.coverage.corpus_fit == POOR


async def test_search_beyond_a_poor_corpus_that_found_nothing_near_changes_nothing() -> None:
    lenient = OPTIONS.model_copy(update={"admission": OPTIONS.admission.model_copy(update={"poor": 0.0})})
    run = a_run()
    run.journal.use("arxiv", "search", requests=1, results=40)
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _world(fit=POOR)[0], run, lenient)).report
    assert all(isinstance(one.score, Absent) for one in report.parts[1].assessments)


async def test_silence_beyond_a_poor_corpus_is_no_novelty_either() -> None:
    strict = OPTIONS.model_copy(update={"admission": Options().admission.model_copy(update={"partial": 2})})
    run = a_run()
    run.journal.use("arxiv", "search", requests=1, results=5)
    run.journal.near_beyond.update({PaperId(f"arxiv:{number}"): "arxiv" for number in range(5)})
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _world(fit=POOR)[0], run, strict)).report
    reasons = {one.score.reason for one in report.parts[1].assessments if isinstance(one.score, Absent)}
    assert len(reasons) == 1
    assert "a few searches beyond it did not find says nothing about novelty" in reasons.pop()


async def test_retracted_paper_is_marked_in_the_references_and_announced_when_points_rest_on_it() -> None:
    world, _ = _world()
    notice = Retraction(kind="retracted", source="crossref")
    world = replace(
        world,
        literature=MemoryCorpus([one.model_copy(update={"retraction": notice}) for one in _papers()], world.embedder),
    )
    report = await _report(world)
    assert {reference.retraction for reference in report.references} == {notice}
    (told,) = [one for one in report.notices if one.kind == "retraction"]
    assert "no longer stand as published: [P1]" in told.text


async def test_cancellation_is_raised_before_the_next_call() -> None:
    run = a_run()
    run.cancel()
    world, llm = _world()
    with pytest.raises(AssayerError, match="was cancelled"):
        await _report(world, run)
    assert llm.asked == []
