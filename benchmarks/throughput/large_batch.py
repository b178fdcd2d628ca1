"""`python -m benchmarks.throughput.large_batch`: thousands of ideas in one batch, through the whole service.

In one process, with the simulator as its language model or none: accepted over HTTP, watched in the console's table as
a browser asks for it, finished, exported. What is left after --minutes is cancelled, and what was reached is told.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

import httpx2
import psutil

from assayer_client import AsyncClient, BatchQuery, MoreRowsQuery, RetryPolicy, Timeouts, Upload
from benchmarks.chaos.__main__ import built_corpus, varied_texts
from benchmarks.chaos.processes import database_server, family
from benchmarks.chaos.running import NEWER_MODEL, environment
from benchmarks.chaos.service import Service, serving
from benchmarks.simulator.process import Simulator
from benchmarks.throughput.machine import machine
from benchmarks.throughput.watching import Sample, Watch, slope

__all__ = ["main"]

_LOOK_SECONDS = 3.0
"""Between two looks of a page."""
_DAY_SECONDS = 86_400
_PART = 500
"""Rows of one request."""
_TOLD_EVERY = 10
"""Looks."""
_PATIENT = Timeouts(answer=600.0, silence=600.0)
"""A table of thousands of reports is told whole: on a busy machine its first byte takes minutes."""
_ENDED = ("done", "failed", "dead", "cancelled")


class Look(NamedTuple):
    """At the console's page of the batch."""

    at: float
    """Seconds since the batch was sent."""
    ended: int
    seconds: Sequence[float]
    """That the table, its progress and the batch's own resource took."""


class Exported(NamedTuple):
    format: str
    seconds: float
    bytes: int


class Carried(NamedTuple):
    accepted_seconds: float
    states: Mapping[str, int]
    wall_seconds: float
    looks: Sequence[Look]
    samples: Sequence[Sample]
    database_samples: Sequence[Sample]
    cpu_seconds: float
    database_cpu_seconds: float
    exported: Sequence[Exported]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput.large_batch", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--minutes", type=float, default=25.0, help="at most")
    parser.add_argument("--latency", type=float, default=0.05, help="mean seconds of one answer of the model")
    parser.add_argument("--no-llm", action="store_true", help="without a model: the fallbacks answer")
    parser.add_argument("--method", default="scholareval")
    parser.add_argument("--concurrency", type=int, default=24, help="ideas in flight")
    options = parser.parse_args()
    print(f"Machine: {machine()}; load {os.getloadavg()[0]:.1f} before", flush=True)
    with ExitStack() as stack:
        home = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="assayer-large-", ignore_cleanup_errors=True))
        )
        home.chmod(0o711)
        corpus = built_corpus(home / "corpus")
        model = stack.enter_context(Simulator(latency_mean=options.latency, models=("simulated", NEWER_MODEL)))
        own = {**environment(corpus, model, home), "ASSAYER_EVALUATION__CONCURRENCY": str(options.concurrency)}
        own |= {"ASSAYER_WORK__PURGE_SECONDS": str(_DAY_SECONDS), "ASSAYER_QUEUE__LEASE_SECONDS": "30"}
        if options.no_llm:
            own = {name: value for name, value in own.items() if not name.startswith("ASSAYER_LLM__")}
        carried = asyncio.run(_carried(options, own, home))
        calls = model.stats().answered
    print(_told(options.rows, carried, calls))
    print(f"Load {os.getloadavg()[0]:.1f} afterwards")


async def _carried(options: argparse.Namespace, own: Mapping[str, str], home: Path) -> Carried:
    retries = RetryPolicy(attempts=50)
    async with (
        serving(Service(home, (), own)) as service,
        AsyncClient(service.address, service.key, timeouts=_PATIENT, retries=retries) as client,
        httpx2.AsyncClient(base_url=service.address, timeout=600.0, follow_redirects=True) as browser,
    ):
        await _sign_in(browser, service)

        def database() -> list[psutil.Process]:
            server = database_server(service.home)
            return family([server.pid]) if server else []

        def process() -> list[psutil.Process]:
            apart = {one.pid for one in database()}
            return [one for one in family(service.roots) if one.pid not in apart]

        texts = varied_texts(options.rows)
        rows = [{"title": f"Proposal {number}", "text": text} for number, text in enumerate(texts, 1)]
        with Watch(process) as watch, Watch(database) as watched_database:
            began = time.monotonic()
            batch = await _sent(client, rows, options.method)
            accepted = time.monotonic() - began
            print(f"{len(rows):,} rows accepted in {accepted:.1f} s", flush=True)
            looks = await _watched(client, browser, batch, began, began + 60 * options.minutes)
            wall = time.monotonic() - began
            states = {str(state): count for state, count in (await client.batch(batch)).states.items() if count}
            await client.cancel_batch(batch)
            exported = [await _export(client, batch, home, kind) for kind in ("jsonl", "csv")]
    return Carried(
        accepted_seconds=accepted,
        states=states,
        wall_seconds=wall,
        looks=looks,
        samples=watch.samples,
        database_samples=watched_database.samples,
        cpu_seconds=watch.cpu_seconds,
        database_cpu_seconds=watched_database.cpu_seconds,
        exported=exported,
    )


