"""The independent checker finds what is wrong in a report, and nothing in a good one."""

import ast
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assayer.models import ReleaseMinima
from assayer.reports.json_and_csv import render_json
from assayer.reports.release import apply_minima
from benchmarks.quality import check_reports, corpus_records, quotations
from benchmarks.quality.check_reports import check, main
from benchmarks.quality.quotations import occurs_in
from tests.unit.quotes_cases import FOUND_QUOTES, NOT_FOUND_QUOTES
from tests.unit.reports_fixture import make_full_report
from tests.unit.reports_papers import PAPERS, record

Json = dict[str, Any]
RECORDS = {str(record(label)["id"]): record(label) for label in PAPERS}


def make_report() -> Json:
    report: Json = json.loads(render_json(make_full_report()))
    return report


def get_point(report: Json) -> Json:
    point: Json = report["parts"][0]["assessments"][0]["points"][0]
    return point


def test_good_report_has_no_violations_and_all_parts_are_compared() -> None:
    result = check("good", make_report(), RECORDS)
    assert result.violations == []
    assert result.references == 8
    assert result.compared == 8 + result.quotes["verified"]
    assert result.quotes["verified"] > 23


def make_report_with_further_quote(quote: str, place: str | None = None) -> Json:
    """Return a report in which one verified citation has a further quote."""
    report = make_report()
    cited = next(
        item
        for point in report["parts"][0]["assessments"][0]["points"]
        for item in point["citations"]
        if item["quote_state"] == "verified"
    )
    cited["further"] = [{"quote": quote or cited["quote"], "place": place}]
    return report


def test_further_quotes_are_also_checked_verbatim() -> None:
    violations = check(
        "bad", make_report_with_further_quote("words that no paper of the corpus holds anywhere"), RECORDS
    ).violations
    assert len(violations) == 1
    assert "words that no paper" in violations[0]


def test_duplicate_quote_in_citation_is_a_violation() -> None:
    assert any("one twice" in violation for violation in check("bad", make_report_with_further_quote("")).violations)


def test_further_quotes_without_verified_first_quote_are_a_violation() -> None:
    report = make_report_with_further_quote("any words")
    for point in report["parts"][0]["assessments"][0]["points"]:
        for item in point["citations"]:
            if item["further"]:
                item["quote_state"] = "not_found"
    assert any("no first one" in violation for violation in check("bad", report).violations)


def make_released_report(minima: ReleaseMinima) -> Json:
    report: Json = json.loads(render_json(apply_minima(make_full_report(), minima)))
    return report


def test_release_state_names_the_failed_minima() -> None:
    complete, incomplete = (
        check("one", make_released_report(ReleaseMinima(quotes_found=min_quotes_found)), RECORDS)
        for min_quotes_found in (0.5, 1)
    )
    assert (complete.release, incomplete.release) == ("complete", "quotes_found")
    assert complete.violations == incomplete.violations == []


def test_total_in_incomplete_report_and_wrong_measured_minimum_are_violations() -> None:
    report = make_released_report(ReleaseMinima(quotes_found=1))
    report["parts"][0]["score"] = make_report()["parts"][0]["score"]
    next(item for item in report["release"]["minima"] if item["name"] == "quotes_found")["measured"] = 0.5
    assert check("bad", report).violations == [
        "quotes_found is measured as 0.5, and 23 of 24 are counted",
        "it is incomplete, and soundness has a total",
    ]


def test_report_called_complete_below_a_minimum_is_a_violation() -> None:
    report = make_released_report(ReleaseMinima(quotes_found=1))
    report["release"]["state"] = "complete"
    assert check("bad", report).violations == ["it is complete and fails 1 minima"]


POINT = "parts[0].assessments[0].points[0].text"


