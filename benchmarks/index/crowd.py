"""What many ideas in flight save each other: searches asked one after the other, and as many at once, which then share
passes over the index. Of papers of the corpus, by their titles and their own vectors, so that nothing is embedded."""

import argparse
import asyncio
import statistics
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

from rich.console import Console

from assayer.models import Hit
from assayer.ports import Vectors
from benchmarks.index.machine import machine
from index import Filters, VersionStore, read_manifest
from index.search.corpus_queries import LocalReader
from index.search.version_reader import VersionReader

_HITS = 20
_TURNS = 5


class Query(NamedTuple):
    words: str
    vector: Vectors


class Spent(NamedTuple):
    """Milliseconds a search."""

    wall: float
    processor: float


Answers = list[list[Hit]]
Way = Callable[[LocalReader, list[Query]], Awaitable[Answers]]


async def _one(opened: LocalReader, query: Query) -> list[Hit]:
    (found,) = await opened.call(VersionReader.search, [query.words], query.vector, _HITS, Filters())
    return found


async def in_turn(opened: LocalReader, queries: list[Query]) -> Answers:
    return [await _one(opened, query) for query in queries]


async def at_once(opened: LocalReader, queries: list[Query]) -> Answers:
    return await asyncio.gather(*(_one(opened, query) for query in queries))


async def timed(way: Way, opened: LocalReader, queries: list[Query]) -> tuple[Spent, Answers]:
    wall, processor = perf_counter(), process_time()
    answers = await way(opened, queries)
    each = 1000 / len(queries)
    return Spent((perf_counter() - wall) * each, (process_time() - processor) * each), answers


def chosen(reader: VersionReader, count: int) -> list[Query]:
    """Papers spread evenly over the corpus."""
    units = range(0, len(reader), max(1, len(reader) // count))[:count]
    return [Query(reader.paper(unit).title, reader.vector(unit)[None]) for unit in units]


async def measure(opened: LocalReader, queries: list[Query], console: Console) -> None:
    first = await in_turn(opened, queries)
    spent: dict[Way, list[Spent]] = {in_turn: [], at_once: []}
    differing = 0
    for _ in range(_TURNS):
        for way, times in spent.items():
            took, answers = await timed(way, opened, queries)
            differing += sum(one != other for one, other in zip(answers, first, strict=True))
            times.append(took)
    for name, way in (("one after the other", in_turn), ("at once", at_once)):
        wall, processor = (statistics.median(one) for one in zip(*spent[way], strict=True))
        console.print(f"{len(queries)} searches {name}: {wall:.2f} ms each, {processor:.2f} ms of processor")
    console.print(f"answers that differ from those of the first time: {differing}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index crowd", description=__doc__)
    parser.add_argument("corpus", type=Path, help="a corpus, whole and not in shards")
    parser.add_argument("--searches", type=int, default=64)
    given = parser.parse_args()
    versions = VersionStore(given.corpus)
    console = Console(highlight=False, soft_wrap=True)
    with closing(LocalReader.open(versions, read_manifest(versions.current_path()))) as opened:
        console.print(f"{machine()}; {len(opened.reader):,} papers; medians of {_TURNS} turns")
        asyncio.run(measure(opened, chosen(opened.reader, given.searches), console))
