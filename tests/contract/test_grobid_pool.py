"""The pool against simulated GROBID servers that are busy, refuse, break, die, hang and come back: over aiohttp, and
with GROBID's own client."""

import asyncio
import logging
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from typing import get_args

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from prometheus_client import REGISTRY

from assayer.errors import ConfigurationError, ParserUnavailable, Unreadable
from simulator.outside.grobid import GrobidKnobs
from simulator.outside.library import Library
from simulator.outside.pdfs import build_paper_pdf
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE
from tests.polling import wait_until_async
from workers.full_texts import GrobidSettings
from workers.full_texts.grobid_pool import GrobidPool
from workers.full_texts.grobid_tei import parse_tei

NAMES = ("grobid_1", "grobid_2", "grobid_3")
CLIENTS = get_args(GrobidSettings.model_fields["client"].annotation)
LIBRARY = Library(SAMPLE)
TITLES = [entry.record.title for entry in LIBRARY.entries]
PDFS = [build_paper_pdf(entry, LIBRARY.list_references(entry)) for entry in LIBRARY.entries]


@pytest.fixture(params=CLIENTS)
def quick_settings(world: OutsideWorld, request: pytest.FixtureRequest) -> GrobidSettings:
    """Settings for each client."""
    return GrobidSettings(
        urls=tuple(world.url(name.replace("_", "-")) for name in NAMES),
        client=request.param,
        busy_seconds=0.01,
        recover_seconds=0.05,
        look_seconds=0.3,
        alive_seconds=3.0,
    )


@pytest.fixture
async def pool(quick_settings: GrobidSettings) -> AsyncIterator[GrobidPool]:
    async with GrobidPool(quick_settings) as opened_pool:
        yield opened_pool


def list_threads() -> list[threading.Thread]:
    """Return the threads of the client."""
    return [item for item in threading.enumerate() if item.name == "grobid-client-python"]


async def wait_for_threads() -> None:
    """Well before the servers here would answer."""

    async def left() -> list[threading.Thread]:
        return list_threads()

    await wait_until_async(left, lambda threads: not threads, seconds=15)


def change_settings(settings: GrobidSettings, **changes: float) -> GrobidSettings:
    return settings.model_copy(update=changes)


async def read_titles(pool: GrobidPool, pdfs: list[bytes]) -> list[str]:
    teis = await asyncio.gather(*(pool.parse(pdf, "paper", 120.0) for pdf in pdfs))
    return [parse_tei(tei).title for tei in teis]


async def test_documents_are_distributed_and_returned_in_order(world: OutsideWorld, pool: GrobidPool) -> None:
    assert await read_titles(pool, PDFS) == TITLES
    stats = [world.read_stats(name) for name in NAMES]
    assert sum(stat.by_status["200"] for stat in stats) == len(PDFS)
    assert all(stat.requests >= 4 for stat in stats)  # at the start all slots of all servers are free


async def test_busy_503_responses_are_waited_out(world: OutsideWorld, pool: GrobidPool) -> None:
    for name in NAMES:
        world.configure(name, busy_rate=0.5)
    assert await read_titles(pool, PDFS) == TITLES
    assert sum(world.read_stats(name).by_status.get("503", 0) for name in NAMES) > 10


async def test_documents_survive_a_server_crash_and_the_server_is_used_after_recovery(
    world: OutsideWorld, pool: GrobidPool
) -> None:
    for name in NAMES:
        world.configure(name, parse_mean=0.1)
    world.configure("grobid_2", parse_mean=60.0)  # so that it is at work when it dies
    work = asyncio.create_task(read_titles(pool, PDFS))
    await wait_until_async(lambda: asyncio.to_thread(world.read_stats, "grobid_2"), lambda stats: stats.in_flight > 0)
    world.configure("grobid_2", dead=True)
    assert await work == TITLES
    assert world.read_stats("grobid_2").by_operation["isalive"] >= 1
    world.configure("grobid_2", dead=False, parse_mean=0.1)
    world.reset()
    while not world.read_stats("grobid_2").by_operation.get("process_fulltext_document"):
        assert await read_titles(pool, PDFS[:12]) == TITLES[:12]


async def test_server_responses_and_outages_are_counted_in_metrics(world: OutsideWorld, pool: GrobidPool) -> None:
    world.configure("grobid_1", dead=True)
    await read_titles(pool, PDFS[:12])
    url = {name: world.url(name.replace("_", "-")) for name in NAMES}
    assert REGISTRY.get_sample_value("assayer_grobid_up", {"server": url["grobid_1"]}) == 0
    assert REGISTRY.get_sample_value("assayer_grobid_up", {"server": url["grobid_2"]}) == 1
    read = {"server": url["grobid_2"], "outcome": "tei"}
    broken = {"server": url["grobid_1"], "outcome": "broken"}
    assert (REGISTRY.get_sample_value("assayer_grobid_responses_total", read) or 0) >= 1
    assert (REGISTRY.get_sample_value("assayer_grobid_responses_total", broken) or 0) >= 1
    world.configure("grobid_1", dead=False)


async def test_hung_server_is_abandoned_after_a_health_check(world: OutsideWorld, pool: GrobidPool) -> None:
    world.configure("grobid_1", hung=True)
    assert await read_titles(pool, PDFS[:12]) == TITLES[:12]
    await wait_for_threads()
    world.configure("grobid_1", hung=False)


async def test_slow_but_healthy_server_keeps_its_document(world: OutsideWorld, quick_settings: GrobidSettings) -> None:
    for name in NAMES:
        world.configure(name, parse_mean=1.0)
    async with GrobidPool(change_settings(quick_settings, look_seconds=0.1, alive_seconds=30.0)) as patient_pool:
        assert await read_titles(patient_pool, PDFS[:1]) == TITLES[:1]
    stats = [world.read_stats(name).by_operation for name in NAMES]
    assert sum(stat.get("process_fulltext_document", 0) for stat in stats) == 1
    assert sum(stat.get("isalive", 0) for stat in stats) >= 1


