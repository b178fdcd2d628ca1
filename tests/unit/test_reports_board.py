"""The board in the report: the matrix of reviewers and dimensions, score, decision, advice, and what is missing."""

import datetime as dt
import json

import jsonschema
import pytest

from assayer.backends import Backends
from assayer.methods.innoeval.board.session import BoardSession
from assayer.methods.innoeval.options import BoardOptions, InnoEvalOptions
from assayer.methods.innoeval.pipeline import evaluate
from assayer.models import Absent, BoardRecord, Decision, Report, Reviewer
from assayer.reports.html import as_html
from assayer.reports.json_and_csv import as_json, report_schema
from assayer.reports.markdown import as_markdown
from index.memory_corpus import MemoryCorpus
from tests.unit.innoeval_evidence import BOARD_ANSWERS
from tests.unit.innoeval_world import ANSWERS, CUTOFF, IDEA, TwinCode, TwinWeb, papers
from tests.unit.reports_document import Document
from tests.unit.twins import NoFullTexts, TwinLlm, a_run
from workers.embedding.hashing_embedder import HashingEmbedder

DECISION = Decision(
    name="Poster",
    stability=0.87,
    calibration="spring",
    made_on=dt.date(2026, 3, 1),
    provenance="90 ideas of a <conference>.",
    outcomes=("Reject", "Poster", "Oral"),
    thresholds=(4.5, 7.25),
)
ABSENT = Absent(reason="nobody knows.")


async def a_report(options: BoardOptions) -> Report:
    embedder, run = HashingEmbedder(), a_run(CUTOFF)
    llm = TwinLlm(embedder, {**ANSWERS, **BOARD_ANSWERS})
    backends = Backends(
        llm=llm,
        literature=MemoryCorpus(papers(), embedder),
        full_texts=NoFullTexts(),
        embedder=embedder,
        web=TwinWeb(),
        code=TwinCode(),
    )
    board = BoardSession(llm, run, options)
    return (await evaluate(IDEA, backends, run, InnoEvalOptions(top=3, later=2), board)).report


@pytest.fixture
async def report() -> Report:
    return await a_report(BoardOptions())


def _with(report: Report, **update: object) -> Report:
    assert report.board is not None
    return report.model_copy(update={"board": report.board.model_copy(update=update)})


def _texts(board: BoardRecord) -> list[str]:
    return [
        *(one.goal for one in board.reviewers),
        *(one.background for one in board.reviewers),
        *(one.constraints for one in board.reviewers),
    ]


async def test_same_run_gives_the_same_report(report: Report) -> None:
    assert as_json(await a_report(BoardOptions())) == as_json(report)


def test_report_with_a_board_keeps_the_schema(report: Report) -> None:
    jsonschema.validate(json.loads(as_json(report)), report_schema())
    assert Report.model_validate_json(as_json(report)) == report


def test_page_shows_a_cell_for_each_reviewer_and_dimension_that_leads_to_the_review(report: Report) -> None:
    page = as_html(report)
    assert page.count('class="meter"') == 5 * 5 + 5
    document = Document(page)
    assert document.text.count("R3") >= 6
    assert report.board is not None
    assert all(text in " ".join(document.text.split()) for text in _texts(report.board))


def test_links_of_the_board_lead_to_one_element(report: Report) -> None:
    document = Document(as_html(report))
    inside = [link[1:] for link in document.links if link.startswith("#")]
    assert inside
    assert all(document.ids.count(target) == 1 for target in inside)


def test_without_a_calibration_both_pages_say_that_no_decision_is_given(report: Report) -> None:
    assert "No decision is given:" in as_html(report)
    assert "**No decision is given:** no calibration is loaded" in as_markdown(report)


def test_a_decision_is_shown_with_name_date_and_provenance(report: Report) -> None:
    decided = _with(report, decision=DECISION)
    for text in (Document(as_html(decided)).text, as_markdown(decided)):
        plain = " ".join(text.replace("\\", "").split())
        assert "Poster" in plain
        assert "spring" in plain
        assert "2026-03-01" in plain
        assert "90 ideas of a <conference>." in plain
        assert "Poster from 4.5, Oral from 7.2" in plain
        assert "87 %" in plain


def test_what_is_missing_is_shown_with_its_reason(report: Report) -> None:
    bare = _with(report, meta_review=ABSENT, advice=ABSENT, agreement=ABSENT, interval=ABSENT, score=ABSENT)
    assert as_html(bare).count("nobody knows.") >= 4
    assert as_markdown(bare).count("nobody knows.") >= 4


def test_a_missing_score_is_a_dash_and_is_counted(report: Report) -> None:
    part = report.parts[1]
    lost = part.assessments[0].model_copy(update={"score": ABSENT})
    part = part.model_copy(update={"assessments": (lost, *part.assessments[1:])})
    gap = report.model_copy(update={"parts": (report.parts[0], part, *report.parts[2:])})
    assert "1 score missing" in Document(as_html(gap)).text
    assert "| – |" in as_markdown(gap)


async def test_a_control_is_shown_as_such() -> None:
    control = await a_report(BoardOptions(board=0))
    assert "A control run without personas." in as_html(control)
    assert "| R1 No persona |" in as_markdown(control)
    assert "Agreement cannot be measured" in as_markdown(control)


def test_hostile_names_stay_text(report: Report) -> None:
    hostile = Reviewer(key="R1", persona="<script>alert(1)</script>|", seat="open", field="a*b", role="[x](http://y)")
    assert report.board is not None
    mixed = _with(report, reviewers=(hostile, *report.board.reviewers[1:]))
    assert "<script>" not in as_html(mixed)
    assert "[x](http" not in as_markdown(mixed)


def test_markdown_has_the_matrix_as_a_table(report: Report) -> None:
    text = as_markdown(report)
    header = next(line for line in text.splitlines() if line.startswith("| Reviewer |"))
    assert header == "| Reviewer | Clarity | Novelty | Feasibility | Validity | Significance |"
    rows = text[text.index(header) :].split("\n\n")[0].splitlines()
    assert len(rows) == 2 + 5 + 1
    assert all(line.count("|") == 7 for line in rows)
    assert "Agreement: α = " in text
    assert "### Advice from later work" in text
