"""`assayer export`: reports as a data set that Hugging Face's `datasets` reads, and as drafts of OpenReview reviews."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assayer.errors import InputError
from assayer.models import Report
from assayer.reports.json_and_csv import render_json
from assayer.reports.openreview_drafts import draft_review, list_form_fields
from assayer.reports.python_report import EvaluationReport
from cluster.cli.main import app
from tests.unit.reports_fixture import make_full_report
from tests.unit.reports_review import make_review_report


def _from_openreview(report: Report) -> Report:
    return report.model_copy(update={"idea": report.idea.model_copy(update={"source": "notes.json:3 (aB3dEf)"})})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    reports_folder = tmp_path / "reports"
    reports_folder.mkdir()
    (reports_folder / "a.json").write_text(render_json(make_full_report()), "utf-8")
    (reports_folder / "b.json").write_text(render_json(_from_openreview(make_review_report())), "utf-8")
    (reports_folder / "ranking.json").write_text('{"ideas": []}', "utf-8")
    return reports_folder


def _export(*arguments: object) -> dict[str, object]:
    cli_result = CliRunner().invoke(app, ["export", *map(str, arguments), "--json"])
    assert cli_result.exit_code == 0, cli_result.output
    result: dict[str, object] = json.loads(cli_result.stdout)
    return result


def test_datasets_loads_the_exported_folder(folder: Path, tmp_path: Path) -> None:
    dataset_folder = tmp_path / "dataset"
    assert _export(folder, "--format", "huggingface", "--out", dataset_folder)["reports"] == 2
    program = """
import json, sys
from datasets import load_dataset
rows = load_dataset(sys.argv[1], split="train", cache_dir=sys.argv[2])
print(json.dumps([dict(row) for row in rows]))
"""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    command = [sys.executable, "-W", "ignore", "-c", program, str(dataset_folder), str(tmp_path / "cache")]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert process.returncode == 0, process.stderr
    rows = json.loads(process.stdout)
    for row, report in zip(rows, (make_full_report(), _from_openreview(make_review_report())), strict=True):
        client_report = EvaluationReport(report)
        assert Report.model_validate_json(row["report"]) == report
        assert (row["title"], row["proposal"], row["total"]) == (
            client_report.title,
            report.idea.text,
            client_report.total.value,
        )
        assert [item["text"] for item in row["findings"]] == [finding.text for finding in client_report.findings]
        assert {item["name"]: item["value"] for item in row["scores"]} == {
            name: score.value for name, score in client_report.scores.items()
        }
    card = (dataset_folder / "README.md").read_text("utf-8")
    columns = {name for line in card.splitlines() if line.startswith("| `") for name in line.split("`")[1:-1:2]}
    assert rows[0].keys() - {"evaluation_id"} <= columns


def test_draft_fills_the_form_from_findings_and_leaves_scores_to_a_person(folder: Path, tmp_path: Path) -> None:
    form = tmp_path / "form.json"
    fields = ("Strengths_And_Weaknesses", "questions", "rating", "confidence")
    form.write_text(json.dumps({"edit": {"note": {"content": {field: {"value": {}} for field in fields}}}}), "utf-8")
    result = _export(folder, "--format", "openreview", "--form", form, "--out", tmp_path / "drafts")
    assert result["remarks"] == [
        f"{make_full_report().idea.title}: no forum, because the idea was not read from an OpenReview note.",
        "Fields to fill in yourself: confidence, rating.",
    ]
    _, note = json.loads((tmp_path / "drafts" / "openreview.json").read_text("utf-8"))["notes"]
    assert (note["forum"], note["replyto"]) == ("aB3dEf", "aB3dEf")
    assert note["content"].keys() == {"Strengths_And_Weaknesses", "questions"}
    text = note["content"]["Strengths_And_Weaknesses"]["value"]
    findings = [
        item for item in EvaluationReport(make_review_report()).findings if item.kind in {"strength", "weakness"}
    ]
    assert findings
    assert all(item.text in text and (not item.severity or f"({item.severity})" in text) for item in findings)
    assert all(title in text for item in findings for title in item.papers)


def test_usual_form_leaves_summary_and_rating_to_a_person() -> None:
    draft = draft_review(_from_openreview(make_review_report()))
    assert draft.note is not None
    assert set(draft.note) == {"forum", "replyto", "content"}, "no signatures, no invitation: it cannot be posted as is"
    assert draft.left_to_you == ("summary", "rating", "confidence")


def test_draft_of_a_fetched_submission_goes_to_its_forum() -> None:
    report = make_review_report()
    idea = report.idea.model_copy(update={"source": "https://openreview.net/forum?id=aB3-_x"})
    draft = draft_review(report.model_copy(update={"idea": idea}))
    assert draft.note is not None
    assert (draft.note["forum"], draft.note["replyto"]) == ("aB3-_x", "aB3-_x")


@pytest.mark.parametrize(
    ("invitation", "fields"),
    [
        ({"edit": {"note": {"content": {"strengths": {}}}}}, ("strengths",)),
        ({"reply": {"content": {"review": {}}}}, ("review",)),
        ({"questions": {}}, ("questions",)),
    ],
)
def test_form_is_read_from_an_invitation_of_either_version(invitation: object, fields: tuple[str, ...]) -> None:
    assert list_form_fields(invitation) == fields


@pytest.mark.parametrize("invitation", [{}, [], "rating", {"content": {}}])
def test_form_without_fields_is_refused(invitation: object) -> None:
    with pytest.raises(InputError, match="has no fields"):
        list_form_fields(invitation)


def test_folder_without_reports_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["export", str(tmp_path), "--format", "huggingface"])
    assert result.exit_code != 0
    assert "contains no reports" in str(result.exception)
