"""Calls, tables, proposals, comparisons and plots of the console, as pages over HTTP and in a browser."""

import html
import re

import pytest

from orchestrator.console.drawing import build_histogram, summarise_over_time
from orchestrator.jobs.models import BatchId, TenantPlan
from orchestrator.store.call_tables import TableView
from tests.contract.api.browsing import EACH_LOOK, Look, look_over, open_and_check, open_console
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.evaluated_calls import NO_SCORE_REASON, TITLES, call_with_reports
from tests.contract.api.people import add_person
from tests.contract.api.service import ACME, TEXT, Service


async def test_table_sorts_missing_scores_last_with_reasons(service: Service) -> None:
    batch = await call_with_reports(service)
    tables = service.services.tables
    for down in (True, False):
        page = await tables.get_page(ACME, BatchId(batch), TableView(sort="score", down=down))
        scores = [row.figures.score if row.figures else None for row in page.rows]
        assert scores[2:] == [None, None]
        assert scores[:2] == ([0.7, 0.25] if down else [0.25, 0.7])
        by_part = await tables.get_page(ACME, BatchId(batch), TableView(sort="part:soundness", down=down))
        assert [row.id for row in by_part.rows[:2]] == [row.id for row in page.rows[:2]]
    unscored = next(row for row in page.rows if row.outcome == "unscored")
    assert unscored.figures is not None
    assert unscored.figures.reason == unscored.figures.parts[0].reason == NO_SCORE_REASON
    assert await tables.count_by_outcome(ACME, BatchId(batch)) == {"full": 2, "unscored": 1, "failed": 1}


@pytest.mark.parametrize(
    ("view", "titles"),
    [
        (TableView(q="SLAG"), ["Ore from slag"]),
        (TableView(q="smelt"), list(TITLES[:3])),
        (TableView(outcome=("failed", "unscored")), list(TITLES[2:])),
        (TableView(fit=("poor",)), [TITLES[2]]),
        (TableView(flagged=True), []),
        (TableView(page=2), []),
        (TableView(q="%"), []),
        (TableView(sort="title", down=True), sorted(TITLES, reverse=True)),
        (TableView(sort="outcome"), list(TITLES)),
        (TableView(score_from=25, score_to=70), [TITLES[1]]),
        (TableView(score_from=70, score_to=100), [TITLES[0]]),
        (TableView(score_to=25), []),
    ],
)
async def test_table_searches_filters_and_sorts(service: Service, view: TableView, titles: list[str]) -> None:
    batch = await call_with_reports(service)
    page = await service.services.tables.get_page(ACME, BatchId(batch), view)
    assert [row.title for row in page.rows] == titles


async def test_plot_marks_link_to_their_proposals(service: Service) -> None:
    batch = await call_with_reports(service)
    tables = service.services.tables
    series = await service.services.series.get_series(ACME, BatchId(batch))
    assert sorted(series.scores) == [0.25, 0.7]
    assert (series.proposals, series.costs) == (4, [0.25] * 4)
    assert series.fits == {"good": 2, "partial": 0, "poor": 1, None: 0}
    for bar in build_histogram(series.scores):
        view = TableView(score_from=bar.low, score_to=bar.high)
        assert (await tables.get_page(ACME, BatchId(batch), view)).matching == bar.proposals
    plot = summarise_over_time(series.ended, series.costs)
    assert plot is not None
    for mark in plot.marks:
        view = TableView(ended_from=mark.start, ended_to=mark.end)
        assert (await tables.get_page(ACME, BatchId(batch), view)).matching == mark.proposals
    async with open_session(service, await service.create_key()) as client:
        page = (await client.get(f"/console/calls/{batch}/plots")).text
        links = [
            html.unescape(item) for item in re.findall('<th scope="row">[^<]*</th><td[^>]*><a href="([^"]*)"', page)
        ]
        assert len(links) == 2 + 2 * len(plot.marks)
        sorted_page = (await client.get(links[1])).text
        assert TITLES[0] in sorted_page
        assert TITLES[1] not in sorted_page
        assert "Only scores from 70 to 75." in sorted_page
        assert "Only proposals whose evaluation ended at or after" in (await client.get(links[2])).text


