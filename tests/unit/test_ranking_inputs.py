"""Inputs of `assayer rank` besides ideas: scores, known comparisons, a dimension."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from assayer.errors import ConfigurationError, InputError
from assayer.models import Absent, ReleaseMinima, Report
from assayer.ranking.comparison import format_comparisons
from assayer.reports.json_and_csv import render_json
from assayer.reports.release import apply_minima
from assayer.reports.scores import compute_total_score
from assayer_client.comparisons import Comparison, DimensionVerdict
from cluster.cli.rank import rank as command
from cluster.ranking_inputs import read_comparisons, read_scores
from cluster.settings import RankingSettings
from tests.unit.judges import make_ideas_of_worth
from tests.unit.reports_fixture import make_full_report

_IDEAS = make_ideas_of_worth(3)


def make_comparison(first: int = 0, second: int = 1, reason: str = "clearer") -> Comparison:
    verdict = DimensionVerdict(dimension="overall", winner="first", reason=reason)
    return Comparison(first=_IDEAS[first].id, second=_IDEAS[second].id, verdicts=(verdict,))


def test_idea_names_are_read_with_known_comparisons(tmp_path: Path) -> None:
    path, comparison = tmp_path / "known.jsonl", make_comparison()
    lines_with_names = format_comparisons([comparison], {comparison.first: "A-1", comparison.second: "A-\u202e2"})
    path.write_text(f"{comparison.model_dump_json()}\n{lines_with_names}", "utf-8")
    read = read_comparisons(path)
    assert read.comparisons == [comparison, comparison]
    assert read.names == {comparison.first: "A-1", comparison.second: "A-2"}


def test_comparisons_are_read_back_without_hidden_characters(tmp_path: Path) -> None:
    path = tmp_path / "comparisons.jsonl"
    path.write_text(
        format_comparisons(
            [make_comparison(), make_comparison(1, 2, "bet\u200bter \u202eno\u202c")], {_IDEAS[0].id: "plan.md"}
        )
        + "\n",
        "utf-8",
    )
    assert read_comparisons(path).comparisons == [make_comparison(), make_comparison(1, 2, "better no")]


@pytest.mark.parametrize("line", ["{", "[]", '{"first": "a"}', '"text"'])
def test_invalid_comparison_line_is_reported_by_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "known.jsonl"
    path.write_text(format_comparisons([make_comparison()], {}) + line, "utf-8")
    with pytest.raises(InputError, match=r"known\.jsonl:2 is not a valid comparison"):
        read_comparisons(path)


def remove_scores(report: Report) -> Report:
    absent_score = Absent(reason="none")
    return report.model_copy(
        update={
            "parts": tuple(part.model_copy(update={"score": absent_score}) for part in report.parts),
            "verdict": None,
        }
    )


def test_report_score_is_its_lowest_part_score_normalised_to_scale() -> None:
    report = make_full_report()
    part = report.parts[0]
    high, low = (part.model_copy(update={"score": part.score.model_copy(update={"value": v})}) for v in (10.0, 5.0))
    assert compute_total_score(report.model_copy(update={"parts": (high, low)})) == pytest.approx(0.5)
    underspecified = low.model_copy(update={"score": Absent(reason="underspecified: no sample.")})
    assert compute_total_score(report.model_copy(update={"parts": (high, underspecified)})) == Absent(
        reason="Soundness: underspecified: no sample."
    )
    assert compute_total_score(remove_scores(report)) == Absent(reason="Its report has no score.")


def test_scores_are_read_by_idea_and_non_reports_are_ignored(tmp_path: Path) -> None:
    report = make_full_report()
    (tmp_path / "one.json").write_text(render_json(report), "utf-8")
    (tmp_path / "two.json").write_text(render_json(remove_scores(report)), "utf-8")
    incomplete = apply_minima(report, ReleaseMinima(quotes_found=1))
    (tmp_path / "three.json").write_text(render_json(incomplete), "utf-8")
    (tmp_path / "ranking.json").write_text('{"id": "rk_1"}', "utf-8")
    scores, absent_score = read_scores(tmp_path)
    assert scores == {report.idea.id: pytest.approx(compute_total_score(report))}
    assert absent_score == {
        "Its report has no score.": 1,
        "Its report is incomplete (too low for a total: quotes found).": 1,
    }


def test_scores_of_two_methods_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(render_json(make_full_report()), "utf-8")
    (tmp_path / "two.json").write_text(render_json(make_full_report().model_copy(update={"method": "other"})), "utf-8")
    with pytest.raises(InputError, match=r"different methods \(other, scholareval\)"):
        read_scores(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ranking.json", '{"id": "rk_1"}', "contains no reports"),
        ("bad.json", '{"evaluation_id": "ev_1"}', "is not a readable report"),
        ("bad.json", "{", "is not a readable report"),
    ],
)
def test_a_folder_without_usable_reports_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(InputError, match=message):
        read_scores(tmp_path)


def test_missing_language_model_error_names_required_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="ASSAYER_LLM__MODEL"):
        command([tmp_path])


def test_unknown_order_by_dimension_is_reported() -> None:
    with pytest.raises(ValidationError, match="unknown dimension, 'charm'"):
        RankingSettings(order_by="charm")
