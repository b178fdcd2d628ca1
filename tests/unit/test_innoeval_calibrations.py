"""From labelled ideas and the reports on them to a named calibration, and back to its file by its name."""

import asyncio
import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.ideas.records import idea_of_record
from assayer.methods.innoeval.board.decision import DecisionCalibration, load_decision_calibration
from assayer.methods.innoeval.options import BoardOptions, InnoEvalOptions
from assayer.models import Absent, Report, Score
from assayer.reports.json_and_csv import render_json
from cluster.innoeval_calibrations import (
    find_calibration,
    fit_calibration,
    load_innoeval_options,
    read_labels,
    save_calibration,
)
from cluster.settings import Settings
from tests.unit.board_reports import make_board_report

DAY = dt.date(2026, 3, 1)
IDEAS = 40


def record(number: int) -> dict[str, object]:
    text = (
        f"We ask whether shade number {number} helps seedlings through a dry summer. Plots are drawn by lot, and "
        "survival is counted weekly."
    )
    return {"title": f"Shade {number}", "text": text, "outcome": ("reject", "accept")[number % 2]}


def write_labels(folder: Path, records: Sequence[object] | None = None) -> Path:
    path = folder / "past.jsonl"
    path.write_text("\n".join(map(json.dumps, records or [record(n) for n in range(IDEAS)])), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def usual_report() -> Report:
    return asyncio.run(make_board_report(BoardOptions(board=2)))


@pytest.fixture
def reports(tmp_path: Path, usual_report: Report) -> Path:
    """Accepted ideas score 6 and more, rejected ones less; one could not be scored."""
    folder = tmp_path / "reports"
    folder.mkdir()
    for number in range(IDEAS):
        score: Score | Absent = Score(value=(6.0 if number % 2 else 3.0) + number / 100, basis="")
        write(folder, usual_report, number, score if number else Absent(reason="nobody."))
    return folder


def write(
    folder: Path, usual_report: Report, number: int, score: Score | Absent, name: str = "", **board: object
) -> None:
    idea = idea_of_record(record(number), "past.jsonl")
    assert usual_report.board is not None
    changed = {
        "idea": usual_report.idea.model_copy(update={"id": idea.id}),
        "board": usual_report.board.model_copy(update={"score": score, **board}),
    }
    (folder / f"{name or number}.json").write_text(
        render_json(usual_report.model_copy(update=changed)), encoding="utf-8"
    )


def fit_from_reports(
    folder: Path, reports: Path, source: str = "a panel of nobody", name: str = "spring"
) -> DecisionCalibration:
    labels = read_labels(write_labels(folder), "outcome")
    return fit_calibration(name, DAY, labels, source, reports, ("reject", "accept"), seed=0)


def test_calibration_records_its_training_data_and_performance(tmp_path: Path, reports: Path) -> None:
    calibration = fit_from_reports(tmp_path, reports)
    assert calibration.counts == (IDEAS // 2 - 1, IDEAS // 2)
    assert calibration.unscored == 1
    assert 3.4 < calibration.thresholds[0] < 6.0
    assert calibration.performance.accuracy == calibration.performance.macro_f1 == 1.0
    assert calibration.provenance == "40 of the 40 labelled ideas of past.jsonl: a panel of nobody."
    assert calibration.labels_sha256 == read_labels(tmp_path / "past.jsonl", "outcome").sha256
    assert calibration.conditions.board == 2
    assert fit_from_reports(tmp_path, reports) == calibration


def test_saved_calibration_is_found_by_name_and_cannot_be_overwritten(tmp_path: Path, reports: Path) -> None:
    calibration = fit_from_reports(tmp_path, reports)
    path = save_calibration(tmp_path, calibration)
    assert save_calibration(tmp_path, calibration) == path
    assert load_decision_calibration(find_calibration(tmp_path, Path("spring"))) == calibration
    settings = Settings(home=tmp_path, innoeval=InnoEvalOptions(board=BoardOptions(calibration=Path("spring"))))
    assert load_innoeval_options(settings).board.calibration == path
    with pytest.raises(InputError, match="different calibration named 'spring' already"):
        save_calibration(tmp_path, fit_from_reports(tmp_path, reports, "another panel"))
    with pytest.raises(InputError, match="no calibration 'summer'") as raised:
        find_calibration(tmp_path, Path("summer"))
    assert "Calibrations: spring." in str(raised.value)
    assert find_calibration(tmp_path, Path("elsewhere/summer.json")) == Path("elsewhere/summer.json")


def test_reports_of_boards_with_different_models_are_rejected(
    tmp_path: Path, reports: Path, usual_report: Report
) -> None:
    write(reports, usual_report, 3, Score(value=6.0, basis=""), models=("another",))
    with pytest.raises(InputError, match="were made with different models"):
        fit_from_reports(tmp_path, reports)


def test_invalid_calibration_name_or_source_is_rejected(tmp_path: Path, reports: Path) -> None:
    with pytest.raises(InputError, match="is not a valid calibration name"):
        fit_from_reports(tmp_path, reports, name="../spring")
    with pytest.raises(InputError, match="Describe who made these decisions"):
        fit_from_reports(tmp_path, reports, source=" . ")


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{**record(1), "outcome": None}], r"past\.jsonl:1 has no outcome in 'outcome'"),
        ([record(1), {**record(1), "outcome": "reject"}], r"past\.jsonl:2 contradicts an earlier line"),
        ([{"title": "Only a title", "outcome": "reject"}], "does not contain the text of an idea"),
        ([3], "is a number, not an idea"),
    ],
)
def test_unusable_labels_are_rejected_by_line(tmp_path: Path, records: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_labels(write_labels(tmp_path, records), "outcome")
