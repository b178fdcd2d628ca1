"""Calls, tables, proposals, comparisons and plots of the console, as pages over HTTP and in a browser."""

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from playwright.async_api import Page, async_playwright

from assayer.models import Absent, EvaluationId, Part, Score, Summary
from assayer.models.paper import CorpusFit
from orchestrator.console.drawing import distribution, over_time
from orchestrator.jobs.models import BatchId, JobVerdict, Problem, TenantId, TenantPlan
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases, PgReports
from orchestrator.store.call_tables import TableView
from tests.chromium import launch_options
from tests.contract.api.browsing import SCREENSHOTS, Look, at_the_console, look_over
from tests.contract.api.people import person
from tests.contract.api.service import ACME, OTHER, TEXT, Service, served
from tests.contract.store_records import report

AXE = Path(__file__).parents[2] / "axe" / "axe.min.js"
NOTHING = Summary(strengths=(), weaknesses=(), suggestions=())
WHY = "The corpus does not cover its field."
OUTCOMES: list[float | str | None] = [7.0, 2.5, None, "broken"]
TITLES = ("Rehearsal by risk", "Ore from slag", "Quiet rotors", "Salt and light")


async def call_with_reports(service: Service, tenant: TenantId = ACME) -> str:
    """A call of four: two scores, one report without a score, one failure; a fifth row is refused."""
    rows = "\n".join(
        f'{title},"We study {title} with eight baselines. {"It is new and testable. " * 12}"' for title in TITLES
    )
    async with service.caller(tenant=tenant) as owner:
        made = await owner.post(
            "/v1/batches?name=Spring", files=[("file", ("call.csv", f"title,text\n{rows}\nEmpty,\n".encode()))]
        )
    assert made.status_code == 202, made.text
    leases = PgLeases(service.database, QueueSettings())
    for value in OUTCOMES:
        lease = await service.lease()
        run = EvaluationId(f"run_{lease.job}")
        assert await leases.record_run(lease, run, {})
        problem = None
        if isinstance(value, str):
            problem = Problem(type="unreadable", title="It cannot be read", detail="Send it as PDF.")
        else:
            score = Absent(reason=WHY) if value is None else Score(value=value, basis="two papers", certainty="low")
            part = Part(name="soundness", title="Soundness", score=score, summary=NOTHING, assessments=())
            made_of = report(run)
            fit = CorpusFit(level="poor" if value is None else "good", value=0.5, criterion="nearness")
            coverage = made_of.coverage.model_copy(update={"corpus_fit": fit})
            await PgReports(service.database).keep(
                made_of.model_copy(update={"parts": (part,), "coverage": coverage}), [], {}
            )
        verdict = JobVerdict(state="failed" if problem else "done", run_id=run, problem=problem, cost_usd=0.25)
        assert await leases.finish(lease, verdict)
    return str(made.json()["id"])