@pytest.mark.parametrize(
    ("added", "violation"),
    [
        (" [P99]", f"[P99] in {POINT} is not a reference"),
        (" [P1 and P2]", f"[P1 and P2] in {POINT} is not of the form"),
        (" [P3-P5]", f"[P3-P5] in {POINT} is not of the form"),
        (" [P3, p. 4]", f"[P3, p. 4] in {POINT} is not of the form"),
        (" See doi:10.1000/182", f"an address stands in {POINT}"),
        (" See DOI.org/10.1000/182", f"an address stands in {POINT}"),
        (" See WWW.example.org", f"an address stands in {POINT}"),
        (" See FTP://example.org/x", f"an address stands in {POINT}"),
        (" See https://papers.example.org/p1.html", f"an address stands in {POINT}"),
        (" [@corpus-p1]", "was never given its label"),
    ],
)
def test_bad_citation_or_address_in_a_text_is_a_violation(added: str, violation: str) -> None:
    report = make_report()
    get_point(report)["text"] += added
    assert any(violation in item for item in check("damaged", report, RECORDS).violations)


@pytest.mark.parametrize(
    ("path", "value", "violation"),
    [
        ("parts.1.assessments.0.statement", "As shown [P1, P42].", "[P42] in parts[1].assessments[0].statement is not"),
        ("notices.0.text", "As shown [P50].", "[P50] in notices[0].text is not a reference"),
        ("parts.0.assessments.0.readings.0.label", "P98", "P98 is cited but is not a reference"),
        ("parts.0.assessments.0.points.0.citations.0.quote", "predicts nothing at all about a model", "is not in P2"),
        ("parts.0.assessments.0.points.0.citations.0.quote", None, "has quote None"),
        ("parts.0.assessments.0.points.1.downgraded", False, "downgraded is False"),
        ("parts.0.score.value", 11, "the score 11 of soundness is off its scale"),
        ("references.1.label", "P1", "label 'P1' stands for 2 references"),
        ("references.1.id", "corpus-p1", "id 'corpus-p1' stands for 2 references"),
        ("references.2.title", " ", "reference P3 has no title"),
        ("references.3.publication_date", "2024-05-01", "reference P4 of 2024-05-01 is after the cutoff 2024-04-30"),
        ("references.3.publication_date", None, "reference P4 is undated"),
        ("references.0.url", "https://papers.example.org/p2.html", "the address of P1 is not the record's"),
        ("references.0.url", "javascript:alert(1)", "has an address that is not http(s)"),
        ("references.0.title", "Replay buffers and joy", "the title of P1 is not the record's"),
        ("references.0.id", "corpus-p0", "reference P1 (corpus-p0) is not in the corpus"),
        ("coverage.quotes_verified", 24, "coverage says quotes_verified = 24, the report holds 23"),
        ("coverage.papers_cited", 7, "coverage says papers_cited = 7, the report holds 8"),
        ("coverage.papers_read", 500, "coverage says papers_read = 500 of papers_found = 184"),
        ("coverage.faults.0.recovered", 4, "recovered 4 of 3"),
        ("coverage.dropped.0.reason", "", "lacks a count or a reason"),
    ],
)
def test_wrong_value_in_a_field_is_a_violation(path: str, value: object, violation: str) -> None:
    report = make_report()
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    parent: Any = report
    for step in parents:
        parent = parent[step]
    parent[last] = value
    assert any(violation in item for item in check("damaged", report, RECORDS).violations)


def never_cite(report: Json) -> None:
    report["references"].append({**report["references"][0], "label": "P9", "id": "corpus-p9"})


def quote_another_paper(report: Json) -> None:
    get_point(report)["citations"][0]["quote"] = get_point(report)["citations"][1]["quote"]


def hide_poor_fit(report: Json) -> None:
    report["coverage"]["corpus_fit"]["level"] = "poor"
    report["notices"] = [item for item in report["notices"] if item["kind"] != "corpus_fit"]


def remove_field(report: Json) -> None:
    del report["coverage"]["papers_found"]


@pytest.mark.parametrize(
    ("damage", "violation"),
    [
        (never_cite, "reference P9 is never cited"),
        (quote_another_paper, "a verified quote is not in P2"),
        (hide_poor_fit, "no notice says so"),
        (remove_field, "is not shaped like a report: KeyError('papers_found')"),
    ],
)
def test_damaged_report_is_a_violation(damage: Callable[[Json], None], violation: str) -> None:
    report = make_report()
    damage(report)
    assert any(violation in item for item in check("damaged", report, RECORDS).violations)


