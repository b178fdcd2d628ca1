"""An idea before a panel: one page with its evidence behind it, within its budget of requests and tokens."""

import json
import re

import jsonschema
import pytest

from tests.e2e.evaluations import TWO_IDEAS, Evaluated
from tests.e2e.program import ROOT, Homes, Report, find_violations, read_reports, run_simulator


@pytest.fixture(scope="module")
def reviewed_run(homes: Homes) -> Evaluated:
    """Return one idea, reviewed by a model that answers soundly."""
    program = homes.create_home("reviewed")
    with run_simulator(latency_mean=0.05) as simulated:
        result = program.with_simulator(simulated).run("evaluate", TWO_IDEAS[0], "--method", "review")
        return Evaluated(result, program, simulated.read_stats())


@pytest.fixture
def report(reviewed_run: Evaluated) -> Report:
    (found_report,) = read_reports(reviewed_run.program.out).values()
    return found_report


def test_review_in_every_format_passes_every_check(reviewed_run: Evaluated, report: Report) -> None:
    assert (reviewed_run.ended.code, reviewed_run.ended.err) == (0, "")
    assert len(list(reviewed_run.program.out.iterdir())) == 3
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(report)
    assert find_violations(reviewed_run.program.out, expected=1) == ""
    assert report["panel_review"]["verdict"] in reviewed_run.ended.out


def test_review_keeps_to_its_budget(reviewed_run: Evaluated, report: Report) -> None:
    assert report["coverage"]["llm_requests"] <= 14
    assert report["provenance"]["prompt_tokens"] <= 50_000
    assert reviewed_run.stats.repeated_answers == 0


def test_page_prints_every_finding_and_its_evidence_under_expected_headings(
    reviewed_run: Evaluated, report: Report
) -> None:
    (page,) = reviewed_run.program.out.glob("*.md")
    text = page.read_text("utf-8")
    assert len(text.split()) <= 5_000
    review = report["panel_review"]
    assert review["evidence"]
    assert len(re.findall(r"^- [SWF]\d+\. ", text, re.MULTILINE)) == sum(
        len(review[name]) for name in ("strengths", "major_weaknesses", "minor_points")
    )
    evidence = text.partition("## Evidence")[2].partition("## Passages of the plan")[0]
    assert evidence.count("quote found") >= len(review["evidence"])
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[:3] == ["Verdict", "Strengths", "New against earlier work"]
    assert ("Closest work" in headings) == bool(review["closest_works"])
    if review["minor_points"]:
        assert headings.index("Further points and questions") == headings.index("Scores") - 1