@asynccontextmanager
async def signed_in(service: Service, key: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.client(url=None) as client:
        answer = await client.post("/console/sign-in", data={"key": key}, headers={"Origin": "http://api"})
        assert answer.status_code == 303, answer.text
        yield client


async def test_table_sorts_by_score_with_missing_ones_last_and_says_why(service: Service) -> None:
    batch = await call_with_reports(service)
    tables = service.services.tables
    for down in (True, False):
        page = await tables.page(ACME, BatchId(batch), TableView(sort="score", down=down))
        scores = [row.figures.score if row.figures else None for row in page.rows]
        assert scores[2:] == [None, None]
        assert scores[:2] == ([0.7, 0.25] if down else [0.25, 0.7])
        by_part = await tables.page(ACME, BatchId(batch), TableView(sort="part:soundness", down=down))
        assert [row.id for row in by_part.rows[:2]] == [row.id for row in page.rows[:2]]
    unscored = next(row for row in page.rows if row.outcome == "unscored")
    assert unscored.figures is not None
    assert unscored.figures.reason == unscored.figures.parts[0].reason == WHY
    assert await tables.counts(ACME, BatchId(batch)) == {"full": 2, "unscored": 1, "failed": 1}


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
    page = await service.services.tables.page(ACME, BatchId(batch), view)
    assert [row.title for row in page.rows] == titles


async def test_marks_of_plots_lead_to_the_proposals_behind_them(service: Service) -> None:
    batch = await call_with_reports(service)
    tables = service.services.tables
    series = await service.services.series.of_call(ACME, BatchId(batch))
    assert sorted(series.scores) == [0.25, 0.7]
    assert (series.proposals, series.costs) == (4, [0.25] * 4)
    assert series.fits == {"good": 2, "partial": 0, "poor": 1, None: 0}
    for bar in distribution(series.scores):
        view = TableView(score_from=bar.low, score_to=bar.high)
        assert (await tables.page(ACME, BatchId(batch), view)).matching == bar.proposals
    plot = over_time(series.ended, series.costs)
    assert plot is not None
    for mark in plot.marks:
        view = TableView(ended_from=mark.start, ended_to=mark.end)
        assert (await tables.page(ACME, BatchId(batch), view)).matching == mark.proposals
    async with signed_in(service, await service.key()) as client:
        page = (await client.get(f"/console/calls/{batch}/plots")).text
        links = [html.unescape(one) for one in re.findall('<th scope="row">[^<]*</th><td[^>]*><a href="([^"]*)"', page)]
        assert len(links) == 2 + 2 * len(plot.marks)
        shown = (await client.get(links[1])).text
        assert TITLES[0] in shown
        assert TITLES[1] not in shown
        assert "Only scores from 70 to 75." in shown
        assert "Only what ended from" in (await client.get(links[2])).text


async def test_plots_of_another_tenants_call_are_empty(service: Service) -> None:
    batch = BatchId(await call_with_reports(service))
    series = await service.services.series.of_call(OTHER, batch)
    assert (series.proposals, series.scores, series.ended) == (0, [], [])
    assert (await service.services.series.ranks(OTHER, batch, "rk_none")).ranks == []


async def test_another_tenants_call_does_not_exist(service: Service) -> None:
    batch = await call_with_reports(service)
    async with service.caller() as owner:
        listed = (await owner.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    key = await service.key(tenant=OTHER)
    async with signed_in(service, key) as stranger:
        for path in (f"calls/{batch}", f"calls/{batch}/plots", f"calls/{batch}/progress", f"calls/{batch}/cancel"):
            assert (await stranger.get(f"/console/{path}")).status_code == 404
        ids = [one["id"] for one in listed]
        for part in ("", "/making", "/making/1", "/contestation"):
            assert (await stranger.get(f"/console/proposals/{ids[0]}{part}")).status_code == 404
        assert (await stranger.get(f"/console/erase?batch={batch}")).status_code == 404
        assert (await stranger.get("/console/compare", params={"id": ids[:2]})).status_code == 404
        assert batch not in (await stranger.get("/console")).text
    page = await service.services.tables.page(OTHER, BatchId(batch), TableView())
    assert page.rows == ()


async def test_a_reviewer_sees_no_scores_of_the_machine(service: Service) -> None:
    batch = await call_with_reports(service)
    reviewer = await person(service, "reviewer")
    async with signed_in(service, reviewer.key) as client:
        home = await client.get("/console")
        assert home.headers["location"] == "/console/queue"
        async with service.caller() as owner:
            job = (await owner.get(f"/v1/batches/{batch}/evaluations")).json()["items"][0]["id"]
        of_proposal = [f"proposals/{job}{page}" for page in ("", "/making", "/making/1", "/contestation")]
        for path in (
            f"calls/{batch}",
            f"calls/{batch}/plots",
            "compare",
            f"calls/{batch}/cancel",
            "erase",
            *of_proposal,
        ):
            assert (await client.get(f"/console/{path}")).status_code == 403


async def test_an_auditor_reads_and_cannot_cancel(service: Service) -> None:
    batch = await call_with_reports(service)
    auditor = await person(service, "auditor")
    async with signed_in(service, auditor.key) as client:
        table = await client.get(f"/console/calls/{batch}")
        assert table.status_code == 200
        assert "Cancel" not in table.text
        assert "Save this view" not in table.text
        token = table.text.partition('name="csrf_token" value="')[2].partition('"')[0]
        form = {"csrf_token": token, "name": "mine"}
        for act in ("cancel", "retry", "views"):
            answer = await client.post(f"/console/calls/{batch}/{act}", data=form, headers={"Origin": "http://api"})
            assert answer.status_code == 403


async def test_a_call_without_budget_says_why_nothing_runs(service: Service) -> None:
    await service.services.tenants.update(ACME, TenantPlan(name=ACME, monthly_usd=0.5))
    async with service.caller() as owner:
        made = await owner.post("/v1/batches?max_usd=2", files=[("file", ("a.txt", TEXT.encode()))])
    batch = made.json()["id"]
    async with signed_in(service, await service.key()) as client:
        for path in ("", f"/calls/{batch}", f"/calls/{batch}/progress"):
            page = await client.get(f"/console{path}")
            assert "Nothing is under way yet</span> The next one: It may cost 2 USD, and 0.50 USD are left" in page.text
        assert "$0.50 left" in (await client.get(f"/console/calls/{batch}")).text


async def test_a_change_without_the_pages_token_is_refused(service: Service) -> None:
    batch = await call_with_reports(service)
    async with signed_in(service, await service.key()) as client:
        answer = await client.post(f"/console/calls/{batch}/retry", headers={"Origin": "http://api"})
    assert answer.status_code == 403


async def test_reports_from_before_there_were_figures_are_read_when_looked_at(service: Service) -> None:
    batch = BatchId(await call_with_reports(service))
    before = await service.services.tables.page(ACME, batch, TableView())
    await service.database.execute("DELETE FROM report_figures")
    await service.database.execute("UPDATE evaluations SET report = '{}' WHERE id = 'run_' || $1", before.rows[0].id)
    assert await service.services.figures.fill(ACME, batch)
    after = await service.services.tables.page(ACME, batch, TableView())
    assert after.rows[1:] == before.rows[1:]
    assert after.rows[0].figures is not None
    assert "another version" in after.rows[0].figures.reason


async def _look(page: Page, path: str, folder: Path, name: str, width: int) -> None:
    await page.goto(path)
    await page.evaluate(AXE.read_text("utf-8"))
    faults = await page.evaluate(
        "axe.run().then(found => found.violations.filter(one => ['serious', 'critical'].includes(one.impact))"
        ".map(one => one.id + ': ' + one.nodes.map(node => node.html).join(' ')))"
    )
    taken = await page.screenshot(path=folder / f"{name}-{width}.png", full_page=True)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    (SCREENSHOTS / f"{name}-{width}.png").write_bytes(taken)
    assert faults == [], name
    assert await page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_an_officer_works_through_a_call(service: Service, tmp_path: Path, width: int, scheme: str) -> None:
    batch = await call_with_reports(service)
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        renewals: list[str] = []
        page.on("request", lambda request: renewals.append(request.url) if "hx-request" in request.headers else None)
        await page.goto(f"{url}/console")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type(await service.key())
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Spring").wait_for()
        await _look(page, f"{url}/console", tmp_path, "calls", width)
        await page.get_by_role("link", name="Spring").press("Enter")
        await page.get_by_role("heading", name="4 proposals").wait_for()
        await page.get_by_role("link", name="Score", exact=True).click()
        await page.locator("th[aria-sort=descending]").wait_for()
        assert await page.locator("tbody tr td.title").first.inner_text() == TITLES[0]
        await page.get_by_label("Search titles").press_sequentially("slag")
        await page.get_by_role("heading", name="1 proposal", exact=True).wait_for()
        await page.wait_for_url("**q=slag**")
        assert "sort=score" in page.url
        await page.get_by_label("Save this view as").fill("Slag")
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Slag", exact=True).wait_for()
        assert len([one for one in renewals if "q=slag" in one]) == 1, "leaving the search asks again"
        await _look(page, f"{url}/console/calls/{batch}", tmp_path, "table", width)
        for title in TITLES[:2]:
            await page.get_by_label(f"Compare {title}").check()
        await page.get_by_role("button", name="Compare chosen").click()
        await page.get_by_role("heading", name="Compare 2 proposals").wait_for()
        await _look(page, page.url, tmp_path, "compare", width)
        await page.get_by_role("link", name=TITLES[0]).click()
        await page.get_by_role("heading", name="What the program found").wait_for()
        await _look(page, page.url, tmp_path, "proposal", width)
        await _look(page, f"{url}/console/calls/{batch}/plots", tmp_path, "plots", width)
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
        await page.get_by_role("button", name="Evaluate 1 again").click()
        await page.get_by_role("link", name="Cancel …").click()
        await page.get_by_role("button", name="Cancel 1 proposal").click()
        await page.locator(".mark.cancelled").first.wait_for()
        await browser.close()
    assert complaints == []


async def test_a_call_has_tags_rules_and_a_day_until_which_opinions_are_due(service: Service) -> None:
    async with service.caller() as owner:
        query = {"name": "Spring", "tags": "energy,  round 2,energy", "opinions_due": "2026-01-31", "max_usd": "2"}
        made = await owner.post("/v1/batches", params=query, files=[("file", ("a.txt", TEXT.encode()))])
        batch = made.json()["id"]
        summary = (await owner.get(f"/v1/batches/{batch}")).json()
        assert (summary["tags"], summary["opinions_due"]) == (["energy", "round 2"], "2026-01-31")
        found = [(await owner.get("/v1/batches", params={"tag": tag})).json()["items"] for tag in ("energy", "round")]
        assert [len(one) for one in found] == [1, 0]
        changed = await owner.patch(f"/v1/batches/{batch}", json={"tags": ["round 3"]})
        assert (changed.json()["name"], changed.json()["tags"]) == ("Spring", ["round 3"])
        assert (await owner.patch("/v1/batches/bt_none", json={"name": "Mine"})).status_code == 404
        log = (await owner.get("/v1/audit-log")).json()["items"]
        assert [one["content"]["tags"] for one in log if one["act"] == "call changed"] == [["round 3"]]
    officer, ada = await person(service, "officer", "Otto Officer"), await person(service, "reviewer")
    async with signed_in(service, officer.key) as client:
        page = (await client.get(f"/console/calls/{batch}")).text
        for words in ("round 3", "Opinions due by 2026-01-31", ">over<", "Literature up to", "masked"):
            assert words in page
        assert batch in (await client.get("/console", params={"tag": "round 3"})).text
        assert batch not in (await client.get("/console", params={"tag": "energy"})).text
        token = page.partition('name="csrf_token" value="')[2].partition('"')[0]
        form = {"csrf_token": token, "name": "Autumn", "tags": "water", "opinions_due": ""}
        saved = await client.post(f"/console/calls/{batch}/details", data=form, headers={"Origin": "http://api"})
        assert saved.status_code == 303
        page = (await client.get(f"/console/calls/{batch}")).text
        assert "Autumn" in page
        assert "Opinions due by 2" not in page
        form = form | {"opinions_due": "2026-01-31"}
        await client.post(f"/console/calls/{batch}/details", data=form, headers={"Origin": "http://api"})
    async with service.client(officer.key) as officers:
        await officers.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    async with signed_in(service, ada.key) as reviewer:
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
"""By how many pixels a table is wider than what is seen of it; where titles stand when it is scrolled to its end."""


async def test_a_table_fits_a_screen_and_keeps_titles_in_sight_where_it_cannot(service: Service) -> None:
    batch, officer = await call_with_reports(service), await person(service, "officer", "Otto Officer")
    await service.services.figures.fill(ACME, BatchId(batch))
    await service.database.execute(_NAMED)
    usual, many = ["Soundness", "Contribution"], [f"Criterion number {place}" for place in range(14)]
    for width in (1280, 390):
        async with at_the_console(service, officer.key, Look(width, "light")) as (page, url):
            for parts in (usual, many):
                await service.database.execute(_PARTS, parts)
                await page.goto(f"{url}/console/calls/{batch}")
                await look_over(page, f"table-of-{len(parts)}-parts", Look(width, "light"))
                seen = await page.evaluate(_SIGHT)
                assert seen["page"] <= width
                if width == 1280 and parts is many:
                    assert seen["beyond"] > 0
                    assert 0 <= seen["title"] <= 2
                else:
                    assert seen["beyond"] <= 1
