"""A call's own criteria: read from TOML, judged from findings, answered one by one, and the total of a report."""

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel

from assayer.criteria.judging import judge_criteria
from assayer.criteria.part import JudgedCriterion, build_unjudged_part, criteria_part, label_criteria
from assayer.criteria.task import JUDGE_CRITERIA, CriteriaAnswer, CriteriaQuestion, CriterionAnswer, ShownFinding
from assayer.errors import InputError, MalformedAnswer
from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.methods.criteria_file import load_criteria, parse_criteria
from assayer.methods.review import ReviewOptions, tasks
from assayer.methods.review.schemas import (
    EditedCriterion,
    EditedParagraph,
    EditedReviewByCriteria,
    EditedScore,
    EditorQuestion,
)
from assayer.models import CRITERIA, Absent, Criterion, Part, Report, Score, ScoreCertainty
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from assayer.reports.scores import compute_total_score
from assayer.run.run import Run
from tests.unit.reports_fixture import make_full_report
from tests.unit.reports_review import make_review_report
from tests.unit.review_questions import EDITOR_QUESTION
from tests.unit.review_runs import review_idea, script_support
from tests.unit.scholareval_questions import IDEA
from tests.unit.scholareval_runs import make_twin_backends
from tests.unit.twins import TwinLlm, make_run

IMPACT = Criterion(
    name="Impact", question="Would the results change practice?", anchors={10: "all of it", 1: "none"}, weight=3
)
COST = Criterion(name="Cost", question="Is the cost in proportion to the result?")
CERTAINTIES: tuple[ScoreCertainty, ...] = ("high", "low")
TOML = """
[[criteria]]
name = "Impact"
question = "Would the results change practice?"
weight = 3
anchors = { 10 = "all of it", 1 = "none" }
[[criteria]]
name = "Cost"
question = "Is the cost in proportion to the result?"
"""