@pytest.mark.parametrize(
    ("quote", "is_found"),
    [
        ("A Buffer of One Percent — of the past examples!", True),
        ("recovers 83 per-cent of the accuracy that plain fine tuning loses", True),
        ("A buffer of one percent (link removed) recovers 83 percent", False),
        ("A buffer of two percent of the past examples halves the accuracy", False),
        ("recovers 83 percent of a buffer of one percent of the accuracy", False),
        ("", False),
    ],
)
def test_quote_is_found_only_as_contiguous_words(quote: str, is_found: bool) -> None:
    assert occurs_in(quote, PAPERS["P1"][4]) is is_found


@pytest.mark.parametrize(("quote", "source"), NOT_FOUND_QUOTES)
def test_quote_with_changed_meaning_is_not_found(quote: str, source: str) -> None:
    assert not occurs_in(quote, source)


@pytest.mark.parametrize(("quote", "source"), FOUND_QUOTES)
def test_quote_in_another_spelling_is_found(quote: str, source: str) -> None:
    assert occurs_in(quote, source)


def test_link_removed_placeholder_must_match_a_link_in_source() -> None:
    quote = "Our code is available at (link removed) under the MIT license."
    assert occurs_in(quote, "Our code is available at https://example.org/x.git under the MIT license.")
    assert not occurs_in(quote, "Our code is available at request under the MIT license.")


def test_partial_date_is_read_as_last_day_of_period() -> None:
    report = make_report()
    report["references"][3]["publication_date"] = "2023-12-31"
    for date in ("2023-12", "2023"):
        records = {**RECORDS, "corpus-p4": {**RECORDS["corpus-p4"], "publication_date": date}}
        assert check("month", report, records).violations == []


def _write(folder: Path, report: Json) -> None:
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")


def test_command_exits_0_and_prints_totals_for_good_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tmp_path / "papers.jsonl.gz"
    with gzip.open(corpus, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(item) + "\n" for item in RECORDS.values())
    folder = tmp_path / "out"
    folder.mkdir()
    _write(folder, make_report())
    assert main([str(folder), "--corpus", str(corpus), "--expect", "1"]) == 0
    assert "1 reports, 8 references" in capsys.readouterr().out


def test_command_exits_1_and_names_file_of_damaged_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = make_report()
    get_point(report)["text"] += " [P99]"
    _write(tmp_path, report)
    assert main([str(tmp_path)]) == 1
    assert f"{tmp_path / 'report.json'}: [P99] in parts" in capsys.readouterr().out


def test_command_exits_1_when_expected_report_is_missing(tmp_path: Path) -> None:
    _write(tmp_path, make_report())
    assert main([str(tmp_path), "--expect", "2"]) == 1


def test_command_exits_1_for_invalid_json_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.json").write_text("{", encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert "is not a JSON object" in capsys.readouterr().out


def test_command_exits_2_for_empty_folder(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 2


def test_checker_imports_only_the_standard_library() -> None:
    for module in (check_reports, corpus_records, quotations):
        assert list_imports(Path(str(module.__file__))) <= sys.stdlib_module_names | {"benchmarks"}


def list_imports(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in imported}


def make_report_with_later_work(cited_in: str) -> Json:
    """Return a report in which one reference, cited only in that field of the board, is after the cutoff."""
    report = make_report()
    latest = max(item["publication_date"] for item in report["references"] if item["publication_date"])
    report["cutoff"] = latest
    report["references"] = [item for item in report["references"] if item["publication_date"]]
    later = {**report["references"][0], "label": "P77", "id": "later", "publication_date": "2031-01-01"}
    report["references"].append(later)
    report["board"] = {"advice": [], "meta_review": [], cited_in: [{"text": "See [P77]."}]}
    return report


@pytest.mark.parametrize(("cited_in", "wrong"), [("advice", False), ("meta_review", True)])
def test_work_after_cutoff_may_be_cited_in_advice_but_not_meta_review(cited_in: str, wrong: bool) -> None:
    violations = check("later", make_report_with_later_work(cited_in)).violations
    assert any("P77 of 2031-01-01 is after the cutoff" in violation for violation in violations) == wrong
