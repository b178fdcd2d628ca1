"""Benchmark of open pages of a running call: the server's processor time with and without viewers."""

import asyncio
import os
import shutil
import time

from playwright.async_api import async_playwright

from assayer.models import Idea, IdeaId
from benchmarks.console.child import ServedConsole
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.jobs.submissions import NewBatch, NewJob
from orchestrator.store import Database, PgJobs

_CALL = BatchId("bt_watched")
_ROWS = 5_000
_PERIOD_SECONDS = 30.0
_END_NEXT_JOB = """
    UPDATE jobs SET state = 'succeeded', started_at = created_at, finished_at = now(), run_id = 'run_' || id,
        cost_usd = 0.1
    WHERE id = (SELECT id FROM jobs WHERE batch = $1 AND state = 'queued' ORDER BY "row" LIMIT 1)
"""
_NOTIFY = "SELECT pg_notify('assayer_jobs', 'finished ev_watched')"


async def add_watched_call(database: Database, tenant: TenantId) -> None:
    await database.execute("UPDATE tenants SET max_queued = 20000 WHERE id = $1", tenant)
    jobs = []
    for row in range(1, _ROWS + 1):
        text = f"Idea {row}. We study how stored examples are overwritten, and rehearse those at risk. "
        idea = Idea(id=IdeaId(f"watched_{row}"), title=f"Idea {row}", text=text, sections=(), source=f"{row}.txt")
        request = EvaluationRequest(idea=idea, source=idea.source, method="scholareval")
        jobs.append(NewJob(id=JobId(f"ev_w{row}"), request=request, subject=idea.title, priority="batch", row=row))
    await PgJobs(database).add(tenant, jobs, NewBatch(id=_CALL, name="watched", rows=_ROWS))


async def time_watchers(service: ServedConsole, key: str, database: Database) -> None:
    """Print the server process's share of a core while an idea ends every four seconds, every second, or not at all."""
    print(
        f"\nRunning call with {_ROWS:,} rows, {_PERIOD_SECONDS:.0f} s each: share of a core used by the server",
        flush=True,
    )
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or shutil.which("chromium"), chromium_sandbox=os.geteuid() != 0
        )
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(f"{service.address}/console")
        await page.get_by_label("API key").fill(key)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Funding calls").wait_for()
        await page.goto("about:blank")
        pauses = {"nothing ends": None, "one ends in 4 s": 4.0, "one ends each second": 1.0}
        shares_without_viewers = {
            name: await _measure_cpu_share(service, database, pause) for name, pause in pauses.items()
        }
        state = await context.storage_state()
        for _ in range(10):
            # Separate contexts, so that each viewer has its own connections.
            viewer = await (await browser.new_context(storage_state=state)).new_page()
            await viewer.goto(f"{service.address}/console/calls/{_CALL}")
        await asyncio.sleep(3)
        for name, pause in pauses.items():
            watched_share = await _measure_cpu_share(service, database, pause)
            print(
                f"{name:22} {shares_without_viewers[name]:6.2%} without, {watched_share:6.2%} with ten viewers",
                flush=True,
            )
        await browser.close()


async def _measure_cpu_share(service: ServedConsole, database: Database, pause: float | None) -> float:
    times_before, began = service.process.cpu_times(), time.monotonic()
    while (seconds_left := began + _PERIOD_SECONDS - time.monotonic()) > 0:
        if pause is not None:
            await database.execute(_END_NEXT_JOB, _CALL)
            await database.execute(_NOTIFY)
        await asyncio.sleep(min(seconds_left, pause or seconds_left))
    times_after = service.process.cpu_times()
    return (times_after.user + times_after.system - times_before.user - times_before.system) / (
        time.monotonic() - began
    )
