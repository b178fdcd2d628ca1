"""Every prompt of curation renders, with external text fenced, a closed answer schema and a complete rubric."""

from typing import Any

import pytest
from pydantic import ValidationError

from assayer.curation.dimensions import load_score_dimensions
from assayer.curation.schemas import (
    KindAnswer,
    PaperQuestion,
    ProposalAnswer,
    ProposalQuestion,
    QuestionAnswer,
    QuestionQuestion,
    ScoringQuestion,
)
from assayer.curation.tasks import CLASSIFICATION, PROPOSAL, QUESTION, SCORING, build_proposal_task, build_scoring_task
from tests.unit.curation_questions import ABSTRACT, CLEAN, DIMENSIONS, TITLE


def test_score_outside_rubric_and_missing_entries_are_rejected() -> None:
    entry = {"speaks_for": "a", "speaks_against": "b", "reason": "c"}
    entries = [{"label": f"D{number}", **entry, "score": 3} for number in (1, 2, 3)]
    task = build_scoring_task(DIMENSIONS)
    assert task.output.model_validate({"entries": entries}).get_entry(2).score == 3
    for invalid_score in (0, 3.5, 6):
        with pytest.raises(ValidationError):
            task.output.model_validate({"entries": [{**entries[0], "score": invalid_score}, *entries[1:]]})
    with pytest.raises(ValidationError):
        task.output.model_validate({"entries": entries[:2]})
    twice = task.output.model_validate({"entries": [entries[0], entries[0], entries[2]]})
    question = ScoringQuestion(idea="A plan.", question=None, dimensions=DIMENSIONS)
    assert "There is no entry for dimension D2." in task.check(question, twice)


def test_score_outside_scale_of_its_dimension_is_rejected() -> None:
    wide = DIMENSIONS[0].model_copy(
        update={
            "name": "wide",
            "scale": DIMENSIONS[0].scale.model_copy(update={"max": 7.0}),
            "bands": (DIMENSIONS[0].bands[0].model_copy(update={"low": 5.0, "high": 7.0}), *DIMENSIONS[0].bands[1:]),
        }
    )
    dimensions = (DIMENSIONS[1], wide)
    entry = {"speaks_for": "a", "speaks_against": "b", "reason": "c", "score": 7}
    task = build_scoring_task(dimensions)
    answer = task.output.model_validate({"entries": [{"label": "D1", **entry}, {"label": "D2", **entry}]})
    question = ScoringQuestion(idea="A plan.", question=None, dimensions=dimensions)
    assert task.check(question, answer) == ["D1 has no score 7. Choose one of 1, 2, 3, 4, 5."]


def test_a_quote_that_is_not_in_the_paper_is_complained_about() -> None:
    paper = PaperQuestion(title=TITLE, abstract=ABSTRACT)
    valid_answer = KindAnswer(quote="We propose to diffuse heat from random seeds", reason="r", kind="new_idea")
    assert list(CLASSIFICATION.check(paper, valid_answer)) == []
    assert (
        list(CLASSIFICATION.check(paper, valid_answer.model_copy(update={"quote": f"“{valid_answer.quote.lower()}”…"})))
        == []
    )
    for quote in ("", "We propose to freeze"):
        assert CLASSIFICATION.check(paper, valid_answer.model_copy(update={"quote": quote}))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("How can cells be counted without outlines.", "question mark"),
        ("Why are cells so hard to count? Is it colour?", "more than one question"),
        ("How are cells counted now?", "5 words"),
    ],
)
def test_a_question_in_the_wrong_form_is_complained_about(text: str, complaint: str) -> None:
    question = QuestionQuestion(title=TITLE, abstract=ABSTRACT)
    answer = QuestionAnswer(problem="p", method="m", other_answer="o", no_answer="n", question=text)
    assert complaint in " ".join(QUESTION.check(question, answer))


def test_candidate_that_repeats_question_or_is_too_short_is_rejected() -> None:
    long_question = f"{CLEAN[:-1]}{' and so on' * 20}?"
    answer = ProposalAnswer(problem="p", gap="g", bridge="b", title="A plan", idea=long_question)
    assert "question itself" in " ".join(PROPOSAL.check(ProposalQuestion(question=long_question), answer))
    assert "too short" in " ".join(
        PROPOSAL.check(ProposalQuestion(question=CLEAN), answer.model_copy(update={"idea": "x" * 300}))
    )


def test_candidate_requests_have_distinct_cache_keys() -> None:
    messages = PROPOSAL.messages(ProposalQuestion(question=CLEAN))
    keys = {build_proposal_task(number, "fast", 0.8).key("m", {}, messages) for number in range(1, 11)}
    assert len(keys) == 10
    assert build_proposal_task(3, "fast", 0.8).temperature == 0.8
    assert build_proposal_task(3, "fast", 0.8).tier == "fast"


def test_custom_dimensions_replace_the_default_dimensions(tmp_path: Any) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        '[[dimension]]\nname = "thrift"\ntitle = "Thrift"\nquestion = "How little does the plan need of it all?"\n'
        "scale = { min = 1, max = 5 }\n"
        'bands = [ { low = 3, high = 5, means = "Very little." }, { low = 1, high = 2.5, means = "A lot of it." } ]\n'
    )
    custom_dimensions = load_score_dimensions(path)
    assert [item.name for item in custom_dimensions] == ["thrift"]
    assert build_scoring_task(custom_dimensions).name == SCORING.name
