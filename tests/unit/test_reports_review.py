"""A panel's review on the page: complete, once, escaped, and honest about what it rests on."""

import re
from collections.abc import Callable
from functools import cache

import pytest
from markdown_it import MarkdownIt

from assayer.reports.brief import build_brief
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from assayer.reports.pdf import count_pages, render_brief_pdf
from benchmarks.quality.report_text import extract_judgement
from tests.unit.reports_document import Document
from tests.unit.reports_review import make_hostile_review_report, make_review_report


@cache
def render_html_page(is_hostile: bool = False) -> Document:
    return Document(render_html(make_hostile_review_report() if is_hostile else make_review_report()))


@cache
def render_markdown_page(is_hostile: bool = False) -> Document:
    text = render_report_markdown(make_hostile_review_report() if is_hostile else make_review_report())
    renderer = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return Document(renderer.render(text).replace("<br />", "<br>"))


@pytest.mark.parametrize("page", [render_html_page, render_markdown_page], ids=["html", "markdown"])
def test_page_shows_each_text_of_the_review_once(page: Callable[..., Document]) -> None:
    text = page().text
    review = make_review_report().panel_review
    assert review is not None
    for _, finding in review.numbered:
        assert text.count(finding.text) == 1
    assert text.count(review.verdict) == 1
    assert text.count("distance to the incoming batch") == 1
    assert text.count("Rehearsal by loss is known; the distance is new.") == 1
    assert text.count("Forgetting is averaged over unequal domains.") == 1
    assert text.count("We report average accuracy and forgetting.") == 1


def test_findings_show_their_evidence_basis() -> None:
    raw = render_report_markdown(make_review_report())
    weakness = r"^- W1\. \*\*One order of domains\.\*\* \*\(fatal\)\* .+ \*Run ten orders\.\*"
    evidence = r".+, \d{4} \[P7\]: finds other orders\."
    assert re.search(rf"{weakness} {evidence} \(Robins 1995°\)$", raw, re.M)
    assert re.search(r"^- F1\. How often is the index asked\?$", raw, re.M)
    assert "All others are the panel's own judgement." in raw
    assert "- Robins 1995°, *Rehearsal in any order*. Already does it: ran ten orders." in raw
    assert re.search(r"^- No passage of the plan is quoted for .*\bF1\b", raw, re.M)


def test_passages_are_listed_under_paper_with_relation() -> None:
    raw = render_report_markdown(make_review_report())
    entry = raw.partition('<a id="p3"></a>')[2].partition("\n- <a id")[0]
    assert "Supports the point: halves forgetting." in entry
    assert "Already has what is claimed as new: ranks by loss." in entry


def test_idea_is_not_printed_again() -> None:
    report = make_review_report()
    for page in (render_report_markdown(report), render_html(report)):
        assert "retrieved from an on-disk" not in page


@pytest.mark.parametrize("page", [render_html_page, render_markdown_page], ids=["html", "markdown"])
def test_hostile_review_adds_no_elements(page: Callable[..., Document]) -> None:
    assert set(page(True).tags) <= set(page().tags) | {"code"}
    assert set(page(True).attributes) <= set(page().attributes)
    assert not set(page(True).tags) & {"script", "img", "iframe"}


def test_internal_links_resolve_to_unique_elements() -> None:
    for page in (render_html_page(), render_html_page(is_hostile=True)):
        assert len(page.ids) == len(set(page.ids))
        assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_brief_groups_review_findings_within_two_pages() -> None:
    report = make_review_report()
    brief = build_brief(report)
    assert report.panel_review is not None
    assert brief.verdict == report.panel_review.verdict
    assert [group.title for group in brief.groups] == [
        "Strengths",
        "New against earlier work",
        "Likely outcome and feasibility",
        "Major weaknesses",
        "A stronger study",
        "Further points and questions",
        "Closest work",
        "Named by the panel from memory, not found in the sources searched: check before relying on them",
    ]
    assert [(quote.name, quote.text) for quote in brief.groups[3].points[0].quotes] == [("P7", "finds other orders")]
    assert count_pages(render_brief_pdf(report)) <= 2


def test_judgement_text_contains_each_finding_once() -> None:
    text = extract_judgement(make_review_report())
    review = make_review_report().panel_review
    assert review is not None
    for _, finding in review.numbered:
        assert text.count(finding.text) == 1
    assert "**One order of domains.** *(fatal)* With one fixed order" in text
    assert "## Evidence" not in text
    assert "# In short" not in text