async def test_a_call_without_budget_states_why_nothing_runs(service: Service) -> None:
    await service.services.tenants.update(ACME, TenantPlan(name=ACME, monthly_usd=0.5))
    answer = await service.machine.post("/v1/batches?max_usd=2", files=[("file", ("a.txt", TEXT.encode()))])
    batch = answer.json()["id"]
    async with open_session(service, await service.create_key()) as client:
        for path in ("", f"/calls/{batch}", f"/calls/{batch}/progress"):
            page = await client.get(f"/console{path}")
            assert "Nothing is running yet</span> Next: It may cost 2 USD, but only 0.50 USD remains" in page.text
        assert "$0.50 left" in (await client.get(f"/console/calls/{batch}")).text


@EACH_LOOK
async def test_officer_completes_a_call_workflow_in_the_browser(service: Service, look: Look) -> None:
    batch = await call_with_reports(service)
    async with open_console(service, await service.create_key(), look) as (page, url):
        renewals: list[str] = []
        page.on("request", lambda request: renewals.append(request.url) if "hx-request" in request.headers else None)
        await page.get_by_role("heading", name="Spring").wait_for()
        await open_and_check(page, f"{url}/console", "calls", look.width)
        await page.get_by_role("link", name="Spring").press("Enter")
        await page.get_by_role("heading", name="4 proposals").wait_for()
        await page.get_by_role("link", name="Report score", exact=True).click()
        await page.locator("th[aria-sort=descending]").wait_for()
        assert await page.locator("tbody tr td.title").first.inner_text() == TITLES[0]
        await page.get_by_label("Search titles").press_sequentially("slag")
        await page.get_by_role("heading", name="1 proposal", exact=True).wait_for()
        await page.wait_for_url("**q=slag**")
        assert "sort=score" in page.url
        await page.get_by_label("Save this view as").fill("Slag")
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Slag", exact=True).wait_for()
        assert len([renewal for renewal in renewals if "q=slag" in renewal]) == 1, "leaving the search asks again"
        await open_and_check(page, f"{url}/console/calls/{batch}", "table", look.width)
        for title in TITLES[:2]:
            await page.get_by_label(f"Compare {title}").check()
        await page.get_by_role("button", name="Compare selected").click()
        await page.get_by_role("heading", name="Compare 2 proposals").wait_for()
        await open_and_check(page, page.url, "compare", look.width)
        await page.get_by_role("link", name=TITLES[0]).click()
        await page.get_by_role("heading", name="Report findings").wait_for()
        await open_and_check(page, page.url, "proposal", look.width)
        await open_and_check(page, f"{url}/console/calls/{batch}/plots", "plots", look.width)
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_label("flagged only").check()
        await page.get_by_role("heading", name="0 proposals").wait_for()
        await page.get_by_label("flagged only").uncheck()
        await page.get_by_role("heading", name="4 proposals").wait_for()
        await page.goto(f"{url}/console/calls/{batch}")
        for key in ("Tab", "Tab", "Enter"):
            await page.keyboard.press(key)
        await page.locator("td.title a:focus").wait_for()
        assert await page.locator("a:focus").inner_text() == TITLES[0], "the first proposal is three keys away"
        await page.get_by_role("button", name="Retry 1 without a report").click()
        await page.get_by_role("link", name="Cancel …").click()
        await page.get_by_role("button", name="Cancel 1 evaluation").click()
        await page.locator(".mark.cancelled").first.wait_for()


