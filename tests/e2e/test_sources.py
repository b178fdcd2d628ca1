"""Evaluations that look beyond the corpus: every source is used, accounted for, and missed when it is gone."""

import json
from typing import Any

import jsonschema
import pytest

from simulator.outside.library import Library
from simulator.outside.sample import SAMPLE
from tests.e2e.evaluations import TWO_IDEAS, ToppedUpRuns
from tests.e2e.program import ROOT, Report, read_reports

pytestmark = pytest.mark.slow

SOURCES = {"semantic_scholar", "arxiv", "openalex", "crossref"}


def _list_queried_sources(report: Report) -> set[str]:
    return {item["source"] for item in report["coverage"]["sources"]}


def _list_remote_references(report: Report) -> list[dict[str, Any]]:
    return [reference for reference in report["references"] if reference["source"] != "corpus"]


def test_every_source_is_used_and_papers_from_outside_the_corpus_are_cited(topped_up_runs: ToppedUpRuns) -> None:
    assert (topped_up_runs.first.code, topped_up_runs.first.err) == (0, "")
    reports = read_reports(topped_up_runs.program.out)
    assert set.union(*map(_list_queried_sources, reports.values())) >= {*SOURCES, "corpus"}
    assert all(item["coverage"]["source_failures"] == [] for item in reports.values())
    assert any(map(_list_remote_references, reports.values()))
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text("utf-8"))
    for report in reports.values():
        jsonschema.Draft202012Validator(schema).validate(report)


def test_coverage_box_counts_the_requests_that_the_services_saw(topped_up_runs: ToppedUpRuns) -> None:
    uses = [
        item for report in read_reports(topped_up_runs.program.out).values() for item in report["coverage"]["sources"]
    ]
    for source in SOURCES:
        sent_count = sum(use["requests"] - use["cached"] for use in uses if use["source"] == source)
        assert sent_count == topped_up_runs.stats[source].requests
        assert topped_up_runs.stats[source].repeated == 0


def test_full_texts_from_outside_the_corpus_are_read(topped_up_runs: ToppedUpRuns) -> None:
    uses = [
        item for report in read_reports(topped_up_runs.program.out).values() for item in report["coverage"]["sources"]
    ]
    fetches = [use for use in uses if use["operation"] == "full_texts" and use["source"] != "corpus"]
    assert sum(item["results"] for item in fetches) >= 1
    assert topped_up_runs.stats["files"].by_status["200"] >= 1


def test_papers_from_outside_the_corpus_respect_cutoff(topped_up_runs: ToppedUpRuns) -> None:
    for report in read_reports(topped_up_runs.program.out).values():
        if report["cutoff"]:
            assert all((item["publication_date"] or "9") <= report["cutoff"] for item in report["references"])


def test_cited_papers_are_marked_as_retracted_exactly_where_a_notice_exists(topped_up_runs: ToppedUpRuns) -> None:
    library = Library(SAMPLE)
    cited = [
        item for report in read_reports(topped_up_runs.program.out).values() for item in _list_remote_references(report)
    ]
    known = [(item, library.by_s2.get(item["id"].removeprefix("s2:"))) for item in cited]
    checked = [(item, entry) for item, entry in known if entry is not None and entry.doi]
    assert checked
    for item, entry in checked:
        assert (item["retraction"] is not None) == (entry.notice is not None)
    for name, report in read_reports(topped_up_runs.program.out).items():
        page = (topped_up_runs.program.out / f"{name}.html").read_text("utf-8")
        marked = [item["label"] for item in report["references"] if item["retraction"]]
        assert all(f'<a class="cite retracted" href="#ref-{label}"' in page for label in marked)


def test_reference_list_of_proposal_is_checked_in_every_source(topped_up_runs: ToppedUpRuns) -> None:
    reports = read_reports(topped_up_runs.program.out)
    (own,) = [item["own_references"] for item in reports.values() if item["own_references"]]
    assert [item["outcome"] for item in own["entries"]] == ["found", "differs", "not_found"]
    assert own["entries"][2]["sources_answered"] == ["corpus", "crossref", "openalex", "semantic_scholar"]
    page = (topped_up_runs.program.out / f"{TWO_IDEAS[0].stem}.html").read_text("utf-8")
    assert "not found in the corpus, Crossref, OpenAlex and Semantic Scholar" in page


def test_failed_sources_are_reported_and_other_sources_still_used(topped_up_runs: ToppedUpRuns) -> None:
    assert topped_up_runs.second.code == 0
    assert all("keeps failing" in line for line in topped_up_runs.second.err.splitlines())
    (report,) = read_reports(topped_up_runs.program.home / "second").values()
    reasons = {(item["source"], item["reason"]) for item in report["coverage"]["source_failures"]}
    assert reasons >= {
        ("arxiv", "a source was down"),
        ("openalex", "a source's answer could not be read"),
    }
    assert "semantic_scholar" in _list_queried_sources(report)
    assert not {"arxiv", "openalex"} & {item["source"] for item in report["references"]}
