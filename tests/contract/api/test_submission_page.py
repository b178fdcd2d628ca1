"""A call is put together, checked, mended and sent in a browser, as an officer would."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, async_playwright

from orchestrator.store import Database, NotificationListener
from tests.chromium import launch_options
from tests.contract.api.browsing import DROP_FILE, Look, check_page, open_page, sign_in
from tests.contract.api.service import ACME, TEXT, Service, serve
from tests.in_memory import MemoryCorpusVersions
from tests.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import HashingEmbedder

_PROXY_BYTES = 4_000


@asynccontextmanager
async def open_submission_page(
    service: Service, complaints: list[str], width: int = 1280, scheme: str = "light", query: str = ""
) -> AsyncIterator[Page]:
    async with serve(service.app) as url, async_playwright() as running:
        browser = await running.chromium.launch(**launch_options())
        page = await open_page(browser, Look(width, scheme), complaints)
        await sign_in(page, f"{url}/console/calls/new{query}", await service.create_key())
        await page.wait_for_load_state()
        yield page
        await browser.close()


async def _list_sources(service: Service, batch: str) -> list[str]:
    answer = await service.machine.get(f"/v1/batches/{batch}/results?format=jsonl")
    rows = [json.loads(line) for line in answer.text.splitlines()]
    return sorted(row["source"] for row in rows if row["state"] != "refused")


def _write(folder: Path) -> None:
    for applicant in ("A-1", "A-2"):
        (folder / applicant).mkdir(parents=True)
        (folder / applicant / "proposal.txt").write_text(f"{TEXT} {applicant}", "utf-8")
    (folder / "broken.pdf").write_text("no PDF at all", "utf-8")
    (folder / ".DS_Store").write_text("litter", "utf-8")


@pytest.mark.parametrize(("width", "scheme"), [pytest.param(390, "dark", marks=pytest.mark.slow), (1280, "light")])
async def test_folder_is_checked_fixed_and_submitted_as_a_single_call(
    service: Service, tmp_path: Path, width: int, scheme: str
) -> None:
    folder = tmp_path / "Spring"
    await asyncio.to_thread(_write, folder)
    complaints: list[str] = []
    async with open_submission_page(service, complaints, width, scheme) as page:
        await page.get_by_label("A folder").set_input_files(folder)
        await page.get_by_text("3 files").wait_for()
        await page.evaluate(DROP_FILE, ["table.csv", f'title,text\nOne,"{TEXT} one"\nTwo,\n'])
        await page.get_by_text("4 files").wait_for()
        await page.get_by_label("Name", exact=True).fill("Spring")
        await page.get_by_role("button", name="Check and estimate").click()
        await page.get_by_text("3 proposals can be evaluated").wait_for()
        await page.get_by_role("heading", name="2 refused").wait_for()
        refused_text = await page.locator("#refused li", has_text="Fix table.csv:2").inner_text()
        assert refused_text.count("table.csv:2") == 2, "once before the reason, once to be mended"
        assert await service.services.jobs.list_batches(ACME, after=None, limit=9) == []
        await page.get_by_text("Fix broken.pdf").click()
        await page.get_by_label("Or its text").first.fill(f"{TEXT} mended")
        await check_page(page, "submission-checked", width)
        await page.get_by_role("button", name="Check and estimate").click()
        await page.get_by_text("4 proposals can be evaluated").wait_for()
        await page.get_by_role("heading", name="1 refused").wait_for()
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("heading", name="4 proposals submitted").wait_for()
        await check_page(page, "submission-sent", width)
        await page.get_by_role("link", name="Follow the call").click()
        await page.get_by_role("link", name="Fix and add to this call").click()
        await page.get_by_text("Fix table.csv:2").click()
        await page.get_by_label("Or its text").fill(f"{TEXT} two")
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("heading", name="1 proposal submitted").wait_for()
    assert complaints == []
    (first,) = await service.services.jobs.list_batches(ACME, after=None, limit=9)
    assert first.name == "Spring", "fixed rows join their call"
    assert first.rejected == (), "the row that was fixed needs no attention"
    row_names = ["A-1 - proposal.txt", "A-2 - proposal.txt", "broken.pdf.txt", "table.csv:1", "table.csv:2.txt"]
    assert await _list_sources(service, first.id) == [
        f"Spring - {name}" if name[0] == "A" else name for name in row_names
    ]


@pytest.mark.slow
async def test_chosen_board_models_are_used_and_duplicates_are_named(service: Service, tmp_path: Path) -> None:
    complaints: list[str] = []
    corpora = MemoryCorpusVersions(MemoryCorpus((), HashingEmbedder()))
    permitting_service = service.with_services(board_models=("large", "other"), corpora=corpora)
    async with open_submission_page(permitting_service, complaints, width=390) as page:
        models = page.get_by_role("group", name="Models for the simulated reviewers")
        assert await models.is_hidden()
        await page.get_by_label("Method").select_option("innoeval")
        await models.get_by_label("other").check()
        await page.evaluate(DROP_FILE, ["one.txt", TEXT])
        await page.evaluate(DROP_FILE, ["two.txt", TEXT])
        await page.get_by_role("button", name="Check and estimate").click()
        await page.get_by_role("heading", name="If you submit this").wait_for()
        assert await page.locator("main button.first").all_inner_texts() == ["Submit"], "the next button leads"
        outcome_text = await page.inner_text("#outcome")
        await check_page(page, "submission-board", 390)
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("heading", name="2 proposals submitted").wait_for()
    assert complaints == []
    assert "1 has the same text as another and is paid for only once" in outcome_text
    assert "two.txt has the same text as one.txt" in outcome_text
    assert "Of 2 proposals checked, the corpus covers the field of 2 well" in outcome_text
    rows = await service.database.fetch("SELECT request -> 'board_models' AS models FROM jobs")
    assert [row["models"] for row in rows] == ['["other"]', '["other"]']


@pytest.mark.slow
async def test_large_table_is_sent_in_parts_and_resumed_without_duplicates(
    database: Database, listener: NotificationListener
) -> None:
    service = Service.build(database, listener, max_upload_bytes=9_000)
    await service.create_tenant()
    rows = "".join(f'"Idea\n{n}","{TEXT} {n} {"and more " * 60}"\n' for n in range(20))
    complaints: list[str] = []
    async with open_submission_page(service, complaints) as page:
        await page.evaluate(DROP_FILE, ["large.csv", f"title,text\n{rows}"])
        await page.get_by_role("button", name="Check and estimate").click()
        await page.get_by_text("20 proposals can be evaluated").wait_for()
        await page.route("**/rows?*", lambda route: None)
        async with page.expect_request("**/rows?*"):
            await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("button", name="Stop").click()
        await page.get_by_text("Press “Submit” to send the rest").wait_for()
        await page.unroute("**/rows?*")
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("heading", name="20 proposals submitted").wait_for()
    [call] = await service.services.jobs.list_batches(ACME, after=None, limit=9)
    assert (call.rows, call.open, call.rejected) == (20, False, ())
    async with service.open_caller() as owner:
        items = (await owner.get(f"/v1/batches/{call.id}/evaluations?limit=50")).json()["items"]
    assert len({item["title"] for item in items}) == 20


@pytest.mark.slow
async def test_rejected_large_part_is_resent_in_smaller_parts(service: Service) -> None:
    """Simulates load, when reading takes too long, or a proxy that accepts smaller requests only."""
    too_much = {"type": "about:blank", "title": "Content too large", "status": 413, "detail": "Send them in parts."}
    refused_sizes: list[int] = []

    async def reject_large_parts(route: Route) -> None:
        size = len(route.request.post_data_buffer or b"")
        if size <= _PROXY_BYTES:
            await route.continue_()
            return
        refused_sizes.append(size)
        await route.fulfill(status=413, json=too_much, content_type="application/problem+json")

    rows = "".join(f'"Idea\n{n}","{TEXT} {n} {"and more " * 60}"\n' for n in range(20))
    async with open_submission_page(service, []) as page:
        await page.route("**/v1/batches**", reject_large_parts)
        await page.evaluate(DROP_FILE, ["large.csv", f"title,text\n{rows}"])
        await page.get_by_role("button", name="Check and estimate").click()
        await page.get_by_text("20 proposals can be evaluated").wait_for()
        await page.get_by_role("button", name="Submit").click()
        await page.get_by_role("heading", name="20 proposals submitted").wait_for()
    assert refused_sizes
    [call] = await service.services.jobs.list_batches(ACME, after=None, limit=9)
    assert (call.rows, call.open, call.rejected) == (20, False, ())
    sources = await _list_sources(service, call.id)
    assert any("large (part 1.1" in source for source in sources), sources
    items = (await service.machine.get(f"/v1/batches/{call.id}/evaluations?limit=50")).json()["items"]
    assert len({item["title"] for item in items}) == 20


@pytest.mark.slow
async def test_single_row_rejected_with_413_shows_the_service_message(service: Service) -> None:
    async with open_submission_page(service, []) as page:
        problem = {"title": "Content too large", "detail": "Parsing these ideas exceeded the limit of 60 s."}
        await page.route("**/v1/batches**", lambda route: route.fulfill(status=413, json=problem))
        await page.evaluate(DROP_FILE, ["one.csv", f'title,text\n"Idea","{TEXT}"\n'])
        await page.get_by_role("button", name="Check and estimate").click()
        await page.get_by_text("Parsing these ideas exceeded the limit of 60 s.").wait_for()


async def test_table_with_many_rows_is_checked_in_parts(service: Service) -> None:
    rows = "".join(f"Idea {n},too short\n" for n in range(5_001))
    sizes: list[int] = []
    async with open_submission_page(service, []) as page:
        page.on("request", lambda request: sizes.append(1) if "estimate" in request.url else None)
        await page.evaluate(DROP_FILE, ["many.csv", f"title,text\n{rows}"])
        await page.get_by_role("button", name="Check and estimate").click()
        await page.get_by_text("0 proposals can be evaluated").wait_for()
    assert len(sizes) == 2
