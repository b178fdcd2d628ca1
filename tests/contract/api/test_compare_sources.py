"""Sources in a comparison: told apart between reports, and links to where each stands; columns are of one width."""

import pytest

from tests.contract.api.browsing import Look, at_the_console, look_over
from tests.contract.api.people import person
from tests.contract.api.service import Service
from tests.contract.api.test_proposal_page import reported


@pytest.mark.parametrize("look", [Look(390, "dark"), Look(1280, "light")], ids=str)
async def test_a_label_leads_to_its_own_reports_source(service: Service, look: Look) -> None:
    first, second = await reported(service), await reported(service)
    officer = await person(service, "officer")
    async with at_the_console(service, officer.key, look) as (page, url):
        await page.goto(f"{url}/console/compare?id={first}&id={second}")
        strengths = page.locator("tr", has=page.get_by_role("rowheader", name="Strengths", exact=True))
        cells = [await strengths.locator("td").nth(place).get_by_role("link").all() for place in (0, 1)]
        for links, letter, job in zip(cells, "AB", (first, second), strict=True):
            assert [await one.inner_text() for one in links] == [f"{letter} P2", f"{letter} P3"]
            assert await links[0].get_attribute("href") == f"/console/proposals/{job}#source-P2"
            assert await links[0].get_attribute("title") == "Which examples does a model forget first?"
        assert "[P2]" not in await strengths.inner_text()
        heads = page.locator("thead th.title")
        assert (await heads.all_inner_texts())[0].startswith("A ")
        widths = [await one.evaluate("one => one.getBoundingClientRect().width") for one in await heads.all()]
        assert max(widths) - min(widths) < 2
        await look_over(page, "compare-sources", look)
        await cells[1][0].click()
        await page.wait_for_url("**#source-P2")
        assert await page.locator("#source-P2").evaluate("one => one.matches(':target')")