async def _sent(client: AsyncClient, rows: Sequence[dict[str, str]], method: str) -> str:
    """In parts: one body may take a minute to read. Returns the batch's id."""
    parts = [rows[start : start + _PART] for start in range(0, len(rows), _PART)]
    first = await client.submit_rows(parts[0], BatchQuery(method=method, open=len(parts) > 1))
    next_row = first.next_row
    for number, part in enumerate(parts[1:], 2):
        lines = "".join(json.dumps(row) + "\n" for row in part).encode()
        query = MoreRowsQuery(first=next_row, method=method, open=number < len(parts))
        next_row = (await client.add_files(first.id, [Upload("rows.jsonl", lines)], query)).next_row
    return first.id


async def _sign_in(browser: httpx2.AsyncClient, service: Service) -> None:
    headers = {"Origin": service.address}
    answer = await browser.post("/console/sign-in", data={"key": service.key, "next": "/console"}, headers=headers)
    answer.raise_for_status()


async def _watched(
    client: AsyncClient, browser: httpx2.AsyncClient, batch: str, began: float, until: float
) -> list[Look]:
    """As a page that stays open: to the end, or until it is time."""
    looks: list[Look] = []
    while True:
        seconds = []
        for path in (f"/console/calls/{batch}", f"/console/calls/{batch}/progress"):
            asked = time.monotonic()
            (await browser.get(path)).raise_for_status()
            seconds.append(time.monotonic() - asked)
        asked = time.monotonic()
        found = await client.batch(batch)
        seconds.append(time.monotonic() - asked)
        ended = sum(count for state, count in found.states.items() if state in _ENDED)
        looks.append(Look(time.monotonic() - began, ended, seconds))
        if len(looks) % _TOLD_EVERY == 0:
            print(f"{looks[-1].at:.0f} s: {ended:,} ended", flush=True)
        if found.finished_at is not None or time.monotonic() > until:
            return looks
        await asyncio.sleep(_LOOK_SECONDS)


async def _export(client: AsyncClient, batch: str, folder: Path, kind: str) -> Exported:
    began = time.monotonic()
    saved = await client.save_results(batch, folder / f"results.{kind}", format="csv" if kind == "csv" else "jsonl")
    return Exported(kind, time.monotonic() - began, saved.stat().st_size)


def _told(rows: int, carried: Carried, calls: int) -> str:
    ended = sum(count for state, count in carried.states.items() if state in _ENDED)
    pages = [seconds for look in carried.looks for seconds in look.seconds]
    cuts, longest = quantiles(pages, n=100, method="inclusive"), max(pages)
    minutes = range(int(carried.wall_seconds // 60) + 1)
    table = [
        "| minute | ended | service, MB | database, MB |",
        "|---:|---:|---:|---:|",
        *(
            f"| {minute} | {max((one.ended for one in carried.looks if one.at <= 60 * minute + 60), default=0):,} "
            f"| {_within(carried.samples, minute):,.0f} | {_within(carried.database_samples, minute):,.0f} |"
            for minute in minutes
        ),
    ]
    states = ", ".join(f"{state} {count:,}" for state, count in sorted(carried.states.items()))
    return "\n".join(
        (
            f"{rows:,} rows accepted in {carried.accepted_seconds:.1f} s; {states} after {carried.wall_seconds:.0f} s",
            f"{3_600 * ended / carried.wall_seconds:,.0f} ideas an hour, {calls:,} calls answered, "
            f"{carried.cpu_seconds / max(ended, 1):.2f} CPU s an idea in the service, "
            f"{carried.database_cpu_seconds / max(ended, 1):.2f} in the database",
            f"{len(pages):,} pages: median {cuts[49]:.2f} s, p95 {cuts[94]:.2f} s, longest {longest:.2f} s",
            *(f"exported as {one.format}: {one.seconds:.1f} s, {one.bytes / 1e6:,.1f} MB" for one in carried.exported),
            f"memory after the first quarter: {60 * slope(carried.samples) / 1e6:+.2f} MB a minute in the service, "
            f"{60 * slope(carried.database_samples) / 1e6:+.2f} in the database",
            "",
            *table,
        )
    )


def _within(samples: Sequence[Sample], minute: int) -> float:
    """The most in that minute, in MB."""
    those = [one.bytes for one in samples if 60 * minute <= one.seconds < 60 * minute + 60]
    return max(those, default=0) / 1e6


if __name__ == "__main__":
    main()
