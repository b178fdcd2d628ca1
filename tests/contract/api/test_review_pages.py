"""The reviewer's pages and the panel: played through in a browser, and refused to whom they are not for."""

from pathlib import Path

from tests.contract.api.browsing import EACH_LOOK, Look, open_console
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.reviewed_calls import create_assigned_call
from tests.contract.api.service import Service
from tests.contract.page_contrast import POOR_CONTRASTS


@EACH_LOOK
async def test_reviewer_submits_an_opinion_reads_the_report_and_revises(
    service: Service, tmp_path: Path, look: Look
) -> None:
    ada, _, (first, _) = await create_assigned_call(service, "# Rehearsal\n\n<script>alert(1)</script>", "# Second")
    await service.finish()
    async with open_console(service, ada.key, look) as (page, url):
        await page.get_by_role("heading", name="Your queue").wait_for()
        assert "2 of 2 await" in await page.inner_text("main")
        await page.get_by_role("link", name="Ore").click()
        assert await page.get_by_role("link", name="report").count() == 0
        await page.screenshot(path=tmp_path / f"review-{look.width}-{look.scheme}.png", full_page=True)
        await page.get_by_label("4", exact=True).check()
        await page.get_by_label("Why").fill("Sound, and cheap.")
        await page.get_by_role("button", name="Give first review").press("Enter")
        async with page.expect_popup() as popup:
            await page.get_by_role("link", name="Read the report").click()
        report = await popup.value
        assert report.url == f"{url}/v1/evaluations/{first}/report"
        await report.close()
        await page.get_by_label("2", exact=True).check()
        await page.get_by_role("button", name="Revise").click()
        assert "First review (cannot be changed): 4 of 5" in await page.inner_text("main")
        assert await page.get_by_label("2", exact=True).is_checked()
        assert await page.evaluate(POOR_CONTRASTS) == []
        assert await page.evaluate("document.documentElement.scrollWidth") <= look.width
        await page.screenshot(path=tmp_path / f"revised-{look.width}-{look.scheme}.png", full_page=True)
        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_label("API key").wait_for()


async def test_a_conflict_takes_a_proposal_off_the_queue(service: Service) -> None:
    ada, _, (first, second) = await create_assigned_call(service, "# One", "# Two")
    async with open_session(service, ada.key) as browser:
        answer = await submit_form(browser, f"/console/review/{first}", "/conflict", reason="a former student")
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/queue?removed=1")
        queue = (await browser.get(answer.headers["location"])).text
        assert "The proposal was removed from your queue." in queue
        assert first not in queue
        assert second in queue
        assert (await browser.get(f"/console/review/{first}")).status_code == 404
        response = await browser.post(f"/console/review/{second}/opinion", data={"score": "3"})
        assert response.status_code == 403