def test_criteria_are_read_from_toml(tmp_path: Path) -> None:
    file = tmp_path / "call.toml"
    file.write_text(TOML, "utf-8")
    assert load_criteria(file) == (IMPACT, COST)
    assert IMPACT.text == "Impact: Would the results change practice? 1: none; 10: all of it"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("weight = 3", "weight = 0"), "weight"),
        (("10 =", "11 ="), "anchors"),
        (('name = "Cost"', 'name = "impact"'), "more than one criterion is named 'impact'"),
        (("[[criteria]]", "[[criterion]]"), "unknown keys: criterion"),
        (("question =", "asks ="), "asks"),
    ],
)
def test_invalid_criteria_file_is_rejected_with_location(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_criteria(TOML.replace(*change), "call.toml")


def make_judged_criteria(*scores: int | None) -> list[JudgedCriterion]:
    return [
        JudgedCriterion(criterion, "It names two users.", score, certainty, None)
        for criterion, score, certainty in zip((IMPACT, COST), scores, CERTAINTIES, strict=True)
    ]


def test_total_is_the_weighted_mean_with_the_least_certainty() -> None:
    score = criteria_part(make_judged_criteria(8, 4)).score
    assert isinstance(score, Score)
    assert (score.value, score.certainty) == (7.0, "low")


def test_report_total_uses_call_criteria() -> None:
    report = make_full_report()
    judged_report = report.model_copy(update={"parts": (*report.parts, criteria_part(make_judged_criteria(10, 10)))})
    assert compute_total_score(judged_report) == 1.0
    unjudged = report.model_copy(update={"parts": (*report.parts, build_unjudged_part((COST,), "no model."))})
    assert compute_total_score(unjudged) == Absent(reason="By the call's criteria: no model.")


@pytest.mark.parametrize("render", [render_report_markdown, render_html])
def test_review_shows_each_criterion_once_with_its_answer(render: object) -> None:
    report = make_review_report()
    report = report.model_copy(update={"parts": (*report.parts, criteria_part(make_judged_criteria(8, 4)))})
    assert callable(render)
    text = render(report)
    assert text.count("It names two users.") == 2
    assert text.count("Would the results change practice?") == 1


def _answer(*points: tuple[str, str | None]) -> CriteriaAnswer:
    entries = [
        CriterionAnswer(label=label, answer="It names two.", point=point, certainty="low", score=5)
        for label, point in points
    ]
    return CriteriaAnswer(criteria=entries)


def test_answers_must_cover_each_criterion_and_name_shown_findings() -> None:
    question = CriteriaQuestion(
        idea="An idea.",
        criteria=label_criteria((IMPACT, COST)),
        findings=(ShownFinding(label="F1", kind="weakness", text="No user is named."),),
    )
    assert JUDGE_CRITERIA.complaints(question, _answer(("C1", "F1"), ("C2", None))) == []
    assert JUDGE_CRITERIA.complaints(question, _answer(("C1", "F7"))) == [
        "There is no entry for criterion C2.",
        "F7 is not a finding given here.",
    ]
    _, user = JUDGE_CRITERIA.messages(question)
    assert "[C1] Impact: Would the results change practice? 1: none; 10: all of it" in user.content
    assert "[F1] weakness: No user is named." in user.content


def test_editor_prompt_contains_criteria_only_when_call_defines_them() -> None:
    _, message_without_criteria = tasks.EDITOR.messages(EDITOR_QUESTION)
    question = EDITOR_QUESTION.model_copy(update={"criteria": label_criteria((IMPACT,))})
    _, user = tasks.EDITOR_BY_CRITERIA.messages(question)
    assert "[C1] Impact" in user.content
    assert "criteria" not in message_without_criteria.content


def test_example_criteria_file_is_valid() -> None:
    criteria = load_criteria(Path(__file__).parents[2] / "examples" / "call-criteria.toml")
    assert [criterion.name for criterion in criteria] == ["Impact", "Feasibility", "Open results"]


def _run_with_criteria() -> Run:
    return replace(make_run(), criteria=(IMPACT, COST))


def get_criteria_part(report: Report) -> Part:
    (part,) = (part for part in report.parts if part.name == CRITERIA)
    return part


def answer_editor(question: BaseModel) -> EditedReviewByCriteria:
    """Return an editor's answer in which only the criteria cite a passage, which bears its statement out."""
    assert isinstance(question, EditorQuestion)
    fields = {"cites": [question.passages[0].label], "certainty": "low", "score": 4}
    score = EditedScore(limited_by="x", cites=[], certainty_reason="y", certainty="low", score=50)
    answers = [
        EditedCriterion.model_validate({"label": label, "answer": "One.", "limited_by": "No user is named.", **fields})
        for label in ("C1", "C2")
    ]
    return EditedReviewByCriteria(
        strengths=[],
        newness=EditedParagraph(labels=[], text="w", cites=[], named=[]),
        outlook=EditedParagraph(labels=[], text="v", cites=[], named=[]),
        redesign=EditedParagraph(labels=[], text="u", cites=[], named=[]),
        major=[],
        further=[],
        closest=[],
        soundness=score,
        contribution=score,
        verdict="z",
        dropped=[],
        criteria=answers,
    )


async def test_review_editor_answers_each_criterion_with_evidence_from_report() -> None:
    backends, llm = make_twin_backends(
        scripted={tasks.EDITOR_BY_CRITERIA.name: answer_editor, "support.claims": script_support("supports")}
    )
    report = await review_idea(backends, _run_with_criteria())
    part = get_criteria_part(report)
    assert [item.name for item in part.assessments] == ["Impact", "Cost"]
    assert part.assessments[0].statement == "Would the results change practice? (weight 3)"
    assert report.panel_review is not None
    evidence = [item.label for item in report.panel_review.evidence]
    limits = [point for item in part.assessments for point in item.points]
    assert [[citation.label for citation in point.citations] for point in limits] == [evidence, evidence]
    assert limits[0].text == f"No user is named. [{evidence[0]}]"
    assert "review.editor" not in {name for name, _ in llm.requests}


async def test_other_methods_answer_the_criteria_from_their_findings() -> None:
    backends, _ = make_twin_backends()
    context = EvaluationContext.open(parse_idea(IDEA, "idea.md"), backends, _run_with_criteria(), ReviewOptions())
    summary, parts = make_full_report().summary, make_full_report().parts
    part = await judge_criteria(context, summary, parts)
    texts = {point.text for item in part.assessments for point in item.points}
    known_points = {
        point.text for kind in (summary.strengths, summary.weaknesses, summary.suggestions) for point in kind
    }
    known_points |= {point.text for item in parts for assessment in item.assessments for point in assessment.points}
    assert texts <= known_points
    assert len(part.assessments) == 2
    failing = TwinLlm(failing={JUDGE_CRITERIA.name: MalformedAnswer("no JSON")})
    part_without_llm = await judge_criteria(replace(context, backends=replace(backends, llm=failing)), summary, parts)
    assert isinstance(part_without_llm.score, Absent)
    assert "no JSON" in part_without_llm.score.reason
