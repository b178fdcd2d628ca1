"""`python -m benchmarks.full_texts`: the GROBID pool against three simulated servers, one of which dies midway.

The ideal counts every engine of every server that is alive as working all the time: in T seconds, with a server of s
slots dead for D of them, n·s·T − s·D engine-seconds, each document taking the mean time of parsing. 503s, the search
for a free engine, documents lost to the death and sent again, and the last engines running dry all count against us.

`--client grobid-client-python` does the same with GROBID's own client. Afterwards documents are cancelled while
servers work on them, and while they hang: what threads that leaves is counted.
"""

import argparse
import asyncio
import json
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

from assayer.errors import AssayerError
from benchmarks.chaos.waiting import until
from benchmarks.simulator.outside.library import Library
from benchmarks.simulator.outside.pdfs import paper_pdf
from benchmarks.simulator.outside.process import OutsideWorld
from benchmarks.simulator.outside.sample import SAMPLE
from workers.full_texts.grobid_pool import GrobidPool
from workers.full_texts.grobid_tei import parse_tei
from workers.full_texts.settings import GrobidSettings

_SERVERS = ("grobid_1", "grobid_2", "grobid_3")
_VICTIM = "grobid_2"
_PATIENCE = 600.0
_TARGET = 0.9
_LOOK_SECONDS = 0.05


class _Document(NamedTuple):
    title: str
    pdf: bytes


class _Outage(NamedTuple):
    began: float
    ended: float


def _documents(count: int) -> list[_Document]:
    """Distinct ones, made of the sample's papers."""
    library = Library(SAMPLE)
    pdfs = [_Document(one.record.title, paper_pdf(one, library.references(one))) for one in library.entries]
    return [pdfs[n % len(pdfs)]._replace(pdf=pdfs[n % len(pdfs)].pdf + b"\n%% copy %d" % n) for n in range(count)]


async def _read(pool: GrobidPool, document: _Document, outcomes: list[str]) -> None:
    try:
        paper = parse_tei(await pool.parse(document.pdf, document.title, _PATIENCE))
    except AssayerError as error:
        outcomes.append(f"lost: {error}")
        return
    outcomes.append("read" if paper.title == document.title else f"mixed up: {paper.title}")


async def _kill_and_revive(world: OutsideWorld, after: float, seconds: float) -> _Outage:
    await asyncio.sleep(after)
    began = time.monotonic()
    await asyncio.to_thread(world.configure, _VICTIM, dead=True)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(world.configure, _VICTIM, dead=False)
    return _Outage(began, time.monotonic())


class _Connections:
    """Counts those that this process opens, whatever opens them."""

    def __init__(self) -> None:
        self.opened = 0
        sys.addaudithook(self._hear)

    def _hear(self, event: str, _: tuple[Any, ...]) -> None:
        self.opened += event == "socket.connect"


def _threads() -> int:
    """But those in which this program asks the simulator."""
    return sum(not one.name.startswith("asyncio_") for one in threading.enumerate())


async def _most_threads() -> int:
    """Until it is cancelled."""
    most = 0
    try:
        while True:
            most = max(most, _threads())
            await asyncio.sleep(_LOOK_SECONDS)
    except asyncio.CancelledError:
        return most


async def _left_by_cancelled(world: OutsideWorld, pool: GrobidPool, documents: Sequence[_Document]) -> dict[str, int]:
    """Threads more than before, a second after documents on every slot were cancelled."""
    before = _threads()
    tasks = [asyncio.create_task(pool.parse(one.pdf, one.title, _PATIENCE)) for one in documents]

    async def all_at_work() -> bool:
        in_flight = [(await asyncio.to_thread(world.stats, name)).in_flight for name in _SERVERS]
        return sum(in_flight) >= len(tasks)

    await until(all_at_work, _PATIENCE, _LOOK_SECONDS)
    at_work = _threads() - before
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(1.0)
    return {"cancelled": len(tasks), "threads at work": at_work, "threads left": _threads() - before}


