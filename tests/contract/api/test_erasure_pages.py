"""All of one applicant, or of a call, shown first, then deleted by an owner, with a proof to take away."""

from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from orchestrator.api.routes.erasure_proofs import counted_things
from tests.chromium import launch_options
from tests.contract.api.commands import Program
from tests.contract.api.people import asking, person
from tests.contract.api.service import OTHER, Service, served
from tests.contract.api.test_commands import program
from tests.contract.api.test_console_tables import _look, signed_in
from tests.contract.api.test_erasures import erased, sent, stored
from tests.contract.api.test_exports import ranked_call
from tests.contract.api.test_printed import text_of

__all__ = ["program"]

ORIGIN = {"Origin": "http://api"}


def hidden(page: str, name: str) -> str:
    return page.partition(f'name="{name}" value="')[2].partition('"')[0]


async def test_the_proof_names_what_went_and_that_nothing_is_left_but_no_applicant(service: Service) -> None:
    async with service.caller() as owner, service.caller(tenant=OTHER) as stranger:
        batch = await sent(owner)
        gone = await erased(owner, source="A-1")
        proof = (await owner.get(f"/v1/erasures/{gone['proof']}")).json()
        paper = await owner.get(f"/v1/erasures/{gone['proof']}?format=pdf")
        tip = (await owner.get("/v1/audit-log/tip")).json()
        assert (await stranger.get(f"/v1/erasures/{gone['proof']}")).status_code == 404
        whole = await erased(owner, batch=batch)
        assert (await owner.get(f"/v1/erasures/{whole['proof']}")).json()["about"] == batch
        assert (await owner.get("/v1/erasures/9999")).status_code == 404
    assert proof["things"] == [one["id"] for one in gone["jobs"]]
    assert (proof["still_stored"], proof["about"]) == ([], "an applicant")
    assert proof["tip"] == f"{tip['number']}:{tip['hash']}"
    assert "A-1" not in str(proof)
    assert proof["hash"] in text_of(paper.content).replace(" ", "")
    assert await stored(service.database, "Reeds") == []


async def test_the_proof_says_in_plain_words_who_erased_what_and_each_thing_once(service: Service) -> None:
    async with service.caller() as caller:
        await sent(caller)
    owner = await person(service, "owner", "Olga Owner")
    async with asking(service, owner) as asks, signed_in(service, owner.key) as reads:
        proof = (await asks.get(f"/v1/erasures/{(await erased(asks, source='A-1'))['proof']}")).json()
        page = (await reads.get(f"/console/erase/{proof['number']}")).text.partition("<main")[2]
        paper = " ".join(text_of((await asks.get(f"/v1/erasures/{proof['number']}?format=pdf")).content).split())
    assert proof["by_name"] == "Olga Owner"
    entry = f"{proof['number']}:{proof['hash']}"
    assert proof["tip"] == entry
    for shown in (page, paper):
        assert "Olga Owner, owner" in shown
        assert proof["by"] not in shown
        assert "Everything of one applicant, who is not named here" in shown
        assert "1 evaluation" in shown
        assert "lost the words" not in shown
        assert shown.replace(" ", "").count(entry) == 1


@pytest.mark.parametrize(
    ("things", "words"),
    [
        (["ev_1"], "1 evaluation"),
        (["ev_1", "rk_1", "ev_2", "bt_1"], "2 evaluations, 1 ranking, 1 call"),
        (["cu_1", "xx_1"], "1 curation, 1 other thing"),
        ([], "nothing"),
    ],
)
def test_what_went_is_counted_by_kind(things: list[str], words: str) -> None:
    assert counted_things(things) == words


async def test_a_dry_run_has_no_proof(service: Service) -> None:
    async with service.caller() as owner:
        await sent(owner)
        assert (await erased(owner, source="A-1", dry_run=True))["proof"] is None


async def test_an_officer_sees_what_would_go_and_cannot_delete_it(service: Service) -> None:
    async with service.caller() as owner:
        await sent(owner)
    async with signed_in(service, (await person(service, "officer")).key) as officer:
        page = (await officer.get("/console/erase?source=A-1")).text
        assert "Reeds" in page
        assert "An owner deletes it" in page
        form = {"csrf_token": hidden(page, "csrf_token"), "source": "A-1", "shown": "0"}
        assert (await officer.post("/console/erase", data=form, headers=ORIGIN)).status_code == 403
    async with signed_in(service, (await person(service, "auditor", "Bea Stone")).key) as auditor:
        assert (await auditor.get("/console/erase")).status_code == 403


async def test_what_has_changed_since_it_was_shown_is_shown_again(service: Service) -> None:
    async with service.caller() as caller:
        await sent(caller)
        async with signed_in(service, (await person(service, "owner")).key) as owner:
            page = (await owner.get("/console/erase?source=A-1")).text
            await sent(caller)
            form = {name: hidden(page, name) for name in ("csrf_token", "shown", "source")}
            answer = await owner.post("/console/erase", data=form, headers=ORIGIN)
        assert answer.status_code == 409
        assert "Nothing was deleted" in answer.text
        assert len((await caller.get("/v1/evaluations")).json()["items"]) == 4


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_an_owner_erases_an_applicant_and_takes_the_proof_away(
    service: Service, tmp_path: Path, width: int, scheme: str
) -> None:
    async with service.caller() as caller:
        await sent(caller)
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        await page.goto(f"{url}/console")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type((await person(service, "owner")).key)
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Erase …").press("Enter")
        await page.get_by_label("What the applicant's idea is called").press_sequentially("A-1")
        await page.keyboard.press("Enter")
        await page.get_by_role("cell", name="Reeds").wait_for()
        await _look(page, page.url, tmp_path, "erase", width)
        await page.get_by_label("Nothing brings it back").press("Space")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Proof of an erasure").wait_for()
        await page.get_by_text("Nothing of it is stored").wait_for()
        await _look(page, page.url, tmp_path, "erased", width)
        async with page.expect_download() as waiting:
            await page.get_by_role("link", name="As JSON").press("Enter")
        await (await waiting.value).save_as(tmp_path / "proof.json")
        await browser.close()
    assert '"still_stored":[]' in (tmp_path / "proof.json").read_text("utf-8")
    assert complaints == []


async def test_that_a_ranking_goes_too_is_said_before_where_it_does(service: Service, program: Program) -> None:
    """One that is done stays, without the applicant; one under way does not."""
    call, done = await ranked_call(service)
    loss = "is under way and goes with it: the others have to be ranked anew"
    async with service.caller() as owner:
        assert (await erased(owner, source="1.txt", dry_run=True))["warnings"] == []
        waits = (await owner.post("/v1/rankings", json={"batch": call})).json()["id"]
        would = await erased(owner, source="1.txt", dry_run=True)
        (warning,) = would["warnings"]
        assert loss in warning
        assert waits in [one["id"] for one in would["jobs"]]
        assert [one["id"] for one in would["taken_out_of"]] == [done]
        assert (await erased(owner, source="no.txt", dry_run=True))["warnings"] == []
    async with signed_in(service, await service.key()) as officer:
        assert loss in (await officer.get("/console/erase?source=1.txt")).text
    told = await program.run("erase", "--source", "1.txt")
    assert loss in " ".join((told.out + told.err).split())
