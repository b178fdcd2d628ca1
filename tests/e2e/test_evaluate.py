"""Evaluations from idea to report: without and with a language model, with a cutoff, with a budget."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import jsonschema

from tests.e2e.evaluations import TWO_IDEAS, BareRun, Evaluated
from tests.e2e.program import ROOT, find_violations, read_comparable_reports, read_reports

"""Both files look at the evaluation of that name."""

NAMES = ["coral-acoustics", "pairwise-idea-ranking", "quote-then-abstain"]


def _list_notice_kinds(report: dict[str, list[dict[str, str]]]) -> list[str]:
    return [notice["kind"] for notice in report["notices"]]


def _validate(folder: Path) -> None:
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text("utf-8"))
    for report in read_reports(folder).values():
        jsonschema.Draft202012Validator(schema).validate(report)


def test_ideas_without_llm_get_reports_in_every_format(bare_run: BareRun) -> None:
    assert (bare_run.first.code, bare_run.first.err) == (0, "")
    files = sorted(file.name for file in bare_run.program.out.iterdir())
    assert files == [f"{name}.{kind}" for name in NAMES for kind in ("html", "json", "md")]
    for name in NAMES:
        assert f"out/{name}.html" in bare_run.first.out
    _validate(bare_run.program.out)
    assert find_violations(bare_run.program.out, expected=3) == ""


def test_reports_without_llm_state_it_first_and_show_closest_papers(bare_run: BareRun) -> None:
    assert "Made without a language model" in bare_run.first.out
    assert "Close paper, not judged: [P1]" in bare_run.first.out
    assert "Limitations quoted" in bare_run.first.out
    assert "Release" not in bare_run.first.out
    for name, report in read_reports(bare_run.program.out).items():
        assert _list_notice_kinds(report)[:2] == (
            ["example", "no_llm"] if report["references"] else ["no_llm", "corpus_fit"]
        )
        assert report["provenance"]["models"] == []
        assert report["coverage"]["llm_requests"] == report["usage"]["llm_requests_paid"] == 0
        for kind in ("html", "md"):
            text = (bare_run.program.out / f"{name}.{kind}").read_text("utf-8")
            assert "without a language model" in text


def test_ideas_within_corpus_field_get_evidence_without_llm(bare_run: BareRun) -> None:
    for name in NAMES[1:]:
        report = read_reports(bare_run.program.out)[name]
        assert report["coverage"]["corpus_fit"]["level"] == "good"
        assert len(report["references"]) >= 10
        assert report["coverage"]["quotes_verified"] >= 10
        assert (report["parts"], report["verdict"]) == ([], None)
        assert report["evidence"]["closest_passages"]
        assert report["evidence"]["limitations"]
        assert report["evidence"]["not_stated"] is None


def test_idea_outside_corpus_field_gets_neither_references_nor_closest_papers(bare_run: BareRun) -> None:
    report = read_reports(bare_run.program.out)["coral-acoustics"]
    assert report["coverage"]["corpus_fit"]["level"] == "poor"
    assert _list_notice_kinds(report) == ["no_llm", "corpus_fit"]
    assert report["references"] == []
    assert report["evidence"]["closest_passages"] == []


def test_second_run_gives_the_same_reports_except_usage(bare_run: BareRun) -> None:
    again = read_comparable_reports(bare_run.program.home / "again")
    assert again == {
        name: report for name, report in read_comparable_reports(bare_run.program.out).items() if name in again
    }


def test_unusable_files_do_not_stop_evaluation_of_valid_files(bare_run: BareRun) -> None:
    assert bare_run.again.code == 1
    assert bare_run.again.err.splitlines() == [
        "No report: empty.txt is empty. An idea needs a problem, a method and a way to test it, in words.",
        "No report: binary.md is not text: it contains binary data. Use plain text, Markdown, JSON or PDF.",
        "No report: nowhere.txt does not exist.",
    ]
    assert [file.name for file in (bare_run.program.home / "again").iterdir()] == [f"{TWO_IDEAS[0].stem}.json"]


def test_ideas_with_llm_get_cited_reports_that_pass_every_check(undisturbed_run: Evaluated) -> None:
    assert (undisturbed_run.ended.code, undisturbed_run.ended.err) == (0, "")
    _validate(undisturbed_run.program.out)
    assert find_violations(undisturbed_run.program.out, expected=2) == ""
    for report in read_reports(undisturbed_run.program.out).values():
        # Full texts of the example corpus are of no known day.
        expected = ["example", *(["undated_version"] if report["cutoff"] else [])]
        assert _list_notice_kinds(report) == expected, report["notices"]
        assert report["provenance"]["models"] == ["simulated"]
        assert len(report["references"]) >= 6  # how many, the simulator draws
        assert all("value" in part["score"] for part in report["parts"])


def test_every_answer_that_was_paid_is_accounted_for_once(undisturbed_run: Evaluated) -> None:
    stats, reports = undisturbed_run.stats, list(read_reports(undisturbed_run.program.out).values())
    assert stats.repeated_answers == 0
    assert sum(item["coverage"]["llm_requests"] for item in reports) == stats.answered == stats.requests
    assert sum(item["usage"]["llm_requests_paid"] for item in reports) == stats.answered
    assert sum(item["provenance"]["prompt_tokens"] for item in reports) == stats.prompt_tokens
    assert sum(item["provenance"]["completion_tokens"] for item in reports) == stats.completion_tokens
    assert all(item["coverage"]["faults"] == [] for item in reports)


def _find_citations_with_further_quotes(value: Any) -> list[dict[str, Any]]:
    """Return all citations within the value that have further quotes."""
    if isinstance(value, list):
        return [citation for item in value for citation in _find_citations_with_further_quotes(item)]
    if not isinstance(value, dict):
        return []
    below = [citation for item in value.values() for citation in _find_citations_with_further_quotes(item)]
    return [value, *below] if value.get("further") else below


def test_further_quotes_are_printed_on_page_and_verified_by_checker(undisturbed_run: Evaluated, tmp_path: Path) -> None:
    citations_by_report = {
        name: _find_citations_with_further_quotes(item)
        for name, item in read_reports(undisturbed_run.program.out).items()
    }
    name = max(citations_by_report, key=lambda item: len(citations_by_report[item]))
    assert citations_by_report[name]
    page = (undisturbed_run.program.out / f"{name}.html").read_text("utf-8")
    for cited in citations_by_report[name]:
        assert cited["quote_state"] == "verified"
        for item in cited["further"]:
            words = re.findall(r"\w+", item["quote"])
            assert " ".join(words) in " ".join(re.findall(r"\w+", unescape(page)))
    report = read_reports(undisturbed_run.program.out)[name]
    (tmp_path / "report.json").write_text(json.dumps(report), "utf-8")
    assert find_violations(tmp_path, expected=1) == ""
    planted = "Words of this kind stand in no paper of the example corpus at all."
    _find_citations_with_further_quotes(report)[-1]["further"][0]["quote"] = planted
    (tmp_path / "report.json").write_text(json.dumps(report), "utf-8")
    assert f"a verified quote is not in {_find_citations_with_further_quotes(report)[-1]['label']}: {planted[:20]!r}"[
        :-1
    ] in find_violations(tmp_path, expected=1)


def test_pages_name_every_reference(undisturbed_run: Evaluated) -> None:
    for name, report in read_reports(undisturbed_run.program.out).items():
        for kind in ("html", "md"):
            text = (undisturbed_run.program.out / f"{name}.{kind}").read_text("utf-8")
            assert [item["url"] for item in report["references"] if item["url"] not in text] == []
            assert kind == "html" or len(text.split()) <= 5_000


def test_cutoff_keeps_newer_papers_out_of_every_report(dated_run: Evaluated, undisturbed_run: Evaluated) -> None:
    assert (dated_run.ended.code, dated_run.ended.err) == (0, "")
    assert find_violations(dated_run.program.out, expected=2) == ""
    free = read_reports(undisturbed_run.program.out)
    for name, report in read_reports(dated_run.program.out).items():
        # One of the two has a later cutoff of its own.
        assert report["cutoff"] == "2022-12-31"
        assert len(report["references"]) >= 5
        assert max(item["publication_date"] for item in report["references"]) <= "2022-12-31"
        assert max(item["publication_date"] for item in free[name]["references"]) > "2022-12-31"


def test_idea_keeps_its_own_cutoff(undisturbed_run: Evaluated) -> None:
    reports = read_reports(undisturbed_run.program.out)
    assert reports["quote-then-abstain"]["cutoff"] is None
    assert reports["pairwise-idea-ranking"]["cutoff"] == "2025-06-30"


def test_exhausted_budget_produces_partial_report(budgeted_run: Evaluated) -> None:
    result, program, stats = budgeted_run
    assert (result.code, result.err) == (0, "")
    assert find_violations(program.out, expected=1) == ""
    (report,) = read_reports(program.out).values()
    assert _list_notice_kinds(report)[:2] == ["example", "budget"]
    assert "60000" in report["notices"][1]["text"]
    assert "60000" in result.out
    # Reserved beforehand, so that calls in flight cannot pass the limit together.
    assert 40_000 <= stats.prompt_tokens <= 60_000
    assert report["provenance"]["prompt_tokens"] == stats.prompt_tokens
    assert report["references"]
    lost = [item for item in report["coverage"]["dropped"] if item["reason"] == "the budget was spent"]
    assert sum(item["count"] for item in lost) >= 1
