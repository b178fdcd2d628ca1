"""The HTML page: complete, escaped, self-contained, and honest about what is absent."""

import base64
import hashlib
import re
from collections.abc import Iterator
from functools import cache

import pytest

from assayer.models import Absent, Frozen, Reading, Report
from assayer.reports.escaping import get_safe_url, join_lines
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from tests.unit.reports_document import Document, collapse_spaces
from tests.unit.reports_fixture import make_full_report
from tests.unit.reports_hostile import ADDRESSES, make_hostile_report


@cache
def render_page(is_hostile: bool = False) -> Document:
    return Document(render_html(make_hostile_report() if is_hostile else make_full_report()))


def iterate_texts(value: object) -> Iterator[str]:
    """Yield every free text of the report, which a reader must be able to find; the idea is the reader's own, and
    readings without a stance say nothing."""
    if isinstance(value, Frozen):
        for name in type(value).model_fields:
            field_value = getattr(value, name)
            if isinstance(field_value, str) and name in {
                "title",
                "text",
                "statement",
                "basis",
                "reason",
                "criterion",
                "quote",
            }:
                yield field_value
            elif name != "idea":
                yield from iterate_texts(field_value)
    elif isinstance(value, tuple):
        for item in value:
            if not (isinstance(item, Reading) and item.stance is None):
                yield from iterate_texts(item)


@pytest.mark.parametrize("report", [make_full_report(), make_hostile_report()], ids=["full", "hostile"])
def test_page_shows_every_text_of_report(report: Report) -> None:
    page_text = re.sub(r"\s|[\[\],]", "", Document(render_html(report)).text)
    missing_texts = [
        text for text in iterate_texts(report) if re.sub(r"\s|[\[\],]", "", join_lines(text)) not in page_text
    ]
    assert missing_texts == []


def test_hostile_report_adds_no_unexpected_elements() -> None:
    # Fewer links: addresses that are none stay text, and an attack's `[P1]` in a text is a label like any other.
    assert set(render_page(is_hostile=True).tags) == set(render_page().tags) | {"code"}
    assert not set(render_page(is_hostile=True).tags) & {"script", "img", "iframe", "link", "object", "form", "base"}
    assert not [name for name in render_page(is_hostile=True).attributes if name.startswith("on") or name == "style"]


def test_links_of_hostile_report_are_internal_or_plain_web_urls() -> None:
    outside = {link for link in render_page(is_hostile=True).links if not link.startswith("#")}
    assert outside == {"https://papers.example.org/fine?a=1&b=2#c"}


def test_internal_links_resolve_to_unique_elements() -> None:
    for page in (render_page(), render_page(is_hostile=True)):
        assert len(page.ids) == len(set(page.ids))
        assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


@pytest.mark.parametrize("url", ADDRESSES[:-1])
def test_non_web_url_is_rejected_as_link(url: str) -> None:
    assert get_safe_url(url) is None


def test_content_security_policy_allows_only_the_page_style() -> None:
    digest = base64.b64encode(hashlib.sha256(render_page().style.encode()).digest()).decode()
    policy = render_page().meta["Content-Security-Policy"]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_notices_precede_summary() -> None:
    text = render_page().text
    places = [text.index(collapse_spaces(notice.text)) for notice in make_full_report().notices]
    assert places == sorted(places)
    assert places[-1] < text.index("Summary", places[-1]) < text.index("Strengths")


def test_absent_score_is_shown_with_its_reason_and_never_as_a_number() -> None:
    report = make_full_report()
    reason = "the model gave no valid review"
    absent_score = Absent(reason=reason)
    part = report.parts[0].model_copy(
        update={
            "score": absent_score,
            "assessments": tuple(
                assessment.model_copy(update={"score": absent_score}) for assessment in report.parts[0].assessments
            ),
        }
    )
    page = render_html(report.model_copy(update={"parts": (part,)}))
    assert reason in page
    assert 'class="value"' not in page
    assert '<circle class="dot"' not in page
    assert 'aria-label="No score"' in page


def test_unknown_reference_label_is_not_linked() -> None:
    report = make_full_report()
    point = report.summary.strengths[0].model_copy(update={"text": "Nobody knows [P99] or [P2, P77].", "citations": ()})
    summary = report.summary.model_copy(update={"strengths": (point,)})
    page = render_html(report.model_copy(update={"summary": summary}))
    assert 'Nobody knows [P99] or <a class="cite" href="#ref-P2"' in page
    assert "[P77]." in page


def test_quote_not_found_is_marked_next_to_its_text() -> None:
    assert "on every stream ✗ not found in the source" in render_page().text
    assert "Unverified: none of its quotes was found in the sources." in render_page().text


def test_bidi_control_characters_are_removed_from_page() -> None:
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00]", render_html(make_hostile_report()))


def test_quoted_passage_is_printed_once_under_its_paper() -> None:
    report = make_full_report()
    quotes = {
        citation.quote
        for part in report.parts
        for assessment in part.assessments
        for point in assessment.points
        for citation in point.citations
        if citation.quote_state == "verified" and citation.quote
    }
    assert len(quotes) > 4
    for page in (render_page().text, render_report_markdown(report)):
        assert [quote for quote in quotes if page.count(quote) != 1] == []


def test_shared_reason_for_missing_scores_appears_once_in_summary() -> None:
    report = make_full_report()
    absent_score = Absent(reason="nothing was found")
    assessments = tuple(
        assessment.model_copy(update={"score": absent_score, "points": (), "readings": ()})
        for assessment in report.parts[0].assessments
    )
    part = report.parts[0].model_copy(update={"assessments": assessments})
    summary = Document(render_html(report.model_copy(update={"parts": (part,)}))).text.partition("Strengths")[0]
    assert summary.count("nothing was found") == 1
    assert "No score for 4: nothing was found" in summary
