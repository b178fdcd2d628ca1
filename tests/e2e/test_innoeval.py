"""An idea before a board of reviewers, with papers, pages and repositories on both sides of a day."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.e2e.evaluations import TWO_IDEAS, BoardedRuns
from tests.e2e.program import ROOT, Program, Report, find_violations, read_comparable_reports, read_reports

DIMENSIONS = ["clarity", "novelty", "feasibility", "validity", "significance"]


def _read_reports_without_cache_hits(folder: Path) -> dict[str, Report]:
    """All that two runs share when the second finds the answers of remote sources in the cache."""
    stored_reports = read_comparable_reports(folder)
    for report in stored_reports.values():
        for use in report["coverage"]["sources"]:
            del use["cached"]
    return stored_reports


@pytest.fixture
def report(boarded_runs: BoardedRuns) -> Report:
    (found_report,) = read_reports(boarded_runs.program.out).values()
    return found_report


@pytest.mark.slow
def test_an_idea_gets_a_report_in_every_format_that_passes_every_check(
    boarded_runs: BoardedRuns, report: Report
) -> None:
    assert (boarded_runs.first.code, boarded_runs.first.err) == (0, "")
    assert len(list(boarded_runs.program.out.iterdir())) == 3
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(report)
    assert find_violations(boarded_runs.program.out, expected=1) == ""


@pytest.mark.slow
def test_every_dimension_is_scored_and_background_quotes_are_verified(report: Report) -> None:
    assert [part["name"] for part in report["parts"]] == [*DIMENSIONS, "background"]
    assert all("value" in part["score"] for part in report["parts"][:-1])
    readings = [reading for item in report["parts"][-1]["assessments"] for reading in item["readings"]]
    assert readings
    assert {reading["quote"]["quote_state"] for reading in readings} == {"verified"}


@pytest.mark.slow
def test_papers_pages_and_repositories_are_cited(report: Report) -> None:
    assert {reference["source"] for reference in report["references"]} == {"corpus", "web", "github"}


@pytest.mark.slow
def test_papers_after_cutoff_appear_only_in_advice(report: Report) -> None:
    labels = [item["label"] for item in report["references"] if item["publication_date"] > "2022-06-30"]
    assert labels
    rest = {key: value for key, value in report.items() if key not in ("references", "board")}
    board = {key: value for key, value in report["board"].items() if key != "advice"}
    report_text = json.dumps([rest, board])
    assert [label for label in labels if f'"{label}"' in report_text or f"[{label}]" in report_text] == []


@pytest.mark.slow
def test_every_answer_that_was_paid_is_accounted_for_once(boarded_runs: BoardedRuns, report: Report) -> None:
    assert boarded_runs.stats.repeated_answers == 0
    # What a seat is shown depends on what was found in time, and so whether the simulated answer passes its checks.
    asked_again = sum(fault["occurrences"] for fault in report["coverage"]["faults"])
    assert (
        report["coverage"]["llm_requests"]
        == report["usage"]["llm_requests_paid"]
        == boarded_runs.stats.answered - asked_again
    )
    assert report["provenance"]["prompt_tokens"] == boarded_runs.stats.prompt_tokens


@pytest.mark.slow
def test_second_run_uses_cache_and_gives_same_report(boarded_runs: BoardedRuns) -> None:
    assert boarded_runs.again.code == 0
    assert boarded_runs.stats_again.answered == boarded_runs.stats.answered
    again, first = (
        _read_reports_without_cache_hits(folder)
        for folder in (boarded_runs.program.home / "again", boarded_runs.program.out)
    )
    assert again == first


@pytest.mark.slow
def test_second_run_does_not_query_external_sources(boarded_runs: BoardedRuns) -> None:
    assert all(boarded_runs.outside.values())
    assert boarded_runs.outside_again == boarded_runs.outside


def test_innoeval_without_language_model_is_rejected(program: Program) -> None:
    result = program.run("evaluate", TWO_IDEAS[0], "--method", "innoeval")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        "Error: InnoEval needs a language model: its reviewers are language models. Configure one, or "
        "use --method scholareval or --method grapheval, which work without one."
    ]


def test_invalid_calibration_is_rejected_before_evaluation_starts(program: Program) -> None:
    (program.home / "board.json").write_text("{}", "utf-8")
    unreachable_program = program.with_settings(LLM__BASE_URL="http://127.0.0.1:9/v1", LLM__MODEL="nobody")
    result = unreachable_program.run("evaluate", TWO_IDEAS[0], "--method", "innoeval", "--calibration", "board.json")
    assert (result.code, result.out) == (2, "")
    assert "board.json is not a valid decision calibration: name: Field required" in result.err
    assert program.server is None
