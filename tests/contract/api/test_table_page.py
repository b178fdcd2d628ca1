"""The table of a call as a tool: what people think leads, the first proposal is in sight, headings stay in sight."""

from tests.contract.api.browsing import PHONE, Look, look_over, open_console
from tests.contract.api.console_forms import open_session
from tests.contract.api.evaluated_calls import call_with_reports, evaluate_call_of_six
from tests.contract.api.people import Person
from tests.contract.api.ranking_jobs import rank_call
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import Service
from tests.contract.store_records import report
from tests.unit.batch_bodies import WORDS

_SCREEN = Look(1280, "light")


async def test_first_proposal_is_in_sight_and_headings_stay_there(service: Service, owner: Person) -> None:
    batch = await evaluate_call_of_six(service)
    ranking = await rank_call(service, batch)
    async with open_console(service, owner.key, _SCREEN) as (page, url):
        await page.set_viewport_size({"width": 1280, "height": 900})
        await page.goto(f"{url}/console/calls/{batch}?ranking={ranking}&sort=rank")
        bottom = await page.locator("#first-proposal").evaluate("one => one.getBoundingClientRect().bottom")
        assert bottom < 900, "the first proposal is above the fold"
        assert await page.locator("svg.share").count() == 0, "a bar shows the progress only until the end"
        titles = [" ".join(title.split()) for title in await page.locator("#table thead th").all_inner_texts()]
        people = next(place for place, title in enumerate(titles) if title.startswith("Reviews"))
        assert titles[people + 1].startswith("Rank"), "people’s mean stands beside the program’s rank and band"
        await page.set_viewport_size({"width": 1280, "height": 500})
        await page.locator("#table tbody tr").last.evaluate("one => one.scrollIntoView({block: 'end'})")
        for element in (page.locator("#table thead"), page.get_by_role("button", name="Compare selected")):
            box = await element.evaluate("one => [one.getBoundingClientRect().top, one.getBoundingClientRect().bottom]")
            assert 0 <= box[0] < box[1] <= 501, "it stays in sight"
        await look_over(page, "table-tool", _SCREEN)


async def test_table_warns_that_scores_have_different_bases(service: Service, officer: Person) -> None:
    batch = await call_with_reports(service)
    async with open_session(service, officer.key) as browser:
        assert "not comparable" not in (await browser.get(f"/console/calls/{batch}")).text
    first = (await officer.get(f"/v1/batches/{batch}")).json()["next_row"]
    form = [("file", ("more.txt", f"# More\n\n{WORDS}".encode()))]
    added = await officer.post(
        f"/v1/batches/{batch}/rows", params={"first_row": first, "reopen": "true", "method": "innoeval"}, files=form
    )
    assert added.status_code == 202, added.text
    await finish_with_report(service, await service.lease_next(), report())
    for look in (_SCREEN, Look(PHONE, "dark")):
        async with open_console(service, officer.key, look) as (page, url):
            await page.goto(f"{url}/console/calls/{batch}")
            notice = page.get_by_text("The report scores in this table are not comparable")
            await notice.wait_for()
            assert "Review: 3; InnoEval: 1" in await notice.inner_text()
            await look_over(page, "table-bases", look)
