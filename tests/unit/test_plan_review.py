"""A plan reviewed from its own text: doubts quote the plan, and papers that are named come from the corpus."""

from pydantic import BaseModel

from assayer.backends import Backends
from assayer.errors import LiteratureError, MalformedAnswer
from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.llm import NoLlm
from assayer.methods.scholareval import ScholarEvalOptions
from assayer.models import Absent, Hit, PlanReview, Score, Window
from assayer.plan_review.review import ReviewedPlan, review_plan
from assayer.plan_review.task import FLAWS, DoubtedPlan, FoundFlaw, FoundFlaws, LackingComparator
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from tests.memory_corpus import MemoryCorpus
from tests.unit.reports_document import Document
from tests.unit.reports_fixture import make_full_report
from tests.unit.scholareval_questions import IDEA
from tests.unit.scholareval_runs import evaluate_idea, make_corpus_papers, make_twin_backends
from tests.unit.twins import NoFullTexts, TwinLlm, make_run
from workers.embedding.hashing_embedder import HashingEmbedder

QUOTE = "We compare it with three baselines on 2,000 annotated claims"


def answer_flaws(question: BaseModel) -> FoundFlaws:
    assert isinstance(question, DoubtedPlan)
    return FoundFlaws(
        flaws=[
            FoundFlaw(
                aspect="measurement",
                quote=QUOTE,
                text="Accuracy over 2,000 claims, 77 of them hard, hides which errors are made [P1].",
                change="Report errors by kind.",
                certainty="likely",
            ),
            FoundFlaw(
                aspect="scope", quote="on every language of the world", text="One.", change="", certainty="certain"
            ),
        ],
        comparators=[
            LackingComparator(
                text="A small reader for abstract checking that checks every quoted sentence",
                purpose="Whether training helps.",
                quote=QUOTE,
                query="small reader for abstract checking",
            ),
            LackingComparator(text="Zebras", purpose="None.", quote=QUOTE, query="striped animals of the savanna"),
        ],
    )


def make_llm(answer: object = answer_flaws) -> TwinLlm:
    return TwinLlm({FLAWS.name: answer} if callable(answer) else {})


async def review_idea_plan(llm: TwinLlm | NoLlm, corpus: MemoryCorpus | None = None) -> ReviewedPlan:
    idea = parse_idea(IDEA, source="idea.md")
    run = make_run()
    literature = corpus or MemoryCorpus(make_corpus_papers(), HashingEmbedder())
    backends = Backends(llm=llm, literature=literature, full_texts=NoFullTexts(), embedder=HashingEmbedder())
    return await review_plan(EvaluationContext.open(idea, backends, run, ScholarEvalOptions()))


async def test_flaws_quote_the_plan_and_invented_quotes_are_flagged() -> None:
    flaws = (await review_idea_plan(make_llm())).review.flaws
    assert not isinstance(flaws, Absent)
    assert [(flaw.quote.quote, flaw.quote.state) for flaw in flaws] == [
        (f"{QUOTE} and measure accuracy", "verified"),
        ("on every language of the world", "not_found"),
    ]
    assert "[P1]" not in flaws[0].text
    assert flaws[0].numbers_not_found == ("77",)


async def test_missing_comparators_list_similar_corpus_papers_or_their_absence() -> None:
    result = await review_idea_plan(make_llm())
    first, second = result.review.comparators
    assert not isinstance(first.papers, Absent)
    assert 1 <= len(first.papers) <= 3
    assert [paper.similarity for paper in first.papers] == sorted(
        (paper.similarity for paper in first.papers), reverse=True
    )
    assert len(result.papers) == len(first.papers)
    assert isinstance(second.papers, Absent)


async def test_failed_answer_leaves_a_reason() -> None:
    llm = TwinLlm(failing={FLAWS.name: MalformedAnswer("no JSON")})
    review = (await review_idea_plan(llm)).review
    assert review == PlanReview(flaws=Absent(reason="the review failed: the LLM gave no valid answer."))


class CorpusWithoutSearch(MemoryCorpus):
    async def search(self, queries: object, limit: int, window: Window) -> list[list[Hit]]:
        raise LiteratureError("the corpus is away")


async def test_search_that_failed_leaves_the_comparators_without_papers() -> None:
    review = (await review_idea_plan(make_llm(), CorpusWithoutSearch(make_corpus_papers(), HashingEmbedder()))).review
    assert [type(comparator.papers) for comparator in review.comparators] == [Absent, Absent]


async def test_comparator_papers_are_numbered_after_existing_references() -> None:
    backends: Backends = make_twin_backends(scripted={FLAWS.name: answer_flaws})[0]
    report = await evaluate_idea(backends)
    review = report.plan_review
    assert isinstance(review, PlanReview)
    labels = {reference.label for reference in report.references}
    named_papers = [
        near
        for comparator in review.comparators
        if not isinstance(comparator.papers, Absent)
        for near in comparator.papers
    ]
    assert named_papers
    assert {near.label for near in named_papers} <= labels
    report_without_review = await evaluate_idea(make_twin_backends()[0])
    assert report.parts == report_without_review.parts
    assert report.summary == report_without_review.summary


def test_page_and_markdown_state_why_comparator_papers_are_absent() -> None:
    report = make_full_report()
    assert isinstance(report.plan_review, PlanReview)
    absent_papers = Absent(reason="the corpus could not be searched.")
    comparator = report.plan_review.comparators[0].model_copy(update={"papers": absent_papers})
    review = report.plan_review.model_copy(update={"comparators": (comparator,)})
    report = report.model_copy(update={"plan_review": review})
    for text in (Document(render_html(report)).text, render_report_markdown(report)):
        assert "Papers: the corpus could not be searched." in text


def test_page_and_markdown_show_the_plan_review_and_its_origin() -> None:
    for text in (Document(render_html(make_full_report())).text, render_report_markdown(make_full_report())):
        for words in (
            "Doubts about the plan",
            "own judgement of the plan’s text",
            "certain: the plan’s words show it",
            "not found in the plan",
            "Not in the plan: 12",
            "which no reviewer has read",
        ):
            assert words in text


def test_page_and_markdown_show_the_plan_review_before_the_parts() -> None:
    report = make_full_report()
    score = report.parts[0].assessments[0].score
    assert isinstance(score, Score)
    for text in (render_html(report), render_report_markdown(report)):
        assert text.rindex("Doubts about the plan") < text.rindex(score.basis)
