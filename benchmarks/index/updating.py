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
from benchmarks.index.invented import InventedEmbedder, generate_papers, write_records
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


def _measure(papers: int, new_count: int, rate: float, directory: Path, console: Console) -> None:
    records, update_file, deletions_file = _records(papers, new_count, directory)
    corpus, build_directory = directory / "corpus", directory / "built"
    if build_directory.is_dir():
        _tell(console, "built from scratch", "reused, not measured")
    else:
        cost = _in_a_process(_build, records, build_directory)
        _tell(console, f"{papers:,} papers built from scratch", _told(cost))
    shutil.rmtree(corpus, ignore_errors=True)
    shutil.copytree(build_directory, corpus, copy_function=_link)
    _in_a_process(_verify, corpus)  # as in a service, whose processes verify only the files that are new
    with search_steadily(corpus, rate) as searching:
        searches_before = searching.so_far(after=10)
        update = _in_a_process(_update, update_file, deletions_file, corpus, f"P{papers}")
        searches_during = searching.ended()
    changes = update.changes
    changes_text = f"{changes.new:,} new, {changes.changed:,} changed, {changes.removed:,} removed"
    _tell(console, changes_text, _told(update.cost))
    for stage in update.stages:
        _tell(console, f"  {stage.name}", f"{stage.seconds:.1f} s")
    _tell(console, "searchable after", f"{update.searchable:.1f} s")
    _tell(console, "searches before", _searches(searches_before))
    _tell(console, "searches during", _searches(searches_during))


def _records(papers: int, new_count: int, directory: Path) -> tuple[Path, Path, Path]:
    """Return the files of the corpus's records, of the incoming records, and of the ids to remove."""
    records, update_file, deletions_file = (directory / name for name in ("papers.jsonl", "night.jsonl", "gone.txt"))
    if not records.is_file():
        write_records(records, generate_papers(papers, _SEED))
    changed_records = (
        {**item, "citation_count": 7} for item in islice(generate_papers(papers, _SEED), new_count // 10)
    )
    write_records(update_file, chain(changed_records, generate_papers(new_count, _SEED + 1, first_number=papers)))
    deletions_file.write_text("".join(f"P{papers - 1 - number}\n" for number in range(new_count // 10)))
    return records, update_file, deletions_file


def _build(records: Path, directory: Path) -> Cost:
    with _watched() as watched:
        manifest = asyncio.run(build_corpus([records], directory, InventedEmbedder())).manifest
    return watched(manifest.bytes)


def _update(update_file: Path, deletions_file: Path, directory: Path, new_paper: str) -> Updated:
    """Update the corpus; `new_paper` is the id of an incoming paper."""
    started, stages = time.perf_counter(), Stopwatch()
    embedder = InventedEmbedder()
    with _watched() as watched:
        with stages.stage("read incoming records"):
            delta = read_delta([update_file], deletions_file, embedder)
        summary = asyncio.run(update_corpus(delta, directory, embedder, watch=stages))
        with stages.stage("open and search"):
            title = next(upsert.title for upsert in delta.upserts if upsert.id == new_paper)
            (hits,) = asyncio.run(_open(directory).search([title], 20, OPEN))
    if new_paper not in {hit.paper.id for hit in hits} or summary.manifest.changes is None:
        raise RuntimeError(f"{new_paper} was not found by its title.")
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
    process, peak_bytes, ended = psutil.Process(), 0, threading.Event()

    def watch() -> None:
        nonlocal peak_bytes
        while not ended.wait(_WATCHED_EVERY):
            memory = process.memory_info()
            peak_bytes = max(peak_bytes, memory.rss - memory.shared)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    wall, cpu = time.perf_counter(), time.process_time()
    times_spent: list[float] = []
    yield lambda size: Cost(times_spent[0], times_spent[1], peak_bytes, size)
    times_spent += [time.perf_counter() - wall, time.process_time() - cpu]
    ended.set()
    watcher.join()


def _in_a_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Run the work in a fresh process, so that its memory is measured separately."""
    with ProcessPoolExecutor(1, mp.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)


def _told(cost: Cost) -> str:
    return (
        f"{cost.seconds:.1f} s, {cost.cpu:.1f} s of CPU, {cost.own / 1e6:,.0f} MB peak private memory, "
        f"{cost.bytes / 1e6:,.0f} MB on disk"
    )


def _searches(searches: Searched) -> str:
    return (
        f"{searches.asked:,} asked, {searches.failed:,} failed, p50 {searches.p50:.1f} ms, p95 {searches.p95:.1f} ms, "
        f"{searches.versions} versions"
    )


def _tell(console: Console, label: str, value: str) -> None:
    console.print(f"{label:<48}{value}", soft_wrap=True)


@contextmanager
def _directory(path: Path | None) -> Iterator[Path]:
    if path is not None:
        path.mkdir(parents=True, exist_ok=True)
        yield path
        return
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


if __name__ == "__main__":
    main()
