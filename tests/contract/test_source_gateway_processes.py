"""Several processes on one database: one request for what they all ask, one limit for all of them, no dead holds
anybody up for long."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import web

from orchestrator.store import Database
from tests.contract.small_source import ReceivedRequest, SmallSource, answer_in_order
from workers.outbound.source_settings import SourceSettings

ROOT = Path(__file__).resolve().parents[2]


class GatewayProcesses:
    """Processes that start their requests together; those still running at the end are killed."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._processes: list[Process] = []

    async def __aenter__(self) -> "GatewayProcesses":
        return self

    async def __aexit__(self, *_: object) -> None:
        for process in self._processes:
            if process.returncode is None:
                process.kill()
                await process.communicate()

    async def start(self, settings: SourceSettings, *paths: Sequence[str]) -> list[Process]:
        """Start one process for each list of paths; return when all are ready."""
        return await asyncio.gather(*(self._start(settings, each) for each in paths))

    async def _start(self, settings: SourceSettings, paths: Sequence[str]) -> Process:
        name = f"process{len(self._processes)}"
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "tests.contract.source_gateway_process",
                self._url,
                name,
                settings.model_dump_json(),
                *paths,
            ),
            cwd=ROOT,
            stdin=PIPE,
            stdout=PIPE,
        )
        self._processes.append(process)
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        return process


def go(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"go\n")


async def count_outcomes(process: Process) -> Counter[str]:
    output, _ = await process.communicate()
    assert process.returncode == 0
    return Counter(line.split()[1] for line in output.decode().splitlines())


@pytest.fixture
async def gateway_processes(database: Database, database_url: str) -> AsyncIterator[GatewayProcesses]:
    async with GatewayProcesses(database_url) as opened_processes:
        yield opened_processes


async def test_requests_shared_by_two_processes_are_sent_once(
    source: SmallSource, gateway_processes: GatewayProcesses
) -> None:
    settings = SourceSettings(base_url=source.url, spacing_seconds=0.02)
    paths = [f"papers/{number}" for number in range(30)]
    processes = await gateway_processes.start(settings, paths, paths)
    for process in processes:
        go(process)

    process_outcomes = [await count_outcomes(process) for process in processes]

    assert sorted(source.paths) == sorted(paths)
    assert sum(process_outcomes, Counter()) == {"asked": 30, "cached": 30}


@pytest.mark.parametrize("connections", [1, pytest.param(4, marks=pytest.mark.slow)])
async def test_rate_limits_hold_across_processes(
    source: SmallSource, gateway_processes: GatewayProcesses, connections: int
) -> None:
    settings = SourceSettings(base_url=source.url, spacing_seconds=0.2, connections=connections)
    processes = await gateway_processes.start(
        settings, *([f"{who}/{number}" for number in range(4)] for who in range(4))
    )
    for process in processes:
        go(process)

    process_outcomes = [await count_outcomes(process) for process in processes]

    assert process_outcomes == [{"asked": 4}] * 4
    on_the_way = 0.0 if connections == 1 else 0.1
    assert all(later_arrival - sooner >= 0.2 - on_the_way for sooner, later_arrival in pairwise(source.arrivals))
    assert source.peak <= connections


@pytest.mark.slow
async def test_retry_after_pause_applies_to_all_processes(
    source: SmallSource, gateway_processes: GatewayProcesses
) -> None:
    source.behaviour = answer_in_order((429, {"Retry-After": "2"}))
    settings = SourceSettings(base_url=source.url, spacing_seconds=0.05, connections=1)
    first, second = await gateway_processes.start(settings, ["a"], ["b"])
    go(first)
    await source.has_been_asked(1)
    go(second)

    assert await count_outcomes(first) == await count_outcomes(second) == {"asked": 1}
    assert min(source.arrivals[1:]) - source.arrivals[0] >= 2.0


async def test_request_of_a_killed_process_is_answered_by_another(
    source: SmallSource, gateway_processes: GatewayProcesses
) -> None:
    never = asyncio.Event()

    async def behave(request: ReceivedRequest) -> web.StreamResponse:
        if request.number == 0:
            await never.wait()
        return web.Response(text="here")

    source.behaviour = behave
    settings = SourceSettings(base_url=source.url, spacing_seconds=0.05, connect_seconds=2.0)
    doomed, heir = await gateway_processes.start(settings, ["papers/1"], ["papers/1"])
    go(doomed)
    await source.has_been_asked(1)
    go(heir)
    doomed.kill()

    assert await count_outcomes(heir) == {"asked": 1}
    assert source.paths == ["papers/1"] * 2
