"""Works named from memory: looked up by title, read if identified, otherwise printed with a mark and no evidence."""

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.methods.review.prior_work import clean_named_works, mask_titles
from assayer.methods.review.schemas import (
    EditedParagraph,
    EditedReview,
    EditorQuestion,
    LookAnswer,
    NearWork,
    PriorWork,
    RecalledWork,
    RefereeAnswer,
)
from assayer.methods.review.tasks import EDITOR
from assayer.models import Report, Score
from assayer.reports.brief import build_brief
from assayer.reports.markdown import render_report_markdown
from tests.memory_corpus import MemoryCorpus
from tests.unit.review_answers import (
    DONE,
    answer_referee,
    make_finding,
    score,
    script_editor,
    script_panel,
    script_reading,
)
from tests.unit.review_runs import OPTIONS, review_idea
from tests.unit.scholareval_questions import IDEA
from tests.unit.scholareval_runs import make_corpus_papers, make_twin_backends
from tests.unit.twins import Answerer, make_run
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.literature.reference_sources import create_reference_sources
from workers.literature.settings import LiteratureSettings

KNOWN_TITLE = "Reading claims, study 3: annotated claims"
INVENTED_TITLE = "Quotation Checks by Very Small Readers"


def make_prior_work(title: str, **changes: Any) -> PriorWork:
    values: dict[str, Any] = {"first_author": "", "year": 2019, "why": "checks quotes with a reader", **changes}
    return PriorWork.model_validate({"title": title, "role": "already_does", **values})


def script_referee_naming(*titles: str) -> Answerer:
    def answer(question: BaseModel) -> RefereeAnswer:
        return answer_referee(question).model_copy(update={"prior_work": [make_prior_work(title) for title in titles]})

    return answer


async def run_review(*titles: str, **scripted: Answerer) -> tuple[Report, EditorQuestion]:
    no_labels = LookAnswer(labels=[])
    answers = {"referee": script_referee_naming(*titles), "look": lambda _: no_labels, **scripted}
    backends, llm = make_twin_backends(scripted=script_panel(**answers))
    run = make_run()
    corpus = MemoryCorpus(make_corpus_papers(), HashingEmbedder())
    sources = tuple(create_reference_sources(corpus, {}, LiteratureSettings(), run))
    report = await review_idea(replace(backends, literature=corpus, reference_sources=sources), run)
    return report, llm.list_questions(EditorQuestion)[0]


def answer_editor(question: BaseModel) -> BaseModel:
    weakness = make_finding(["Q3"], f"[N1] already does it, as {INVENTED_TITLE} shows.")
    limited = score(42).model_copy(update={"limited_by": f"“{INVENTED_TITLE}” does it (N1), with nitrogen (N2)."})
    return script_editor(
        major=[weakness.model_copy(update={"named": ["N1"]})], soundness=limited, verdict=f"{INVENTED_TITLE} does it."
    )(question)


async def test_named_work_with_a_record_is_read_and_cited_as_evidence() -> None:
    report, question = await run_review(KNOWN_TITLE)
    assert question.named == ()
    assert [passage.title for passage in question.passages] == [KNOWN_TITLE]
    assert report.panel_review is not None
    assert report.panel_review.works_from_memory == ()
    assert [reference.title for reference in report.references] == [KNOWN_TITLE]


async def test_named_work_without_supporting_text_is_marked() -> None:
    report, question = await run_review(
        KNOWN_TITLE, reading=script_reading("already_has", DONE.upper()), editor=answer_editor
    )
    assert [(work.label, work.record is not None) for work in question.named] == [("N1", True)]
    assert report.panel_review is not None
    assert [work.label for work in report.panel_review.works_from_memory] == ["P1"]
    assert report.references[0].title == KNOWN_TITLE
    assert "a record was found, but no text that was read confirms what is said" in render_report_markdown(report)


async def test_invented_work_is_printed_only_with_warning() -> None:
    report, question = await run_review(INVENTED_TITLE, editor=answer_editor)
    assert [(work.title, work.record is not None) for work in question.named] == [(INVENTED_TITLE, False)]
    review = report.panel_review
    assert review is not None
    assert review.major_weaknesses[0].text == "earlier work 2019° already does it, as earlier work shows."
    assert (review.major_weaknesses[0].works_from_memory, review.major_weaknesses[0].evidence) == ((0,), ())
    assert review.verdict == "earlier work does it."
    contribution = report.parts[1].score
    assert isinstance(contribution, Score)
    assert contribution.value >= 5, "a work named alone carries no low contribution"
    page = render_report_markdown(report)
    assert page.count(INVENTED_TITLE) == 1
    assert "not found in the sources searched: check before relying on them" in page
    assert "*Name them.* (" not in page, "a work named in the text is not named again behind it"
    assert report.references == ()


async def test_work_named_only_in_a_recommendation_is_listed_with_its_title() -> None:
    def answer_editor_in_fix(question: BaseModel) -> BaseModel:
        weakness = make_finding(["Q3"], "No rival is named.").model_copy(update={"fix": "Run it beside [N1]."})
        return script_editor(major=[weakness])(question)

    report, _ = await run_review(INVENTED_TITLE, editor=answer_editor_in_fix)
    assert report.panel_review is not None
    assert report.panel_review.major_weaknesses[0].works_from_memory == (0,)
    page = render_report_markdown(report)
    assert page.count("earlier work 2019°") == 2, "in what to do, and before its title"
    assert page.count(INVENTED_TITLE) == 1


