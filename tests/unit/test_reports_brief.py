"""Briefs as PDF: two pages whatever the report holds, words that can be copied, nothing of which comes from outside."""

import re
from pathlib import Path

import pypdfium2
import pytest
from typer.testing import CliRunner

from assayer.models import Absent, Report
from assayer.reports.brief import BRIEF_SIZES, build_brief
from assayer.reports.escaping import get_safe_url
from assayer.reports.pdf import count_pages, render_brief_pdf
from cluster.cli.main import app
from tests.unit.reports_fixture import make_full_report
from tests.unit.reports_hostile import make_hostile_report


def read_text(pdf: bytes) -> str:
    document = pypdfium2.PdfDocument(pdf)
    try:
        return " ".join(" ".join(page.get_textpage().get_text_range() for page in document).split())
    finally:
        document.close()


def replace_title(report: Report, title: str) -> Report:
    return report.model_copy(update={"idea": report.idea.model_copy(update={"title": title})})


def test_brief_shows_no_marks_of_markdown() -> None:
    report = make_full_report()
    point = report.summary.strengths[0].model_copy(
        update={"text": "# Research Plan We ask … ## Problem **Drift**: it costs 2 ** 3 and x**2. **It grows.**"}
    )
    marked_report = report.model_copy(update={"summary": report.summary.model_copy(update={"strengths": (point,)})})
    (strengths, *_) = build_brief(marked_report).groups
    assert strengths.points[0].text == "Research Plan We ask … Problem Drift: it costs 2 ** 3 and x**2. It grows."


def test_brief_contains_report_content_as_copyable_text() -> None:
    report = make_full_report()
    pdf = render_brief_pdf(report)
    assert count_pages(pdf) <= 2
    text = read_text(pdf)
    assert report.idea.title in text
    assert report.idea.text[:60] not in text
    for point in (*report.summary.strengths, *report.summary.weaknesses):
        assert point.text[:40] in text
    assert "no score: the budget was spent" in text
    assert "not found in the source" in text
    assert report.provenance.corpus_version in text


def test_brief_pdf_has_title_language_and_accessible_structure() -> None:
    pdf = render_brief_pdf(make_full_report())
    document = pypdfium2.PdfDocument(pdf)
    assert document.get_metadata_value("Title") == make_full_report().idea.title
    document.close()
    assert b"/Lang (en)" in pdf or b"/Lang(en)" in pdf
    assert b"/StructTreeRoot" in pdf


def test_the_same_report_gives_the_same_pdf() -> None:
    assert render_brief_pdf(make_full_report()) == render_brief_pdf(make_full_report())


def test_greek_and_cyrillic_text_is_printed() -> None:
    assert "Ωκεανός και Океан" in read_text(render_brief_pdf(replace_title(make_full_report(), "Ωκεανός και Океан")))


def test_overlong_report_still_fits_two_pages() -> None:
    report = make_full_report()
    point = report.summary.weaknesses[0]
    long = point.model_copy(update={"text": "It rests on very little, and says so at length. " * 60})
    summary = report.summary.model_copy(
        update={"strengths": (long,) * 20, "weaknesses": (long,) * 20, "suggestions": (long,) * 20}
    )
    notices = tuple(notice.model_copy(update={"text": "Look closely at this. " * 100}) for notice in report.notices)
    pdf = render_brief_pdf(report.model_copy(update={"summary": summary, "notices": notices}))
    assert count_pages(pdf) == 2
    assert "more in the full report" in read_text(pdf)


def test_hostile_text_is_printed_literally_without_scripts_or_links() -> None:
    report = replace_title(
        make_hostile_report(), '#eval("1+1") $x$ *bold* @label <tag> #sys.inputs https://evil.example'
    )
    pdf = render_brief_pdf(report)
    assert count_pages(pdf) <= 2
    assert '#eval("1+1") $x$ *bold*' in read_text(pdf)
    assert b"/JavaScript" not in pdf
    assert b"/Launch" not in pdf
    allowed = {reference.url for reference in report.references if get_safe_url(reference.url)}
    assert {address.decode() for address in re.findall(rb"/URI ?\(([^)]*)\)", pdf)} <= allowed


def test_brief_states_missing_total_score_and_unknown_corpus_fit() -> None:
    brief = build_brief(make_full_report().model_copy(update={"parts": ()}), BRIEF_SIZES[-1])
    assert (brief.score.name, brief.score.share) == ("No total score", None)
    fit = make_full_report().coverage.model_copy(update={"corpus_fit": Absent(reason="nobody measured it")})
    assert (
        build_brief(make_full_report().model_copy(update={"coverage": fit})).facts[0].text
        == "unknown: nobody measured it"
    )


def test_brief_command_writes_pdf_from_json_report(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(make_full_report().model_dump_json())
    run = CliRunner().invoke(app, ["brief", str(tmp_path / "one.json"), "--out", str(tmp_path / "pdf")])
    assert run.exit_code == 0, run.output
    assert run.stdout == f"{tmp_path}/pdf/one.pdf\n"
    assert (tmp_path / "pdf" / "one.pdf").read_bytes().startswith(b"%PDF-")


def test_brief_command_rejects_file_that_is_not_a_report(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text("{}")
    with pytest.raises(Exception, match="is not an assayer report"):
        CliRunner().invoke(app, ["brief", str(tmp_path / "one.json")], catch_exceptions=False)