async def _measure(world: OutsideWorld, options: argparse.Namespace, connections: _Connections) -> dict[str, object]:
    settings = GrobidSettings(
        urls=tuple(world.url(name.replace("_", "-")) for name in _SERVERS),
        client=options.client,
        slots=options.slots,
        recover_seconds=1.0,
    )
    documents = _documents(options.documents)
    ideal_seconds = options.documents * options.parse_seconds / (len(_SERVERS) * options.slots)
    outcomes: list[str] = []
    async with GrobidPool(settings) as pool:
        before = connections.opened
        most_threads = asyncio.create_task(_most_threads())
        started, cpu = time.monotonic(), time.process_time()
        async with asyncio.TaskGroup() as group:
            death = group.create_task(_kill_and_revive(world, ideal_seconds / 3, ideal_seconds / 4))
            for document in documents:
                group.create_task(_read(pool, document, outcomes))
        ended, cpu = time.monotonic(), time.process_time() - cpu
        most_threads.cancel()
        opened = connections.opened - before
        stats = {name: world.stats(name) for name in _SERVERS}
        left = await _cancellations(world, pool, documents[: len(_SERVERS) * options.slots])
    outage = death.result()
    wall, dead = ended - started, min(outage.ended, ended) - outage.began
    ideal = (len(_SERVERS) * wall - dead) * options.slots / options.parse_seconds
    return {
        "client": options.client,
        "documents": len(documents),
        "read": outcomes.count("read"),
        "lost or mixed up": [one for one in outcomes if one != "read"],
        "wall seconds": round(wall, 2),
        "one server dead for": round(dead, 2),
        "documents a second": round(len(documents) / wall, 2),
        "ideal documents in that time": round(ideal, 1),
        "share of the ideal": round(outcomes.count("read") / ideal, 4),
        "answers by server": {name: one.by_status for name, one in stats.items()},
        "cut off by the death": stats[_VICTIM].abandoned,
        "own CPU seconds": round(cpu, 2),
        "own CPU, ms a document": round(1000 * cpu / len(documents), 2),
        "connections opened": opened,
        "threads at most": await most_threads,
        **left,
    }


async def _cancellations(
    world: OutsideWorld, pool: GrobidPool, documents: Sequence[_Document]
) -> dict[str, dict[str, int]]:
    """At servers that are at work, and at servers that hang: both would go on for a minute and more."""
    found = {}
    for state, knobs in (("at work", {"parse_mean": 60.0, "busy_rate": 0.0}), ("hung", {"hung": True})):
        for name in _SERVERS:
            await asyncio.to_thread(lambda name, knobs: world.configure(name, **knobs), name, knobs)
        found[f"while servers are {state}"] = await _left_by_cancelled(world, pool, documents)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.full_texts", description=__doc__)
    parser.add_argument("--documents", type=int, default=720)
    parser.add_argument("--slots", type=int, default=4, help="of each of the three servers")
    parser.add_argument("--parse-seconds", type=float, default=1.0, help="mean; single documents differ by a quarter")
    parser.add_argument("--busy-rate", type=float, default=0.2, help="share of documents answered 503")
    parser.add_argument(
        "--client", choices=get_args(GrobidSettings.model_fields["client"].annotation), default="aiohttp"
    )
    options = parser.parse_args(arguments)
    connections = _Connections()
    knobs = {"slots": options.slots, "parse_mean": options.parse_seconds, "busy_rate": options.busy_rate}
    with OutsideWorld(knobs=dict.fromkeys(_SERVERS, knobs)) as world:
        figures = asyncio.run(_measure(world, options, connections))
    print(json.dumps(figures, indent=2, ensure_ascii=False))
    if figures["read"] != options.documents or float(str(figures["share of the ideal"])) < _TARGET:
        sys.exit(1)


if __name__ == "__main__":
    main()
