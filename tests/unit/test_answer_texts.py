"""Answers cite only the evidence given: other citations are repaired or, if they remain, redacted."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from assayer.citing.answer_texts import REDACTED, QuestionTexts, TextRole, find_text_fields
from assayer.llm import Task
from assayer.methods.innoeval.schemas import ReviewClaim
from assayer.methods.scholareval import tasks as scholareval
from assayer.methods.scholareval.schemas import (
    Claim,
    MethodNote,
    MethodReview,
    Methods,
    MethodsQuestion,
    PaperReading,
    ProposedMethod,
    Readings,
    ReviewQuestion,
)
from assayer.ranking.comparison import COMPARISON, build_comparison_task
from benchmarks.hostile.attacks.citation_forms import CitationForm, generate_citation_forms
from tests.unit.all_questions import ALL_QUESTIONS, PAIR, RANKING_DIMENSIONS, list_all_tasks, simulate_answer
from tests.unit.innoeval_board_questions import BOARD_QUESTIONS, JUDGING
from tests.unit.innoeval_evidence import answer_judging
from tests.unit.scholareval_questions import IDEA, METHOD, NOTE
from tests.unit.scholareval_questions import QUESTIONS as SCHOLAREVAL

FORMS = list(generate_citation_forms())
CHECKED_ROLES = (TextRole.CITES, TextRole.RESTATES, TextRole.PROSE)
EXEMPT = {
    # Read by a model and printed nowhere.
    "bias_test.persuasive": {"idea": TextRole.COPIED},
    # Held against the text they were copied from.
    "corpus.contents": {"names.name": TextRole.COPIED, "claims": TextRole.COPIED},
    "curation.classification": {"quote": TextRole.COPIED},
    "debate.analyst": dict.fromkeys(["elements.abstract_words", "elements.idea_words"], TextRole.COPIED),
    "debate.critic": dict.fromkeys(["objections.abstract_words", "objections.idea_words"], TextRole.COPIED),
    "debate.evaluator": dict.fromkeys(["evidence.abstract_words", "evidence.idea_words"], TextRole.COPIED),
    "grapheval.viewpoints": {"viewpoints.words": TextRole.COPIED},
    "innoeval.grounding": {"finds.groundings.quote": TextRole.COPIED},
    "blinding.names": {"people": TextRole.COPIED},
    "plan.flaws": {
        "flaws.quote": TextRole.COPIED,
        "comparators.quote": TextRole.COPIED,
        "comparators.query": TextRole.QUERY,
    },
    "innoeval.advice": {"steps.quote": TextRole.COPIED},
    "support.claims": {"verdicts.carried": TextRole.COPIED},
    "review.reading": dict.fromkeys(
        ["papers.notes.quote_done", "papers.notes.quote_found", "papers.notes.quote_under"], TextRole.COPIED
    ),
    "scholareval.reading": {"readings.notes.quote": TextRole.COPIED},
    "scholareval.comparison": {"comparisons.verdicts.quote": TextRole.COPIED},
    # Sent to a search and printed nowhere.
    "innoeval.queries": dict.fromkeys(
        ["queries.literature", "queries.web", "queries.code", "queries.data"], TextRole.QUERY
    ),
    "innoeval.refinement": {"queries.query": TextRole.QUERY},
    "scicompanion.queries": {"queries": TextRole.QUERY},
    "scicompanion.step": {"queries": TextRole.QUERY, "edges.quote": TextRole.COPIED},
    "scicompanion.completion": {"edges.quote": TextRole.COPIED},
    "review.referee": {
        "points.quote": TextRole.COPIED,
        "points.query": TextRole.QUERY,
        "novelty.query": TextRole.QUERY,
        # Looked up; printed only with a mark if not found.
        "prior_work.title": TextRole.NAMED,
        "prior_work.first_author": TextRole.NAMED,
    },
    "review.walkthrough": {"points.quote": TextRole.COPIED, "points.query": TextRole.QUERY},
    "review.editor": dict.fromkeys(["strengths.quote", "major.quote"], TextRole.COPIED),
    "review.editor_by_criteria": dict.fromkeys(["strengths.quote", "major.quote"], TextRole.COPIED),
    "scholareval.methods": {"methods.queries": TextRole.QUERY},
    "scholareval.dimensions": {"dimensions.queries": TextRole.QUERY},
}
EXEMPT |= {f"{name}_brief": EXEMPT[name] for name in ("review.referee", "review.reading", "review.editor")}


def test_every_text_of_every_task_is_checked_or_exempt_by_name() -> None:
    exempt = {
        name: {
            path: role
            for path, role in find_text_fields(task.output).items()
            if role not in (*CHECKED_ROLES, TextRole.LABEL)
        }
        for name, task in list_all_tasks().items()
    }
    assert {name: fields for name, fields in exempt.items() if fields} == EXEMPT


def test_every_task_has_a_sample_question() -> None:
    assert set(list_all_tasks()) == {task.name for task, _ in ALL_QUESTIONS}


def put_text(value: Any, path: str, text: str) -> Any:
    """Return plain data with the text in a field, in each entry of lists."""
    name, _, inner_path = path.partition(".")
    if isinstance(value, list):
        return [put_text(item, path, text) if isinstance(item, dict) else text for item in value]
    if not inner_path:
        return value | {name: [text for _ in value[name]] if isinstance(value[name], list) else text}
    return value | {name: put_text(value[name], inner_path, text)}


def put_fitting_text(task: Task[Any, Any], valid_answer: BaseModel, path: str, text: str) -> Any:
    """Return the answer with the text at a path, lengthened where the field requires more words."""
    try:
        return task.output.model_validate(put_text(valid_answer.model_dump(mode="json"), path, text))
    except ValidationError:
        longer = text + " What is done is said step by step, and why." * 6
        return task.output.model_validate(put_text(valid_answer.model_dump(mode="json"), path, longer))


@pytest.mark.parametrize(("task", "question"), ALL_QUESTIONS, ids=lambda value: getattr(value, "name", ""))
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_foreign_citation_in_any_text_is_reported_and_redacted(
    task: Task[Any, Any], question: BaseModel, data: st.DataObject
) -> None:
    paths = [path for path, role in find_text_fields(task.output).items() if role in CHECKED_ROLES]
    if not paths:
        return
    form: CitationForm = data.draw(st.sampled_from(FORMS))
    path = data.draw(st.sampled_from(paths))
    sentence = data.draw(st.sampled_from(["It was shown {}.", "So it is. This is what {} says.", "{}: a plan."]))
    valid_answer = simulate_answer(task, question, data.draw(st.integers(0, 20)))
    changed_answer = put_fitting_text(task, valid_answer, path, sentence.format(form.text))
    if changed_answer == valid_answer:
        return
    answer = task.clean(question, changed_answer)
    if answer is None or (form.text not in answer.model_dump_json() and form.group == "label in another form"):
        return  # a paper that was given, named where none may be: taken out
    assert task.complaints(question, answer)
    redacted_answer = task.redact(question, answer)
    if redacted_answer is not None:
        assert redacted_answer.sentences > 0
        assert task.complaints(question, redacted_answer.value) == []
        assert form.text not in redacted_answer.value.model_dump_json()


def make_review(*support: str, rationale: str = "Two bands fit.") -> MethodReview:
    return MethodReview(
        support=[Claim(text=text) for text in support],
        contradictions=[],
        suggestions=[],
        rationale=rationale,
        certainty="low",
        score=5,
    )


def make_paper_reading(label: str, did: str = "", quote: str = "") -> PaperReading:
    note = MethodNote(method="M1", did=did, results="", context="", quote=quote, stance="neutral")
    return PaperReading(label=label, notes=[note])


REVIEW_QUESTION = ReviewQuestion(idea=IDEA, method=METHOD, notes=(NOTE,), fit="partial")


def test_only_the_sentence_with_the_citation_is_struck() -> None:
    review = make_review("It reached 71 % [P1]. Smith et al. (2021) saw the same. It carries over.", "It works [P1].")
    redacted = scholareval.REVIEW.redact(REVIEW_QUESTION, review)
    assert redacted is not None
    assert [claim.text for claim in redacted.value.support] == [
        "It reached 71 % [P1]. It carries over.",
        "It works [P1].",
    ]
    assert redacted.sentences == 1


@pytest.mark.parametrize("claim", ["As arXiv:2301.12345 shows [P1].", "Seen by Lee (2020) [P1]. It holds."])
def test_claim_without_remaining_text_or_its_required_citation_is_dropped(claim: str) -> None:
    redacted = scholareval.REVIEW.redact(REVIEW_QUESTION, make_review(claim, "It works [P1]."))
    assert redacted is not None
    assert [claim.text for claim in redacted.value.support] == ["It works [P1]."]


def test_required_text_is_replaced_by_redaction_notice() -> None:
    redacted = scholareval.REVIEW.redact(REVIEW_QUESTION, make_review("Good [P1].", rationale="See Lee (2020)."))
    assert redacted is not None
    assert redacted.value.rationale == REDACTED
    reading, other_reading = (
        make_paper_reading("P1", "See www.example.com."),
        make_paper_reading("P2", "Readers were trained."),
    )
    task, question = SCHOLAREVAL[2]
    redacted_answer = task.redact(question, Readings(readings=[reading, other_reading]))
    assert redacted_answer is not None
    assert [item.notes[0].did for item in redacted_answer.value.readings] == [REDACTED, "Readers were trained."]


def test_redaction_returns_nothing_when_answer_has_another_fault() -> None:
    task, question = SCHOLAREVAL[2]
    assert task.redact(question, Readings(readings=[make_paper_reading("P1", "Lee et al. (2020).")])) is None
    judgement = answer_judging(JUDGING, strengths=[ReviewClaim(text="Lee et al. did.")], weaknesses=[])
    assert BOARD_QUESTIONS[0][0].redact(JUDGING, judgement) is None


def test_citations_copied_from_idea_are_removed_without_complaint() -> None:
    question = MethodsQuestion(idea="We follow Denison et al. (2024) and use BERT (Devlin et al., 2019).", limit=8)
    method = ProposedMethod(
        name="BERT (Devlin et al., 2019)",
        kind="system",
        description="It follows Denison et al. (2024) with BERT.",
        queries=["readers"],
    )
    answer = scholareval.METHODS.clean(question, Methods(methods=[method]))
    assert answer is not None
    assert (answer.methods[0].name, answer.methods[0].description) == ("BERT", "It follows earlier work with BERT.")
    assert scholareval.METHODS.complaints(question, answer) == []


def test_invisible_and_control_characters_are_cleaned_from_answers() -> None:
    answer = scholareval.REVIEW.clean(
        REVIEW_QUESTION, make_review("It w\u200borks [P\u200b1]\u202e. Rеаders \x1b[31magree.")
    )
    assert answer is not None
    assert answer.support[0].text == "It works [P1]. Readers [31magree."
    assert scholareval.REVIEW.complaints(REVIEW_QUESTION, answer) == []


def test_citations_inside_quotes_are_allowed() -> None:
    reading, other_reading = (make_paper_reading(label, quote="as Lee (2020) showed") for label in ("P1", "P2"))
    assert SCHOLAREVAL[2][0].complaints(SCHOLAREVAL[2][1], Readings(readings=[reading, other_reading])) == []


def test_allowed_labels_are_taken_from_the_question() -> None:
    assert QuestionTexts(REVIEW_QUESTION).labels == {NOTE.label}
    assert QuestionTexts(PAIR).labels == set()
    assert COMPARISON.complaints(PAIR, simulate_answer(build_comparison_task(len(RANKING_DIMENSIONS)), PAIR, 1)) == []


def test_sentence_repeated_in_a_row_is_kept_once() -> None:
    answer = scholareval.REVIEW.clean(
        REVIEW_QUESTION, make_review("It works. A fatal flaw. A fatal flaw. A fatal flaw. No.")
    )
    assert answer is not None
    assert make_review("It works. A fatal flaw. No.") == answer
