"""Source section of a page: requests, missing answers, and retraction notices."""

import datetime as dt

from assayer.models import FieldOrigin, Report, Retraction, SourceFailure, SourceUse
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from tests.unit.reports_document import Document
from tests.unit.reports_fixture import make_full_report
from tests.unit.reports_hostile import ATTACK

NOTICE = Retraction(
    kind="retracted", source="crossref", notice="https://doi.example.org/10.1000/notice", date=dt.date(2024, 2, 1)
)


def make_report(retraction: Retraction | None = NOTICE) -> Report:
    report = make_full_report()
    uncited, cited, *other_references = report.references
    origins = (
        FieldOrigin(field="abstract", source="arxiv"),
        FieldOrigin(field="citation_count", source="openalex"),
        FieldOrigin(field="venue", source="arxiv"),
    )
    marked_reference = cited.model_copy(update={"retraction": retraction, "origins": origins})
    coverage = report.coverage.model_copy(
        update={
            "sources": (SourceUse(source="arxiv", operation="search", requests=41, results=23, cached=17),),
            "source_failures": (
                SourceFailure(source="openalex", operation="references", reason="a source was down", requests=3),
            ),
        }
    )
    return report.model_copy(
        update={"references": (uncited, marked_reference, *other_references), "coverage": coverage}
    )


def test_exactly_the_citations_of_retracted_papers_are_marked() -> None:
    report = make_report()
    label = report.references[1].label
    html, markdown = render_html(report), render_report_markdown(report)
    assert html.count(f'href="#ref-{label}"') == html.count(f">{label}, retracted</a>") > 2
    assert html.count(", retracted</a>") == html.count('class="cite retracted"') == html.count(f">{label}, retracted<")
    body = markdown.split("## Evidence")[0]
    assert body.count(f"[{label}]") == body.count(f"[{label}] **(retracted)**") == body.count("**(retracted)**") > 2


def test_reference_shows_retraction_source_date_and_notice() -> None:
    for page in (render_html(make_report()), render_report_markdown(make_report())):
        assert "Retracted on 2024-02-01, according to Crossref" in page
        assert "https://doi.example.org/10.1000/notice" in page


def test_reference_shows_source_of_each_field() -> None:
    for page in (render_html(make_report()), render_report_markdown(make_report())):
        assert "abstract, venue from arxiv; citation count from openalex" in page


def test_hostile_retraction_notice_is_escaped() -> None:
    page = Document(
        render_html(make_report(Retraction(kind="retracted", source="x", notice="javascript:alert(1)" + ATTACK)))
    )
    assert not set(page.tags) & {"script", "img"}
    assert not [link for link in page.links if link.startswith("javascript")]


def test_coverage_box_counts_cache_hits_and_lists_unanswered_requests() -> None:
    row = "| arxiv | paper search | 41 | 17 | 23 |"
    assert row in render_report_markdown(make_report())
    assert "| openalex | cited papers | 3 | a source was down |" in render_report_markdown(make_report())
    text = Document(render_html(make_report())).text
    assert "a source was down" in text
    assert "Sources that did not answer" in text
