"""The board in the report: the matrix of reviewers and dimensions, score, decision, advice, and what is missing."""

import pytest

from assayer.methods.innoeval.options import BoardOptions
from assayer.models import Absent, BoardRecord, Report, Reviewer
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from tests.unit.board_reports import DECISION, make_board_report
from tests.unit.reports_document import Document

ABSENT = Absent(reason="nobody knows.")


@pytest.fixture
async def report() -> Report:
    return await make_board_report(BoardOptions())


def replace_in_board(report: Report, **update: object) -> Report:
    assert report.board is not None
    return report.model_copy(update={"board": report.board.model_copy(update=update)})


def list_texts(board: BoardRecord) -> list[str]:
    return [
        *(reviewer.goal for reviewer in board.reviewers),
        *(reviewer.background for reviewer in board.reviewers),
        *(reviewer.constraints for reviewer in board.reviewers),
    ]


def test_page_shows_meter_per_reviewer_and_dimension_and_all_review_texts(report: Report) -> None:
    page = render_html(report)
    assert page.count('class="meter"') == 5 * 5 + 5
    document = Document(page)
    assert document.text.count("R3") >= 6
    assert report.board is not None
    assert all(text in " ".join(document.text.split()) for text in list_texts(report.board))


def test_decision_is_shown_with_calibration_date_and_provenance(report: Report) -> None:
    decided = replace_in_board(report, decision=DECISION)
    for text in (Document(render_html(decided)).text, render_report_markdown(decided)):
        page_text = " ".join(text.replace("\\", "").split())
        assert "Poster" in page_text
        assert "spring" in page_text
        assert "2026-03-01" in page_text
        assert "90 ideas of a <conference>." in page_text
        assert "Poster from 4.5, Oral from 7.2" in page_text
        assert "87 %" in page_text


def test_missing_board_fields_are_shown_with_their_reason(report: Report) -> None:
    report_without_fields = replace_in_board(
        report, meta_review=ABSENT, advice=ABSENT, agreement=ABSENT, interval=ABSENT, score=ABSENT
    )
    assert render_html(report_without_fields).count("nobody knows.") >= 4
    assert render_report_markdown(report_without_fields).count("nobody knows.") >= 4


def test_missing_score_is_shown_as_dash_and_counted(report: Report) -> None:
    part = report.parts[1]
    unscored = part.assessments[0].model_copy(update={"score": ABSENT})
    part = part.model_copy(update={"assessments": (unscored, *part.assessments[1:])})
    gap = report.model_copy(update={"parts": (report.parts[0], part, *report.parts[2:])})
    assert "1 score missing" in Document(render_html(gap)).text
    assert "| – |" in render_report_markdown(gap)


def test_hostile_reviewer_names_are_escaped(report: Report) -> None:
    hostile_reviewer = Reviewer(
        key="R1", persona="<script>alert(1)</script>|", seat="open", field="a*b", role="[x](http://y)"
    )
    assert report.board is not None
    mixed = replace_in_board(report, reviewers=(hostile_reviewer, *report.board.reviewers[1:]))
    assert "<script>" not in render_html(mixed)
    assert "[x](http" not in render_report_markdown(mixed)


def test_markdown_has_the_matrix_as_a_table(report: Report) -> None:
    text = render_report_markdown(report)
    header = next(line for line in text.splitlines() if line.startswith("| Reviewer |"))
    assert header == "| Reviewer | Clarity | Novelty | Feasibility | Validity | Significance |"
    rows = text[text.index(header) :].split("\n\n")[0].splitlines()
    assert len(rows) == 2 + 5 + 1
    assert all(line.count("|") == 7 for line in rows)
    assert "Agreement: α = " in text
    assert "### Advice from later work" in text
