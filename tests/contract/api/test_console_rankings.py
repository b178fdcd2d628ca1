"""Rankings of a call in the console: estimated, started, watched, and cut somewhere else."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.async_api import Page, async_playwright

from assayer.models import Absent, EvaluationId, Part, Report, Score
from assayer.models.paper import CorpusFit
from orchestrator.jobs.models import JobVerdict
from orchestrator.jobs.requests import EvaluationRequest, RankingRequest
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases, PgReports
from tests.chromium import launch_options
from tests.contract.api.people import person
from tests.contract.api.service import OTHER, Service, served
from tests.contract.api.test_console_tables import NOTHING, WHY, _look, signed_in
from tests.contract.api.test_rankings import finish
from tests.contract.store_records import report
from tests.unit.batch_bodies import WORDS

ENTRANTS = 6


async def ended_call(service: Service, uncovered: int | None = None) -> str:
    """Six proposals, each worth its number. `uncovered`: so many of the first lie in a field that the corpus does not
    cover and have no score, the next lies in one too and has a score, and so do the others."""
    texts = {f"{number}.txt": f"Idea of worth {number}. {WORDS}" for number in range(ENTRANTS)}
    return await evaluated_call(service, texts, uncovered)


async def evaluated_call(service: Service, texts: Mapping[str, str], uncovered: int | None = None) -> str:
    """With a report of each of these files."""
    form = [("file", (name, text.encode())) for name, text in texts.items()]
    async with service.caller() as owner:
        made = await owner.post("/v1/batches?name=Spring", files=form)
    assert made.status_code == 202, made.text
    leases = PgLeases(service.database, QueueSettings())
    for number in range(len(texts)):
        lease = await service.lease()
        assert isinstance(lease.request, EvaluationRequest)
        assert lease.request.idea is not None
        run, idea = EvaluationId(f"run_{lease.job}"), lease.request.idea
        assert await leases.record_run(lease, run, {})
        made_of = report(run, idea.text)
        card = made_of.idea.model_copy(update={"id": idea.id, "title": idea.text[:15], "source": idea.source})
        told = {} if uncovered is None else _told(made_of, scored=number >= uncovered, covered=number > uncovered)
        await PgReports(service.database).keep(made_of.model_copy(update={"idea": card} | told), [], {})
        assert await leases.finish(lease, JobVerdict(state="done", run_id=run, cost_usd=0.25))
    return str(made.json()["id"])


def _told(made_of: Report, *, scored: bool, covered: bool) -> dict[str, Any]:
    score = Score(value=5.0, basis="two papers") if scored else Absent(reason=WHY)
    fit = CorpusFit(level="good" if covered else "poor", value=0.5, criterion="nearness")
    return {
        "parts": (Part(name="soundness", title="Soundness", score=score, summary=NOTHING, assessments=()),),
        "coverage": made_of.coverage.model_copy(update={"corpus_fit": fit}),
    }


async def token_of(client: httpx2.AsyncClient, path: str) -> str:
    text = (await client.get(path)).text
    return text.partition('name="csrf_token" value="')[2].partition('"')[0]


async def test_a_ranking_is_estimated_started_and_cut_somewhere_else(service: Service) -> None:
    call = await ended_call(service)
    here = f"/console/calls/{call}/rankings"
    async with signed_in(service, await service.key()) as officer:
        assert "There are none yet." in (await officer.get(here)).text
        estimate = await officer.get(here, params={"cut": "2", "calls_per_idea": "10"})
        assert f"{ENTRANTS} proposals, 30 comparisons; cost unknown" in estimate.text
        form = {"csrf_token": await token_of(officer, f"{here}?cut=2"), "cut": "2", "calls_per_idea": "10"}
        started = await officer.post(here, data=form, headers={"Origin": "http://api"})
        assert started.status_code == 303, started.text
        path = started.headers["location"]
        assert "It waits." in (await officer.get(path)).text
        lease = await service.lease()
        assert "It has begun." in (await officer.get(path)).text
        stages = [{"stage": "comparing", "done": 3, "total": 30}]
        await service.services.events.append(lease.job, "progress", {"stages": stages})
        assert "3 of 30 comparisons are done." in (await officer.get(f"{path}/progress")).text
        await PgLeases(service.database, QueueSettings()).give_back(lease, "Its worker stopped.", attempt_failed=False)
        work = await finish(service)
        assert (len(work.ideas), work.cut) == (ENTRANTS, 2)
        done = await officer.get(path)
        assert "Cut at 2." in done.text
        assert "an approximation" not in done.text
        placed = ""
        assert "If you take the first 2 and read nothing, expect to miss about" in done.text
        # Confidence is 0.95: the rule, and figures in which it can be seen to hold.
        assert "95 % or more is “clearly in”, 5 % or less “clearly out”" in done.text
        for band, row in re.findall(r'id="band-(\w+)"|data-label="Chance to be in">([\d.]+) %', done.text):
            placed = band or placed
            if row:
                assert placed == ("in" if float(row) >= 95 else "out" if float(row) <= 5 else "human")
        rows = (await officer.get(f"/console/calls/{call}")).text
        reason = rows.partition('class="mark unscored">no score</span><span class="reason">')[2].partition("<")[0]
        if reason:
            assert done.text.count(reason) == ENTRANTS
        else:
            assert len(re.findall(r'data-label="Score">\d', done.text)) == ENTRANTS
        moved = await officer.get(path, params={"cut": "4"})
        assert "Cut at 4." in moved.text
        assert "an approximation" in moved.text
        assert "Cut at 5." in (await officer.get(path, params={"cut": "9999"})).text
        assert path in (await officer.get(here)).text


async def test_comparisons_of_an_earlier_ranking_are_not_asked_again(service: Service) -> None:
    call = await ended_call(service)
    here = f"/console/calls/{call}/rankings"
    async with signed_in(service, await service.key()) as officer:
        assert "Comparisons made before" not in (await officer.get(here)).text
        asked = {"calls_per_idea": "2"}
        form = asked | {"csrf_token": await token_of(officer, f"{here}?cut=2")}
        first = (await officer.post(here, data=form, headers={"Origin": "http://api"})).headers["location"]
        await finish(service)
        earlier = first.rpartition("/")[2]
        await service.database.execute("DELETE FROM pair_verdicts WHERE place > 12")  # a smaller one
        more = await officer.get(here, params={"calls_per_idea": "4", "earlier": earlier})
        assert f"{ENTRANTS} proposals, 24 comparisons, 12 of them made before; about $" in more.text
        assert f'<option value="{earlier}" selected>' in more.text
        same = await officer.get(here, params=asked | {"earlier": earlier})
        assert "12 comparisons, 12 of them made before; nothing more is asked" in same.text
        started = await officer.post(here, data=form | {"earlier": earlier}, headers={"Origin": "http://api"})
        work = (await service.lease()).request
        unknown = await officer.post(here, data=form | {"earlier": "rk_none"}, headers={"Origin": "http://api"})
        bent = await officer.get(here, params=asked | {"earlier": "../../x"})
    assert started.status_code == 303
    assert isinstance(work, RankingRequest)
    assert len(work.known) == 12
    assert unknown.status_code == 404
    assert 'role="alert"' in bent.text


async def test_who_has_no_score_or_no_covered_field_is_said_before_and_beside_the_rank(service: Service) -> None:
    call = await ended_call(service, uncovered=2)
    here = f"/console/calls/{call}/rankings"
    async with signed_in(service, await service.key()) as officer:
        estimate = await officer.get(here, params={"cut": "2", "calls_per_idea": "10"})
        assert "2 of the proposals have no score. They begin in the middle of the order" in estimate.text
        form = {"csrf_token": await token_of(officer, f"{here}?cut=2"), "cut": "2", "calls_per_idea": "10"}
        path = (await officer.post(here, data=form, headers={"Origin": "http://api"})).headers["location"]
        await finish(service)
        shown = (await officer.get(path)).text
    assert "2 of the 6 have no score" in shown
    assert "3 of the 6 lie in a field that the corpus does not cover" in shown
    assert shown.count('<span class="mark warn">no score</span>') == 2
    assert shown.count(WHY) == 2
    assert shown.count('<span class="mark warn">field not covered</span>') == 3


@pytest.mark.parametrize(
    ("given", "words"),
    [({"cut": "many"}, "Places are a whole number from 1"), ({"cut": "6"}, "leaves nothing to decide")],
)
async def test_a_choice_that_cannot_be_is_refused_in_words_and_starts_nothing(
    service: Service, given: dict[str, str], words: str
) -> None:
    call = await ended_call(service)
    here = f"/console/calls/{call}/rankings"
    async with signed_in(service, await service.key()) as officer:
        assert words in (await officer.get(here, params=given)).text
        form = {"csrf_token": await token_of(officer, f"{here}?cut=2"), **given}
        refused = await officer.post(here, data=form, headers={"Origin": "http://api"})
        assert refused.status_code == 422
        assert "There are none yet." in (await officer.get(here)).text


async def test_strangers_find_no_ranking_reviewers_see_none_and_auditors_start_none(service: Service) -> None:
    call = await ended_call(service)
    here = f"/console/calls/{call}/rankings"
    async with signed_in(service, await service.key()) as officer:
        form = {"csrf_token": await token_of(officer, f"{here}?cut=2"), "cut": "2"}
        path = (await officer.post(here, data=form, headers={"Origin": "http://api"})).headers["location"]
    await finish(service)
    async with signed_in(service, await service.key(tenant=OTHER)) as stranger:
        for one in (here, path, f"{path}/progress"):
            assert (await stranger.get(one)).status_code == 404
    async with signed_in(service, (await person(service, "reviewer")).key) as reviewer:
        for one in (here, path, f"{path}/progress"):
            assert (await reviewer.get(one)).status_code == 403
    async with signed_in(service, (await person(service, "auditor", "Bea Auditor")).key) as auditor:
        assert (await auditor.get(path)).status_code == 200
        form = {"csrf_token": await token_of(auditor, path), "cut": "2"}
        assert (await auditor.post(here, data=form, headers={"Origin": "http://api"})).status_code == 403


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_an_officer_ranks_a_call_and_moves_its_cut(
    service: Service, tmp_path: Path, width: int, scheme: str
) -> None:
    await ended_call(service)
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page: Page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(f"{url}/console")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type(await service.key())
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Spring").click()
        await page.get_by_role("link", name="Rankings").click()
        await page.get_by_label("Places").fill("2")
        await page.keyboard.press("Enter")
        await page.get_by_text("30 comparisons").wait_for()
        await _look(page, page.url, tmp_path, "rankings", width)
        await page.get_by_role("button", name="Start the ranking").click()
        await page.get_by_text("It waits.").wait_for()
        await finish(service)
        await page.get_by_text("Cut at 2.").wait_for()
        await _look(page, page.url, tmp_path, "ranking", width)
        await page.get_by_label("How many are to be chosen").fill("4")
        await page.keyboard.press("Enter")
        await page.get_by_text("Cut at 4.").wait_for()
        await page.wait_for_url("**cut=4**")
        await page.get_by_role("link", name="In the table").click()
        await page.get_by_role("heading", name=f"{ENTRANTS} proposals").wait_for()
        await page.get_by_role("link", name="Rankings").click()
        await page.get_by_label("Comparisons made before").select_option(index=1)
        await page.get_by_role("button", name="Estimate").click()
        await page.get_by_text("30 of them made before").wait_for()
        await _look(page, page.url, tmp_path, "rankings-again", width)
        await browser.close()
    assert complaints == []