async def test_documents_survive_intermittent_engine_failures(
    world: OutsideWorld, quick_settings: GrobidSettings
) -> None:
    for name in NAMES:
        world.configure(name, fault_rate=0.2)
    async with GrobidPool(change_settings(quick_settings, attempts=20)) as patient_pool:
        assert await read_titles(patient_pool, PDFS) == TITLES


@pytest.mark.parametrize(
    ("knobs", "pdf", "cause"),
    [
        ({"empty_rate": 1.0}, PDFS[0], "no_text"),
        ({"refuse_rate": 1.0}, PDFS[0], "damaged"),
        ({}, b"<html>Sign in</html>", "damaged"),
        ({"fault_rate": 1.0}, PDFS[0], "broken_parser"),
    ],
)
async def test_faulty_document_raises_a_typed_failure_and_servers_remain_usable(
    world: OutsideWorld, pool: GrobidPool, knobs: dict[str, float], pdf: bytes, cause: str
) -> None:
    for name in NAMES:
        world.configure(name, **knobs)
    with pytest.raises(Unreadable) as caught:
        await pool.parse(pdf, "paper", 60.0)
    assert caught.value.cause == cause
    for name in NAMES:
        world.configure(name, **GrobidKnobs().model_dump())
    assert await read_titles(pool, PDFS[:3]) == TITLES[:3]


async def test_total_outage_is_reported_and_recovered_servers_are_used(
    world: OutsideWorld, quick_settings: GrobidSettings
) -> None:
    for name in NAMES:
        world.configure(name, dead=True)
    async with GrobidPool(change_settings(quick_settings, outage_seconds=0.3, attempts=10)) as pool:
        assert await pool.get_version() is None
        assert not any((await pool.check_servers()).values())
        outcomes = await asyncio.gather(*(pool.parse(pdf, "paper", 60.0) for pdf in PDFS[:20]), return_exceptions=True)
        assert all(isinstance(outcome, ParserUnavailable) for outcome in outcomes)
        for name in NAMES:
            world.configure(name, dead=False)
        await wait_until_async(pool.get_version)
        assert await read_titles(pool, PDFS[:12]) == TITLES[:12]
        assert await pool.get_version() == "0.9.1"


async def test_document_past_its_deadline_releases_its_slot(
    world: OutsideWorld, quick_settings: GrobidSettings
) -> None:
    for name in NAMES:
        world.configure(name, parse_mean=30.0)
    async with GrobidPool(change_settings(quick_settings, slots=1)) as pool:
        late = [pool.parse(pdf, "paper", 0.5) for pdf in PDFS[:9]]
        outcomes = await asyncio.gather(*late, return_exceptions=True)
        assert all(isinstance(outcome, ParserUnavailable) for outcome in outcomes)
        for name in NAMES:
            world.configure(name, parse_mean=0.0)
        assert await read_titles(pool, PDFS[:9]) == TITLES[:9]


async def test_cancelled_documents_give_their_slots_back(world: OutsideWorld, pool: GrobidPool) -> None:
    for name in NAMES:
        world.configure(name, parse_mean=30.0)
    tasks = [asyncio.create_task(pool.parse(pdf, "paper", 120.0)) for pdf in PDFS[:30]]

    def count_in_flight() -> int:
        return sum(world.read_stats(name).in_flight for name in NAMES)

    await wait_until_async(lambda: asyncio.to_thread(count_in_flight), lambda number: number >= 12)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await wait_for_threads()
    for name in NAMES:
        world.configure(name, parse_mean=0.0)
    assert await read_titles(pool, PDFS) == TITLES


async def test_both_clients_send_the_same_form() -> None:
    received: list[dict[str, object]] = []

    async def note(request: web.Request) -> web.Response:
        form = await request.post()
        pdf = form["input"]
        assert isinstance(pdf, web.FileField)
        texts = {name: value for name, value in form.items() if isinstance(value, str)}
        received_pdfs = (pdf.filename, pdf.content_type, pdf.file.read())
        received.append({"accept": request.headers["Accept"], "input": received_pdfs, **texts})
        return web.Response(status=204)

    application = web.Application()
    application.router.add_post("/behind/api/processFulltextDocument", note)
    async with TestServer(application) as server:
        url = str(server.make_url("/behind"))
        for client in CLIENTS:
            async with GrobidPool(GrobidSettings(urls=(url,), client=client)) as pool:
                with pytest.raises(Unreadable, match="found no text"):
                    await pool.parse(PDFS[0], "paper", 30.0)
    assert received[0] == received[1]
    assert received[0]["includeRawCitations"] == "1"
    assert received[0]["consolidateHeader"] == "0"


def test_grobid_client_does_not_change_process_logging() -> None:
    """The client configures logging when it is imported."""
    program = (
        "import asyncio, logging\n"
        "from workers.full_texts import GrobidSettings\n"
        "from workers.full_texts.grobid_pool import GrobidPool\n"
        "async def main():\n"
        "    async with GrobidPool(GrobidSettings(urls='http://127.0.0.1:9', client='grobid-client-python')):\n"
        "        pass\n"
        "asyncio.run(main())\n"
        "import grobid_client.grobid_client\n"
        "print(logging.root.handlers, logging.root.level)\n"
    )
    completed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert (completed.stdout, completed.stderr) == (f"[] {logging.WARNING}\n", "")


def test_pool_without_servers_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="No GROBID server"):
        GrobidPool(GrobidSettings())
