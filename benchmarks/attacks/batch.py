"""`python -m benchmarks.attacks batch`: 5,000 hostile ideas in one batch, and how the service feels meanwhile.

A service of its own on loopback, in one process, with a corpus of the examples and a stand-in for the language model,
which answers at once and says nothing of quality. After --seconds what is left of the batch is deleted.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

import httpx2
import psutil
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.chaos.processes import database_server, family
from benchmarks.chaos.running import environment
from benchmarks.chaos.service import Service, serving
from benchmarks.fuzzing.hostile import REPEATED
from benchmarks.simulator.process import Simulator
from benchmarks.throughput.machine import machine
from benchmarks.throughput.watching import Watch

__all__ = ["Felt", "hostile_rows", "main", "within"]

_PROSE = "We measure how often reviewers agree with each other about the same plan of research. "
_LAG = "assayer_event_loop_lag_seconds"
_PROBE_PAUSE_SECONDS = 0.05
_LOOK_SECONDS = 5.0
_SHARE = 0.999
_PART = 500
"""Rows of one request."""
_EXAMPLES = Path(__file__).parents[2] / "examples" / "corpus.jsonl"


class Felt(NamedTuple):
    """What a batch does to the process that serves it."""

    accepted_seconds: float
    """From the first byte of the batch to the answer for its last part."""
    rows: int
    ended: Mapping[str, int]
    """By state, of the rows; those that were left are not in it."""
    seconds: float
    """For which it was watched, the upload included."""
    lags: Mapping[float, float]
    """Wake-ups of the event loop that came so late or earlier; as the service's histogram counts them."""
    probes: Sequence[float]
    """Seconds that each `/healthz` took, one after another."""
    unanswered: int
    before_bytes: int
    peak_bytes: int
    """Proportional set size of the service's processes, the database's not counted."""


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.attacks batch",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--characters", type=int, default=8_000, help="of each idea")
    parser.add_argument("--seconds", type=float, default=300.0, help="from the upload, at most")
    parser.add_argument("--latency", type=float, default=0.02, help="mean seconds of one answer of the model")
    parser.add_argument("--method", default="scholareval")
    asked = parser.parse_args(arguments)
    print(f"Machine: {machine()}, load {os.getloadavg()[0]:.1f} before.\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="assayer-batch-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        felt = asyncio.run(_run(Path(folder), asked))
    print(_told(felt))
    sys.exit(bool(felt.unanswered))


def hostile_rows(rows: int, characters: int) -> Iterator[bytes]:
    """Lines of JSON, no two alike: prose, and then one thing again and again."""
    for number in range(rows):
        unit = REPEATED[number % len(REPEATED)]
        filling = unit * (characters // len(unit))
        yield json.dumps({"title": f"Plan {number}", "text": f"{_PROSE * 4}\n\n{filling}\n\nPlan {number}."}).encode()


async def _run(home: Path, asked: argparse.Namespace) -> Felt:
    with Simulator(latency_mean=asked.latency) as model:
        own = environment(home / "corpus", model, home)
        await _build_corpus(own)
        async with serving(Service(home, (), own)) as service:
            return await _felt(service, asked)


async def _build_corpus(own: Mapping[str, str]) -> None:
    program = Path(sys.executable).with_name("assayer")
    process = await asyncio.create_subprocess_exec(program, "corpus", "build", _EXAMPLES, env=own)
    if await process.wait():
        raise RuntimeError("The corpus could not be built.")


async def _felt(service: Service, asked: argparse.Namespace) -> Felt:
    def own() -> list[psutil.Process]:
        server = database_server(service.home)
        database = {one.pid for one in family([server.pid])} if server else set[int]()
        return [one for one in family(service.roots) if one.pid not in database]

    before_bytes = sum(one.memory_full_info().pss for one in own())
    async with _client(service) as client:
        lags = await _lags(client)
        probes, began = _Probes(client), time.monotonic()
        with Watch(own) as watch:
            probing = asyncio.create_task(probes.go_on())
            try:
                batch = await _sent(client, list(hostile_rows(asked.rows, asked.characters)), asked.method)
                accepted_seconds = time.monotonic() - began
                ended = await _until_ended(client, batch, began + asked.seconds)
            finally:
                probing.cancel()
                await asyncio.gather(probing, return_exceptions=True)
        seconds = time.monotonic() - began
        after = await _lags(client)
        await client.delete(f"/v1/batches/{batch}")
    return Felt(
        accepted_seconds=accepted_seconds,
        rows=asked.rows,
        ended=ended,
        seconds=seconds,
        lags={most: count - lags.get(most, 0.0) for most, count in after.items()},
        probes=probes.seconds,
        unanswered=probes.unanswered,
        before_bytes=before_bytes,
        peak_bytes=max(one.bytes for one in watch.samples),
    )


def _client(service: Service) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=service.address, headers={"Authorization": f"Bearer {service.key}"}, timeout=120.0
    )


async def _sent(client: httpx2.AsyncClient, rows: Sequence[bytes], method: str) -> str:
    """In parts, as whoever sends so much has to: one body may take a minute to read. Returns the batch's id."""
    path, query = "/v1/batches", dict[str, str]()
    for start in range(0, len(rows), _PART):
        more = {"open": "true"} if start + _PART < len(rows) else dict[str, str]()
        answer = await client.post(
            path,
            params={"method": method, **query, **more},
            content=b"\n".join(rows[start : start + _PART]) + b"\n",
            headers={"Content-Type": "application/jsonl"},
        )
        found = answer.raise_for_status().json()
        path, query = f"/v1/batches/{found['id']}/rows", {"first": str(found["next_row"])}
    return path.split("/")[3]


async def _until_ended(client: httpx2.AsyncClient, batch: str, until: float) -> Mapping[str, int]:
    while True:
        found = (await client.get(f"/v1/batches/{batch}")).raise_for_status().json()
        if found["finished_at"] is not None or time.monotonic() > until:
            left = ("queued", "running", "retrying")
            return Counter({state: count for state, count in found["states"].items() if state not in left})
        await asyncio.sleep(_LOOK_SECONDS)


class _Probes:
    """Asks for the process's health, again and again, as an orchestrator of containers does."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self.seconds: list[float] = []
        self.unanswered = 0

    async def go_on(self) -> None:
        while True:
            began = time.monotonic()
            answered = False
            with suppress(httpx2.HTTPError):
                answered = (await self._client.get("/healthz")).is_success
            self.unanswered += not answered
            self.seconds.append(time.monotonic() - began)
            await asyncio.sleep(_PROBE_PAUSE_SECONDS)


async def _lags(client: httpx2.AsyncClient) -> dict[float, float]:
    text = (await client.get("/metrics")).raise_for_status().text
    return {
        float(sample.labels["le"]): sample.value
        for metric in text_string_to_metric_families(text)
        for sample in metric.samples
        if sample.name == f"{_LAG}_bucket"
    }


def within(lags: Mapping[float, float], share: float) -> float:
    """The smallest bound of the histogram that holds so large a share of what was counted; nan where nothing was."""
    count = max(lags.values(), default=0.0)
    return (
        min((most for most, so_many in lags.items() if so_many >= share * count), default=0.0)
        if count
        else float("nan")
    )


def _told(felt: Felt) -> str:
    cuts = quantiles(felt.probes, n=1_000, method="inclusive")
    ended = ", ".join(f"{state} × {count:,}" for state, count in felt.ended.items() if count) or "none"
    wake_ups = max(felt.lags.values(), default=0.0)
    return "\n".join(
        (
            f"{felt.rows:,} rows were taken in after {felt.accepted_seconds:.1f} s; {felt.seconds:.0f} s in all.",
            f"Ended by then: {ended}.",
            "",
            "| what | p50 | p99 | p99.9 | longest |",
            "|:--|--:|--:|--:|--:|",
            f"| lag of the event loop, {wake_ups:,.0f} wake-ups, at most | {within(felt.lags, 0.5):g} s "
            f"| {within(felt.lags, 0.99):g} s | {within(felt.lags, _SHARE):g} s | {within(felt.lags, 1.0):g} s |",
            f"| `/healthz`, {len(felt.probes):,} times, {felt.unanswered} unanswered | {cuts[499]:.3f} s "
            f"| {cuts[989]:.3f} s | {cuts[998]:.3f} s | {max(felt.probes):.3f} s |",
            "",
            f"Memory: {felt.before_bytes / 1e6:,.0f} MB before, {felt.peak_bytes / 1e6:,.0f} MB at its peak.",
        )
    )
