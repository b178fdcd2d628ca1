"""The HTML page in a real browser: quiet, self-contained, readable in both schemes, usable by keyboard."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from assayer.reports.html import render_html
from tests.contract.page_contrast import POOR_CONTRASTS
from tests.unit.reports_fixture import make_full_report
from tests.unit.reports_hostile import make_hostile_report
from tests.unit.scicompanion_world import evaluate_idea, make_twin_backends


class OpenedReport(NamedTuple):
    page: Page
    complaints: list[str]
    """Console messages and errors of the page, violations of its policy among them."""
    requests: list[str]


def _open(browser: Browser, file: Path, html: str, **options: Any) -> OpenedReport:
    file.write_text(html, encoding="utf-8")
    page = browser.new_context(**options).new_page()
    opened_page = OpenedReport(page, [], [])
    page.on("console", lambda message: opened_page.complaints.append(message.text))
    page.on("pageerror", lambda error: opened_page.complaints.append(str(error)))
    page.on("dialog", lambda dialog: opened_page.complaints.append(f"dialog: {dialog.message}"))
    page.on("request", lambda request: opened_page.requests.append(request.url))
    page.goto(file.as_uri())
    return opened_page


@pytest.fixture
def opened_report(browser: Browser, tmp_path: Path) -> Iterator[OpenedReport]:
    report_page = _open(browser, tmp_path / "report.html", render_html(make_full_report()))
    yield report_page
    report_page.page.context.close()


def test_page_opened_from_file_loads_without_errors_or_other_requests(
    opened_report: OpenedReport, tmp_path: Path
) -> None:
    assert opened_report.complaints == []
    assert opened_report.requests == [(tmp_path / "report.html").as_uri()]


def test_hostile_report_page_runs_nothing_and_requests_nothing(browser: Browser, tmp_path: Path) -> None:
    hostile_page = _open(browser, tmp_path / "hostile.html", render_html(make_hostile_report()))
    hostile_page.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert hostile_page.complaints == []
    assert hostile_page.requests == [(tmp_path / "hostile.html").as_uri()]
    assert hostile_page.page.title().endswith("· assayer")
    hostile_page.page.context.close()


def test_style_sheet_is_allowed_by_content_security_policy(opened_report: OpenedReport) -> None:
    assert opened_report.page.evaluate("getComputedStyle(document.querySelector('.cite')).borderRadius") == "4px"


def test_clicked_citation_label_jumps_to_its_reference(opened_report: OpenedReport) -> None:
    opened_report.page.locator("#summary .points a.cite", has_text="P7").first.click()
    assert opened_report.page.url.endswith("#ref-P7")
    expect(opened_report.page.locator("#ref-P7")).to_be_in_viewport()
    assert "A critical look at forgetting benchmarks" in opened_report.page.locator(":target").inner_text()


def test_assessment_opens_by_keyboard(opened_report: OpenedReport) -> None:
    part = opened_report.page.locator("#part-1-1")
    statement = part.locator(".statement")
    expect(statement).to_be_hidden()
    part.locator("summary").first.focus()
    opened_report.page.keyboard.press("Enter")
    expect(statement).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(browser: Browser, tmp_path: Path, scheme: str) -> None:
    dark_page = _open(browser, tmp_path / "report.html", render_html(make_full_report()), color_scheme=scheme)
    assert dark_page.page.evaluate(POOR_CONTRASTS) == []
    dark_page.page.context.close()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_page_never_scrolls_horizontally_at_any_width(browser: Browser, tmp_path: Path, width: int) -> None:
    for name, report in (("full", make_full_report()), ("hostile", make_hostile_report())):
        narrow_page = _open(
            browser, tmp_path / f"{name}.html", render_html(report), viewport={"width": width, "height": 800}
        )
        narrow_page.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert narrow_page.page.evaluate("document.documentElement.scrollWidth") <= width, name
        narrow_page.page.context.close()


def test_printed_page_shows_collapsed_content(opened_report: OpenedReport) -> None:
    opened_report.page.emulate_media(media="print")
    box = opened_report.page.locator("#part-2-1 .statement").bounding_box()
    assert box is not None
    assert box["height"] > 10
    assert opened_report.page.locator("nav.contents").is_hidden()


@pytest.fixture
def graph_page(browser: Browser, tmp_path: Path) -> Iterator[OpenedReport]:
    with ThreadPoolExecutor(1) as thread:  # Playwright's own loop runs in this one
        evaluation, _ = thread.submit(lambda: asyncio.run(evaluate_idea(make_twin_backends()[0]))).result()
    graph_view = _open(
        browser, tmp_path / "graph.html", render_html(evaluation.report), viewport={"width": 390, "height": 800}
    )
    yield graph_view
    graph_view.page.context.close()


def test_graph_steps_are_navigable_by_buttons_and_keys_without_script(graph_page: OpenedReport) -> None:
    page = graph_page.page
    entries = page.locator(".notebook .entry:visible")
    expect(entries).to_contain_text("Step 3")
    page.get_by_text("After step 1", exact=True).click()
    expect(entries).to_have_count(1)
    expect(entries).to_contain_text("Step 1")
    first = page.locator(".network .knot:visible").count()
    page.keyboard.press("ArrowRight")
    expect(entries).to_contain_text("Step 2")
    assert page.locator(".network .knot:visible").count() > first
    assert graph_page.complaints == []


def test_graph_links_have_targets_on_the_page(graph_page: OpenedReport) -> None:
    page = graph_page.page
    for link in page.locator(".network a").all():
        target = link.get_attribute("href")
        assert target
        assert page.locator(f"[id='{target[1:]}']").count() == 1, target
    assert page.evaluate("document.documentElement.scrollWidth") == 390
