"""The page of the audit log: filtered, turned, its chain checked and saved."""

from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from orchestrator.access.audit_chain import Actor, AuditedAct, AuditEntry, audit_faults
from orchestrator.jobs.models import TenantId
from tests.chromium import launch_options
from tests.contract.api.people import person
from tests.contract.api.service import ACME, OTHER, Service, served
from tests.contract.api.test_console_tables import _look, signed_in

HERE = "/console/audit-log"


async def written(service: Service, count: int, act: AuditedAct = "remark added", tenant: TenantId = ACME) -> None:
    for number in range(count):
        actor, now = Actor("mb_grace", "Grace Hopper", "officer"), service.services.clock.now()
        await service.services.audit_log.record(tenant, actor, act, f"ev_{number}", now, text=f"Remark {number}.")


async def test_entries_are_shown_newest_first_and_found_by_actor_act_and_subject(service: Service) -> None:
    auditor = await person(service, "auditor", "Eva Auditor")
    await written(service, 60)
    await written(service, 1, "score overridden")
    async with signed_in(service, auditor.key) as browser:
        newest = (await browser.get(HERE)).text
        assert newest.index('id="entry-63"') < newest.index('id="entry-62"')
        assert 'id="entry-13"' not in newest
        older = (await browser.get(HERE, params={"before": "14"})).text
        assert 'id="entry-13"' in older
        assert "Older entries" not in older
        one = (await browser.get(HERE, params={"actor": "mb_grace", "act": "remark added", "about": "ev_7"})).text
        assert one.count('<tr id="entry-') == 1
        assert "Remark 7." in one
        assert (await browser.get(HERE, params={"act": "baked a cake"})).status_code == 422
        assert "No entry is so." in (await browser.get(HERE, params={"about": "ev_none"})).text


async def test_the_chain_is_checked_also_against_a_tip_that_was_kept(service: Service) -> None:
    auditor = await person(service, "auditor", "Eva Auditor")
    early = await service.services.audit_log.tip(ACME)
    await written(service, 3)
    tip = await service.services.audit_log.tip(ACME)
    async with signed_in(service, auditor.key) as browser:
        assert f"{tip.number}:{tip.hash}" in (await browser.get(HERE)).text
        whole = (await browser.get(f"{HERE}/check")).text
        assert f"The chain is whole: {tip.number} entries." in whole
        kept = await browser.get(f"{HERE}/check", params={"kept": f"{early.number}:{early.hash}"})
        assert "and the tip that you kept is in it" in kept.text
        longer = await browser.get(f"{HERE}/check", params={"kept": f"99:{tip.hash}"})
        assert "the end is cut off: 99 entries were published" in longer.text
        other = await browser.get(f"{HERE}/check", params={"kept": f"{tip.number}:{'0' * 64}"})
        assert "is another one than the tip that was published" in other.text
        unread = await browser.get(f"{HERE}/check", params={"kept": "yesterday"})
        assert unread.status_code == 422
        assert "A tip reads NUMBER:HASH" in unread.text


async def test_a_chain_longer_than_one_reading_is_checked_and_saved_whole(service: Service) -> None:
    auditor = await person(service, "auditor", "Eva Auditor")
    await written(service, 1_001)
    tip = await service.services.audit_log.tip(ACME)
    async with signed_in(service, auditor.key) as browser:
        assert f"The chain is whole: {tip.number:,} entries." in (await browser.get(f"{HERE}/check")).text
        saved = await browser.get(f"{HERE}/export")
    assert saved.headers["content-disposition"] == 'attachment; filename="audit-log.jsonl"'
    entries = [AuditEntry.model_validate_json(line) for line in saved.text.splitlines()[1:]]
    assert list(audit_faults(entries, tip)) == []


async def test_only_owners_and_auditors_read_it_and_only_their_own(service: Service) -> None:
    await written(service, 2, tenant=OTHER)
    paths = (HERE, f"{HERE}/check", f"{HERE}/export")
    for key in ((await person(service, "officer", "Otto Officer")).key, (await person(service, "reviewer")).key):
        async with signed_in(service, key) as browser:
            for path in paths:
                assert (await browser.get(path)).status_code == 403
    async with signed_in(service, (await person(service, "owner", "Olga Owner")).key) as browser:
        for path in paths:
            found = await browser.get(path)
            assert found.status_code == 200
            assert "Grace Hopper" not in found.text


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
async def test_an_auditor_filters_and_checks_the_log_by_keyboard(
    service: Service, tmp_path: Path, width: int, scheme: str
) -> None:
    auditor = await person(service, "auditor", "Eva Auditor", affiliation="Court of Audit")
    await written(service, 3)
    complaints: list[str] = []
    async with served(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        context = await browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        page = await context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await page.goto(f"{url}/console")
        await page.locator("input:focus").wait_for()
        await page.keyboard.type(auditor.key)
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Audit log").press("Enter")
        await page.get_by_role("heading", name="Audit log").wait_for()
        await page.get_by_role("button", name="Check the chain").press("Enter")
        await page.get_by_text("The chain is whole: 5 entries").wait_for()
        await _look(page, page.url, tmp_path, "log", width)
        await page.get_by_label("Id of what it is about").fill("ev_2")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**about=ev_2**")
        assert await page.locator("tbody tr").count() == 1
        await browser.close()
    assert complaints == []
