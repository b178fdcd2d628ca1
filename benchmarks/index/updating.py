"""Updates one percent of a million papers while another process searches them fifty times a second.

Papers are invented and embedding costs nothing (see `benchmarks.index.invented`), so everything else is measured. The
model's time for the new texts is extra; its own benchmark measures it.
"""

import asyncio
import multiprocessing as mp
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from rich.console import Console

from assayer.models import OPEN
from benchmarks.index.invented import InventedEmbedder, invented, write_records
from benchmarks.index.searching import Searched, search_steadily
from benchmarks.measuring import command_line, heading
from index import Corpus, build_corpus, read_delta, update_corpus
from index.building.update import StageTime, Stopwatch
from index.versions.manifest import CorpusChanges
from index.versions.verification_cache import VerificationCache

_SEED = 1
_WATCHED_EVERY = 0.1


class Cost(NamedTuple):
    seconds: float
    cpu: float
    own: int
    """Peak private memory in bytes; mapped files, which the operating system may reclaim, are not counted."""
    bytes: int
    """Size of the version on disk."""


class Updated(NamedTuple):
    cost: Cost
    stages: tuple[StageTime, ...]
    changes: CorpusChanges
    searchable: float
    """Seconds from the start until a newly opened corpus found a new paper."""


def main() -> None:
    parser = command_line("index updating", __doc__)
    parser.add_argument("--papers", type=int, default=1_000_000)
    parser.add_argument(
        "--share", type=float, default=0.01, help="share of new papers; a tenth as many change, a tenth as many go"
    )
    parser.add_argument("--rate", type=float, default=50, help="searches per second during the update")
    parser.add_argument("--directory", type=Path, help="keep records and corpus here and reuse them")
    options = parser.parse_args()
    console = Console(highlight=False)
    console.print(heading(), soft_wrap=True)
    with _directory(options.directory) as directory:
        _measure(options.papers, round(options.papers * options.share), options.rate, directory, console)


def _measure(papers: int, coming: int, rate: float, directory: Path, console: Console) -> None:
    records, night, gone = _records(papers, coming, directory)
    corpus, built = directory / "corpus", directory / "built"
    if built.is_dir():
        _tell(console, "built from scratch", "reused, not measured")
    else:
        cost = _in_a_process(_build, records, built)
        _tell(console, f"{papers:,} papers built from scratch", _told(cost))
    shutil.rmtree(corpus, ignore_errors=True)
    shutil.copytree(built, corpus, copy_function=_link)
    _in_a_process(_verify, corpus)  # as in a service, whose processes verify only the files that are new
    with search_steadily(corpus, rate) as searching:
        quiet = searching.so_far(after=10)
        done = _in_a_process(_update, night, gone, corpus, f"P{papers}")
        busy = searching.ended()
    changes = done.changes
    what = f"{changes.new:,} new, {changes.changed:,} changed, {changes.removed:,} removed"
    _tell(console, what, _told(done.cost))
    for stage in done.stages:
        _tell(console, f"  {stage.name}", f"{stage.seconds:.1f} s")
    _tell(console, "searchable after", f"{done.searchable:.1f} s")
    _tell(console, "searches before", _searches(quiet))
    _tell(console, "searches during", _searches(busy))


def _records(papers: int, coming: int, directory: Path) -> tuple[Path, Path, Path]:
    """Return the files of the corpus's records, of the incoming records, and of the ids to remove."""
    records, night, gone = (directory / name for name in ("papers.jsonl", "night.jsonl", "gone.txt"))
    if not records.is_file():
        write_records(records, invented(papers, _SEED))
    changed = ({**item, "citation_count": 7} for item in islice(invented(papers, _SEED), coming // 10))
    write_records(night, chain(changed, invented(coming, _SEED + 1, first=papers)))
    gone.write_text("".join(f"P{papers - 1 - number}\n" for number in range(coming // 10)))
    return records, night, gone


def _build(records: Path, directory: Path) -> Cost:
    with _watched() as watched:
        manifest = asyncio.run(build_corpus([records], directory, InventedEmbedder())).manifest
    return watched(manifest.bytes)


def _update(night: Path, gone: Path, directory: Path, new: str) -> Updated:
    """Update the corpus; `new` is the id of an incoming paper."""
    started, stages = time.perf_counter(), Stopwatch()
    embedder = InventedEmbedder()
    with _watched() as watched:
        with stages.stage("read incoming records"):
            delta = read_delta([night], gone, embedder)
        summary = asyncio.run(update_corpus(delta, directory, embedder, watch=stages))
        with stages.stage("open and search"):
            title = next(upsert.title for upsert in delta.upserts if upsert.id == new)
            (hits,) = asyncio.run(_open(directory).search([title], 20, OPEN))
    if new not in {hit.paper.id for hit in hits} or summary.manifest.changes is None:
        raise RuntimeError(f"{new} was not found by its title.")
    return Updated(
        watched(summary.manifest.bytes), stages.stages, summary.manifest.changes, time.perf_counter() - started
    )


def _verify(directory: Path) -> None:
    _open(directory)


def _open(directory: Path) -> Corpus:
    return Corpus.open(directory, InventedEmbedder(), proofs=VerificationCache(directory.with_name("verified")))


@contextmanager
def _watched() -> Iterator[Callable[[int], Cost]]:
    """Measure the resources that this process uses in the block; call the yielded function afterwards."""
    process, most, ended = psutil.Process(), 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not ended.wait(_WATCHED_EVERY):
            memory = process.memory_info()
            most = max(most, memory.rss - memory.shared)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    wall, cpu = time.perf_counter(), time.process_time()
    spent: list[float] = []
    yield lambda size: Cost(spent[0], spent[1], most, size)
    spent += [time.perf_counter() - wall, time.process_time() - cpu]
    ended.set()
    watcher.join()


def _in_a_process(work: Callable[..., Any], *given: Any) -> Any:
    """Run the work in a fresh process, so that its memory is measured separately."""
    with ProcessPoolExecutor(1, mp.get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def _link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)


def _told(cost: Cost) -> str:
    return (
        f"{cost.seconds:.1f} s, {cost.cpu:.1f} s of CPU, {cost.own / 1e6:,.0f} MB peak private memory, "
        f"{cost.bytes / 1e6:,.0f} MB on disk"
    )


def _searches(searched: Searched) -> str:
    return (
        f"{searched.asked:,} asked, {searched.failed:,} failed, p50 {searched.p50:.1f} ms, p95 {searched.p95:.1f} ms, "
        f"{searched.versions} versions"
    )


def _tell(console: Console, what: str, value: str) -> None:
    console.print(f"{what:<48}{value}", soft_wrap=True)


@contextmanager
def _directory(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


if __name__ == "__main__":
    main()