async def test_call_details_include_tags_rules_and_opinion_due_date(service: Service) -> None:
    async with service.open_caller() as owner:
        query = {"name": "Spring", "tags": "energy,  round 2,energy", "opinions_due": "2026-01-31", "max_usd": "2"}
        answer = await owner.post("/v1/batches", params=query, files=[("file", ("a.txt", TEXT.encode()))])
        batch = answer.json()["id"]
        summary = (await owner.get(f"/v1/batches/{batch}")).json()
        assert (summary["tags"], summary["opinions_due"]) == (["energy", "round 2"], "2026-01-31")
        item_lists = [
            (await owner.get("/v1/batches", params={"tag": tag})).json()["items"] for tag in ("energy", "round")
        ]
        assert [len(item) for item in item_lists] == [1, 0]
        changed = await owner.patch(f"/v1/batches/{batch}", json={"tags": ["round 3"]})
        assert (changed.json()["name"], changed.json()["tags"]) == ("Spring", ["round 3"])
        assert (await owner.patch("/v1/batches/bt_none", json={"name": "Mine"})).status_code == 404
        log = (await owner.get("/v1/audit-log")).json()["items"]
        assert [item["content"]["tags"] for item in log if item["action"] == "call changed"] == [["round 3"]]
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    async with open_session(service, officer.key) as client:
        page = (await client.get(f"/console/calls/{batch}")).text
        for words in ("round 3", "Reviews due by 2026-01-31", ">overdue<", "Literature up to", "masked"):
            assert words in page
        assert batch in (await client.get("/console", params={"tag": "round 3"})).text
        assert batch not in (await client.get("/console", params={"tag": "energy"})).text
        form = {"name": "Autumn", "tags": "water", "opinions_due": "", "version": "1"}
        saved = await submit_form(client, f"/console/calls/{batch}/terms", **form)
        assert saved.status_code == 303
        page = (await client.get(f"/console/calls/{batch}")).text
        assert "Autumn" in page
        assert "Reviews due by 2" not in page
        again = form | {"opinions_due": "2026-01-31", "version": "2"}
        assert (await submit_form(client, f"/console/calls/{batch}/terms", **again)).status_code == 303
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    async with open_session(service, ada.key) as reviewer:
        assert "due by 2026-01-31" in (await reviewer.get("/console/queue")).text


_PARTS = """
    UPDATE report_figures SET figures = jsonb_set(figures::jsonb, '{parts}', (
        SELECT jsonb_agg(figures::jsonb #> '{parts,0}' || jsonb_build_object('name', title, 'title', title))
        FROM unnest($1::text[]) AS title
    ))
"""
_NAMED = """
    UPDATE jobs SET request = jsonb_set(request, '{idea,source}', to_jsonb('A-2026-0000' || "row" || '.pdf'))
"""
_SIGHT = """
() => {
  const table = document.querySelector("[aria-label=Proposals]"), told = table.getBoundingClientRect();
  table.scrollLeft = 10000;
  const title = table.querySelector("td.title").getBoundingClientRect();
  const beyond = table.scrollWidth - table.clientWidth;
  return { beyond, title: title.left - told.left, page: document.body.scrollWidth };
}
"""
"""JavaScript that measures how many pixels a table exceeds its visible width, and where titles are when it is scrolled
to the end."""


@pytest.mark.slow
async def test_table_fits_the_screen_or_keeps_titles_visible_while_scrolling(service: Service) -> None:
    batch, officer = await call_with_reports(service), await add_person(service, "officer", "Otto Officer")
    await service.database.execute(_NAMED)
    usual, many = ["Soundness", "Contribution"], [f"Criterion number {place}" for place in range(14)]
    for width in (1280, 390):
        async with open_console(service, officer.key, Look(width, "light")) as (page, url):
            for parts in (usual, many):
                await service.database.execute(_PARTS, parts)
                await page.goto(f"{url}/console/calls/{batch}")
                await look_over(page, f"table-of-{len(parts)}-parts", Look(width, "light"))
                sizes = await page.evaluate(_SIGHT)
                assert sizes["page"] <= width
                if width == 1280 and parts is many:
                    assert sizes["beyond"] > 0
                    assert 0 <= sizes["title"] <= 2
                else:
                    assert sizes["beyond"] <= 1