async def test_closest_works_can_be_named_from_memory_but_not_for_their_method() -> None:
    prior_works = [
        make_prior_work(INVENTED_TITLE),
        make_prior_work("Sampling quotes without replacement").model_copy(update={"role": "method"}),
    ]

    def answer_with_works(question: BaseModel) -> BaseModel:
        return answer_referee(question).model_copy(update={"prior_work": prior_works})

    def answer_closest(question: BaseModel) -> BaseModel:
        return script_editor(closest=[NearWork(work=label, difference="its quotes") for label in ("N2", "N1", "N1")])(
            question
        )

    report, _ = await run_review(INVENTED_TITLE, editor=answer_closest, referee=answer_with_works)
    review = report.panel_review
    assert review is not None
    assert [
        (review.works_from_memory[item.work_from_memory or 0].title, item.evidence) for item in review.closest_works
    ] == [(INVENTED_TITLE, None)]
    assert {item.item_kind: item.count for item in report.coverage.dropped}["closest work"] == 2
    page = render_report_markdown(report)
    line = f"earlier work 2019°, *{INVENTED_TITLE}*: checks quotes with a reader. *The plan adds:* its quotes."
    assert page.count(line) == 1
    assert page.count("checks quotes with a reader") == 1, "what a work did stands once on the page"
    assert build_brief(report).groups[-2].points[0].text == line.replace("*", "")
    words = f"earlier work 2019 {INVENTED_TITLE} checks quotes with a reader"
    assert review.words - review.model_copy(update={"closest_works": ()}).words >= len(words.split())


async def test_closest_passage_is_ignored_if_no_passage_was_shown() -> None:
    def answer_closest(question: BaseModel) -> BaseModel:
        return script_editor(closest=[NearWork(work=label, difference="its quotes") for label in ("E1", "N1")])(
            question
        )

    report, question = await run_review(INVENTED_TITLE, editor=answer_closest)
    assert question.passages == ()
    assert EDITOR.complaints(question, EditedReview.model_validate(answer_closest(question))) == []
    assert report.panel_review is not None
    assert [item.work_from_memory for item in report.panel_review.closest_works] == [0]


async def test_named_work_never_looked_up_is_not_reported_as_missing() -> None:
    backends, _ = make_twin_backends(
        scripted={"review.referee": script_referee_naming(INVENTED_TITLE), "review.editor": answer_editor}
    )
    page = render_report_markdown(await review_idea(replace(backends, reference_sources=())))
    assert "not looked up because a source did not answer: check before relying on them" in page
    assert "not found in the sources searched" not in page


async def test_unreferenced_named_work_is_dropped_and_counted() -> None:
    report, _ = await run_review(INVENTED_TITLE)
    assert INVENTED_TITLE not in render_report_markdown(report)
    assert {item.item_kind: item.count for item in report.coverage.dropped}["work from memory"] == 1


@pytest.mark.parametrize(
    ("title", "changes", "reason"),
    [
        ("A newer reader of claims", {"year": 2024}, "published after the cutoff"),
        ("See https://example.org/reader for it", {}, "its title cannot be looked up"),
        ("A reader", {"first_author": "see www.example.org"}, "its title cannot be looked up"),
        ("?", {}, "its title cannot be looked up"),
        ("A very long title of an own plan", {}, "the idea's own paper"),
    ],
)
def test_ineligible_named_work_is_dropped_and_counted(title: str, changes: dict[str, Any], reason: str) -> None:
    backends, _ = make_twin_backends()
    run = make_run(dt.date(2020, 1, 1))
    idea = parse_idea(IDEA, "idea.md", "A very long title of an own plan")
    context = EvaluationContext.open(idea, backends, run, OPTIONS)
    assert clean_named_works(context, [make_prior_work(title, **changes)]) == ()
    assert [(item.reason, item.count) for item in run.journal.list_dropped()] == [(reason, 1)]


def test_work_named_twice_is_listed_once() -> None:
    backends, _ = make_twin_backends()
    context = EvaluationContext.open(parse_idea(IDEA, "idea.md"), backends, make_run(), OPTIONS)
    named_works = [
        make_prior_work("Readers of claims"),
        make_prior_work("Checks of quotes"),
        make_prior_work("readers of Claims."),
    ]
    assert [work.title for work in clean_named_works(context, named_works)] == ["Readers of claims", "Checks of quotes"]


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ("[N1] already does it.", "Hinton 2006° already does it."),
        ("Run it beside [N1].", "Run it beside Hinton 2006°."),
        ("Unlike [N1] it sleeps [N9].", "Unlike Hinton 2006° it sleeps [N9]."),
    ],
)
def test_label_of_a_named_work_becomes_author_and_year(text: str, expected_text: str) -> None:
    work = RecalledWork(
        label="N1", title="A fast learning algorithm", author="Hinton", year=2006, role="method", why="", record=None,
        looked_up=True,
    )  # fmt: skip
    answer = EditedParagraph(labels=[], text=text, cites=[], named=["N1"])
    assert mask_titles(answer, [], make_run(), named=[work]).text == expected_text
