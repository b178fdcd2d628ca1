"""ScholarEval end to end in memory: depth, citations, failures as data, honesty about the corpus."""

import asyncio
import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from pydantic import BaseModel

from assayer.backends import Backends
from assayer.errors import AssayerError, BudgetExhausted, LlmRejected, LlmUnavailable, MalformedAnswer
from assayer.ideas.parsing import parse_idea
from assayer.llm import Answer, Task
from assayer.methods.scholareval import ScholarEvalOptions
from assayer.methods.scholareval.pipeline import evaluate
from assayer.methods.scholareval.schemas import (
    Claim,
    MethodReview,
    PaperReading,
    ReadingQuestion,
    Readings,
    RelevanceQuestion,
    ReviewQuestion,
)
from assayer.models import (
    Absent,
    CorpusFit,
    FullText,
    Hit,
    Paper,
    PaperId,
    PreprintVersions,
    Report,
    Retraction,
    Score,
    Section,
    Window,
)
from assayer.ports import Embedder
from assayer.run.run import Run
from index.memory_corpus import MemoryCorpus
from tests.unit.scholareval_questions import IDEA
from tests.unit.twins import Answerer, In, NoFullTexts, Out, TwinLlm, a_run
from workers.embedding.hashing_embedder import HashingEmbedder

OPTIONS = ScholarEvalOptions()
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


def _backends(
    fit: CorpusFit | None = None,
    scripted: Mapping[str, Answerer] | None = None,
    failing: Mapping[str, AssayerError] | None = None,
) -> tuple[Backends, TwinLlm]:
    embedder: Embedder = HashingEmbedder()
    llm = TwinLlm(embedder, scripted, failing)
    corpus = MemoryCorpus(_papers(), embedder, fit=fit)
    return Backends(llm=llm, literature=corpus, full_texts=NoFullTexts(), embedder=embedder), llm


async def _report(backends: Backends, run: Run | None = None) -> Report:
    idea = parse_idea(IDEA, source="idea.md")
    return (await evaluate(idea, backends, run or a_run(), OPTIONS)).report


_KINDS = ("support", "contradiction")


def _texts(report: Report) -> list[str]:
    return re.findall(r"\[(P\d+)\]", report.model_dump_json())


async def test_an_idea_gets_both_modules_with_scores_and_citations() -> None:
    report = await _report(_backends()[0])
    assert [part.name for part in report.parts] == ["soundness", "contribution"]
    assert all(isinstance(part.score, Score) for part in report.parts)
    assert report.references
    assert report.summary.strengths or report.summary.weaknesses


async def test_modules_are_five_and_six_levels_deep_and_the_check_of_claims_one_more() -> None:
    few = OPTIONS.model_copy(update={"candidates": 8, "hits": 8})
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _backends()[0], a_run(), few)).report
    assert {depth.module: depth.levels for depth in report.coverage.depth} == {
        "soundness": 5,
        "contribution": 6,
        "claims": 1,
    }


async def test_every_label_in_the_report_is_a_reference_with_our_own_record() -> None:
    report = await _report(_backends()[0])
    records = {paper.id: paper for paper in _papers()}
    labels = {reference.label for reference in report.references}
    assert set(_texts(report)) <= labels
    assert len(labels) == len(report.references)
    assert all(reference.url == records[reference.id].url for reference in report.references)


async def test_the_same_run_twice_gives_the_same_report() -> None:
    first, second = await _report(_backends()[0]), await _report(_backends()[0])
    assert first.model_dump_json(exclude={"usage"}) == second.model_dump_json(exclude={"usage"})


async def test_relevance_is_judged_ten_abstracts_a_call_and_no_paper_twice() -> None:
    backends, llm = _backends()
    await _report(backends)
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

    report = await _report(_backends(scripted={"scholareval.reading": invent})[0])
    soundness = report.parts[0]
    readings = [reading for one in soundness.assessments for reading in one.readings]
    assert readings
    assert all(reading.quote and reading.quote.quote_state == "not_found" for reading in readings)
    assert report.coverage.quotes_unverified >= len(readings)
    points = [point for one in soundness.assessments for point in one.points if point.citations]
    assert {point.downgraded for point in points if point.kind == "support"} == {True}
    assert {point.downgraded for point in points if point.kind != "support"} <= {False}


async def test_quote_of_a_paper_that_contradicts_carries_no_point_of_support() -> None:
    def contradict(question: BaseModel) -> Readings:
        assert isinstance(question, ReadingQuestion)
        return Readings(
            readings=[
                PaperReading(
                    label=item.label,
                    relevant=True,
                    method="Did otherwise.",
                    results="It failed, in 97 of 98 tries.",
                    context="Everywhere.",
                    quote=item.text,
                    stance="contradicts",
                )
                for item in question.evidence
            ]
        )

    def praise(question: BaseModel) -> MethodReview:
        assert isinstance(question, ReviewQuestion)
        claim = Claim(text=f"It works in 97 of 98 tries {' '.join(f'[{note.label}]' for note in question.notes)}.")
        return MethodReview(support=[claim], contradictions=[claim], suggestions=[], rationale="So.", score=5)

    scripted = {"scholareval.reading": contradict, "scholareval.review": praise}
    report = await _report(_backends(scripted=scripted)[0])
    points = [point for one in report.parts[0].assessments for point in one.points]
    states = {kind: {c.quote_state for p in points if p.kind == kind for c in p.citations} for kind in _KINDS}
    assert states == {"support": {"none"}, "contradiction": {"verified"}}
    assert {point.numbers_not_found for point in points} == {("97", "98")}


async def test_a_lost_step_is_counted_and_never_becomes_a_score() -> None:
    report = await _report(_backends(failing={"scholareval.review": MalformedAnswer("no JSON")})[0])
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
    report = await _report(_backends(failing={f"scholareval.{step}": MalformedAnswer("no JSON")})[0])
    for dimension in report.parts[1].assessments:
        assert isinstance(dimension.score, Absent)
        assert dimension.score.reason.startswith("Not judged: part of the search for papers failed")
        assert dimension.points == ()


async def test_papers_that_could_not_be_read_are_counted_and_not_called_missing() -> None:
    report = await _report(_backends(failing={"scholareval.reading": MalformedAnswer("no JSON")})[0])
    for method in report.parts[0].assessments:
        assert isinstance(method.score, Absent)
        assert "could not be read" in method.score.reason
    lost = [one for one in report.coverage.dropped if one.reason == "the LLM gave no valid answer"]
    assert sum(one.count for one in lost if one.what == "paper for a method") >= len(_papers()) // 2


async def test_a_synthesis_that_failed_leaves_the_comparisons_in_the_report() -> None:
    report = await _report(_backends(failing={"scholareval.synthesis": MalformedAnswer("no JSON")})[0])
    assert all(isinstance(one.score, Absent) and one.readings for one in report.parts[1].assessments)


async def test_a_heading_that_looks_like_a_marker_is_just_a_heading() -> None:
    idea = parse_idea(IDEA.replace("## Method", "## @Design of the method"), source="idea.md")
    report = (await evaluate(idea, _backends()[0], a_run(), OPTIONS)).report
    assert report.references


async def test_a_module_that_stops_leaves_the_other_one_standing() -> None:
    report = await _report(_backends(failing={"scholareval.dimensions": MalformedAnswer("no JSON")})[0])
    assert isinstance(report.parts[0].score, Score)
    assert isinstance(report.parts[1].score, Absent)


async def test_when_nothing_answers_the_error_is_raised() -> None:
    down = LlmUnavailable("The endpoint is down.")
    backends, _ = _backends(failing={"scholareval.dimensions": down, "scholareval.methods": down})
    with pytest.raises(LlmUnavailable, match="The endpoint is down"):
        await _report(backends)


async def test_a_refused_key_ends_the_evaluation() -> None:
    backends, _ = _backends(failing={"scholareval.query": LlmRejected("wrong key")})
    with pytest.raises(LlmRejected):
        await _report(backends)


async def test_a_spent_budget_ends_in_a_report_that_says_so() -> None:
    backends, _ = _backends(failing={"scholareval.synthesis": BudgetExhausted("The budget of $1.00 is spent.")})
    report = await _report(backends)
    assert isinstance(report.parts[1].score, Absent)
    assert next(notice for notice in report.notices if notice.kind == "budget").text.startswith("The budget of $1.00")


async def test_a_corpus_that_does_not_cover_the_field_gives_no_score_and_parades_no_far_off_paper() -> None:
    strict = OPTIONS.model_copy(update={"admission": ScholarEvalOptions().admission.model_copy(update={"poor": 0.99})})
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _backends(fit=POOR)[0], a_run(), strict)).report
    assert report.references == ()
    assert all(isinstance(part.score, Absent) for part in report.parts)
    assert any(notice.kind == "corpus_fit" for notice in report.notices)
    assert any("does not cover the field" in one.reason for one in report.coverage.dropped)


async def test_near_papers_in_a_poor_corpus_are_shown_but_earn_no_novelty_score() -> None:
    lenient = OPTIONS.model_copy(update={"admission": OPTIONS.admission.model_copy(update={"poor": 0.0})})
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _backends(fit=POOR)[0], a_run(), lenient)).report
    assert report.references
    assert all(isinstance(one.score, Absent) for one in report.parts[1].assessments)


class _ToppedUp(MemoryCorpus):
    """A poor corpus whose searches, and not its snippets, are answered from beyond it."""

    def __init__(self, run: Run, embedder: Embedder) -> None:
        super().__init__(_papers(), embedder, fit=POOR)
        self._run = run

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        found = await super().search(queries, limit, window)
        self._run.journal.near_remote_papers |= {hit.paper.id: "arxiv" for hits in found for hit in hits}
        return [[hit.model_copy(update={"near_beyond_corpus": True}) for hit in hits] for hits in found]


def _beyond_corpus(run: Run) -> Backends:
    backends, _ = _backends()
    return replace(backends, literature=_ToppedUp(run, backends.embedder))


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
        backends = _beyond_corpus(run)
        llm = _Dawdling(backends.embedder, slow)
        await evaluate(parse_idea(IDEA, source="idea.md"), replace(backends, llm=llm), run, OPTIONS)
        asked.append(sorted((name, data.model_dump_json()) for name, data in llm.asked))
    assert asked[0] == asked[1]


async def test_near_papers_earn_a_score_once_a_search_beyond_a_poor_corpus_found_something() -> None:
    lenient = OPTIONS.model_copy(update={"admission": OPTIONS.admission.model_copy(update={"poor": 0.0})})
    run = a_run()
    run.journal.record_use("arxiv", "search", requests=1, results=5)
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _beyond_corpus(run), run, lenient)).report
    assert any(isinstance(one.score, Score) for one in report.parts[1].assessments)
    notice = next(notice for notice in report.notices if notice.kind == "corpus_fit")
    assert re.search(r"Searches in arxiv found \d+ paper\(s\) close", notice.text)
    assert report.coverage.corpus_fit == POOR


async def test_search_beyond_a_poor_corpus_that_found_nothing_near_changes_nothing() -> None:
    lenient = OPTIONS.model_copy(update={"admission": OPTIONS.admission.model_copy(update={"poor": 0.0})})
    run = a_run()
    run.journal.record_use("arxiv", "search", requests=1, results=40)
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _backends(fit=POOR)[0], run, lenient)).report
    assert all(isinstance(one.score, Absent) for one in report.parts[1].assessments)


async def test_silence_beyond_a_poor_corpus_is_no_novelty_either() -> None:
    strict = OPTIONS.model_copy(update={"admission": ScholarEvalOptions().admission.model_copy(update={"partial": 2})})
    run = a_run()
    run.journal.record_use("arxiv", "search", requests=1, results=5)
    idea = parse_idea(IDEA, source="idea.md")
    report = (await evaluate(idea, _beyond_corpus(run), run, strict)).report
    reasons = {one.score.reason for one in report.parts[1].assessments if isinstance(one.score, Absent)}
    assert len(reasons) == 1
    assert "a few searches beyond it did not find says nothing about novelty" in reasons.pop()


async def test_retracted_paper_is_marked_in_the_references_and_announced_when_points_rest_on_it() -> None:
    backends, _ = _backends()
    notice = Retraction(kind="retracted", source="crossref")
    backends = replace(
        backends,
        literature=MemoryCorpus(
            [one.model_copy(update={"retraction": notice}) for one in _papers()], backends.embedder
        ),
    )
    report = await _report(backends)
    assert {reference.retraction for reference in report.references} == {notice}
    (told,) = [one for one in report.notices if one.kind == "retraction"]
    assert "retracted, withdrawn or questioned: [P1]" in told.text


async def test_report_says_which_source_could_not_be_asked_about_retractions() -> None:
    run = a_run()
    run.journal.unchecked_for_retraction["openalex"] = 7
    report = await _report(_backends()[0], run)
    (told,) = [one for one in report.notices if one.kind == "unchecked_retractions"]
    assert "openalex (7 cited paper(s))" in told.text


async def test_report_says_what_was_read_that_may_be_of_after_the_cutoff() -> None:
    cutoff = dt.date(2024, 6, 30)
    revised = PreprintVersions(first=dt.date(2020, 1, 1), newest=2, newest_day=cutoff + dt.timedelta(days=1))
    backends, _ = _backends()
    papers = [one.model_copy(update={"versions": revised}) for one in _papers()]
    for within_window, told in ((False, True), (True, False)):
        texts = _Texts(within_window)
        literature = MemoryCorpus(papers if told else _papers(), backends.embedder)
        world = replace(backends, literature=literature, full_texts=texts)
        report = await _report(world, a_run(cutoff))
        notices = [one.text for one in report.notices if one.kind == "undated_version"]
        assert report.coverage.full_texts > 0
        assert bool(notices) == told
        if told:
            assert re.search(
                r"cutoff of 2024-06-30.*: the full texts of \d+ paper\(s\); the abstracts of \d+", notices[0]
            )
    report = await _report(replace(backends, full_texts=_Texts(False)), a_run())
    assert not any(one.kind == "undated_version" for one in report.notices)


class _Texts:
    def __init__(self, within_window: bool) -> None:
        self._within_window = within_window

    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        section = Section(title="Methods", text="We train a reader on two thousand annotated claims, and test it. " * 5)
        return {
            one.id: FullText(paper_id=one.id, sections=(section,), parser="corpus", within_window=self._within_window)
            for one in papers
        }
