"""Updates one percent of a million papers while another process searches them fifty times a second.

Papers are invented and embedding costs nothing (see `benchmarks.index.invented`), so everything else is measured. The
model's time for the new texts is extra; its own benchmark measures it.
"""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import psutil
from rich.console import Console

from assayer.models import OPEN
from benchmarks.index.invented import InventedEmbedder, generate_papers, write_records
from benchmarks.index.memory import run_in_process
from benchmarks.index.searching import SearchStatistics, search_steadily
from benchmarks.measuring import build_parser, format_heading, open_directory
from index import Corpus, build_corpus, read_delta, update_corpus
from index.building.update import StageTime, Stopwatch
from index.versions.manifest import CorpusChanges
from index.versions.verification_cache import VerificationCache

_SEED = 1
_WATCH_SECONDS = 0.1


class Cost(NamedTuple):
    seconds: float
    cpu: float
    peak_private_bytes: int
    """Peak private memory in bytes; mapped files, which the operating system may reclaim, are not counted."""
    bytes: int
    """Size of the version on disk."""


class UpdateResult(NamedTuple):
    cost: Cost
    stages: tuple[StageTime, ...]
    changes: CorpusChanges
    seconds_until_searchable: float
    """Seconds from the start until a newly opened corpus found a new paper."""


def main() -> None:
    parser = build_parser("index updating", __doc__)
    parser.add_argument("--papers", type=int, default=1_000_000)
    parser.add_argument(
        "--share", type=float, default=0.01, help="share of new papers; a tenth as many change, a tenth as many go"
    )
    parser.add_argument("--rate", type=float, default=50, help="searches per second during the update")
    parser.add_argument("--directory", type=Path, help="keep records and corpus here and reuse them")
    options = parser.parse_args()
    console = Console(highlight=False)
    console.print(format_heading(), soft_wrap=True)
    with open_directory(options.directory) as directory:
        _measure(options.papers, round(options.papers * options.share), options.rate, directory, console)


def _measure(papers: int, new_count: int, rate: float, directory: Path, console: Console) -> None:
    records, update_file, deletions_file = _prepare_records(papers, new_count, directory)
    corpus, build_directory = directory / "corpus", directory / "built"
    if build_directory.is_dir():
        _print_value(console, "built from scratch", "reused, not measured")
    else:
        cost = run_in_process(_build, records, build_directory)
        _print_value(console, f"{papers:,} papers built from scratch", _describe_cost(cost))
    shutil.rmtree(corpus, ignore_errors=True)
    shutil.copytree(build_directory, corpus, copy_function=_link)
    run_in_process(_verify, corpus)  # as in a service, whose processes verify only the files that are new
    with search_steadily(corpus, rate) as searching:
        searches_before = searching.collect(after=10)
        update = run_in_process(_update, update_file, deletions_file, corpus, f"P{papers}")
        searches_during = searching.finish()
    changes = update.changes
    changes_text = f"{changes.new:,} new, {changes.changed:,} changed, {changes.removed:,} removed"
    _print_value(console, changes_text, _describe_cost(update.cost))
    for stage in update.stages:
        _print_value(console, f"  {stage.name}", f"{stage.seconds:.1f} s")
    _print_value(console, "searchable after", f"{update.seconds_until_searchable:.1f} s")
    _print_value(console, "searches before", _describe_searches(searches_before))
    _print_value(console, "searches during", _describe_searches(searches_during))


def _prepare_records(papers: int, new_count: int, directory: Path) -> tuple[Path, Path, Path]:
    """Return the files of the corpus's records, of the incoming records, and of the ids to remove."""
    records, update_file, deletions_file = (directory / name for name in ("papers.jsonl", "night.jsonl", "gone.txt"))
    if not records.is_file():
        write_records(records, generate_papers(papers, _SEED))
    changed_records = (
        {**record, "citation_count": 7} for record in islice(generate_papers(papers, _SEED), new_count // 10)
    )
    write_records(update_file, chain(changed_records, generate_papers(new_count, _SEED + 1, first_number=papers)))
    deletions_file.write_text("".join(f"P{papers - 1 - number}\n" for number in range(new_count // 10)))
    return records, update_file, deletions_file


def _build(records: Path, directory: Path) -> Cost:
    with _measure_cost() as finish:
        manifest = asyncio.run(build_corpus([records], directory, InventedEmbedder())).manifest
    return finish(manifest.bytes)


def _update(update_file: Path, deletions_file: Path, directory: Path, new_paper: str) -> UpdateResult:
    """Update the corpus; `new_paper` is the id of an incoming paper."""
    started, stages = time.perf_counter(), Stopwatch()
    embedder = InventedEmbedder()
    with _measure_cost() as finish:
        with stages.stage("read incoming records"):
            delta = read_delta([update_file], deletions_file, embedder)
        summary = asyncio.run(update_corpus(delta, directory, embedder, watch=stages))
        with stages.stage("open and search"):
            title = next(upsert.title for upsert in delta.upserts if upsert.id == new_paper)
            (hits,) = asyncio.run(_open_corpus(directory).search([title], 20, OPEN))
    if new_paper not in {hit.paper.id for hit in hits} or summary.manifest.changes is None:
        raise RuntimeError(f"{new_paper} was not found by its title.")
    return UpdateResult(
        finish(summary.manifest.bytes), stages.stages, summary.manifest.changes, time.perf_counter() - started
    )


def _verify(directory: Path) -> None:
    _open_corpus(directory)


def _open_corpus(directory: Path) -> Corpus:
    return Corpus.open(directory, InventedEmbedder(), proofs=VerificationCache(directory.with_name("verified")))


@contextmanager
def _measure_cost() -> Iterator[Callable[[int], Cost]]:
    """Measure the resources that this process uses in the block; call the yielded function afterwards."""
    process, peak_bytes, has_ended = psutil.Process(), 0, threading.Event()

    def measure_peak() -> None:
        nonlocal peak_bytes
        while not has_ended.wait(_WATCH_SECONDS):
            memory = process.memory_info()
            peak_bytes = max(peak_bytes, memory.rss - memory.shared)

    watcher = threading.Thread(target=measure_peak, daemon=True)
    watcher.start()
    wall, cpu = time.perf_counter(), time.process_time()
    times_spent: list[float] = []
    yield lambda size: Cost(times_spent[0], times_spent[1], peak_bytes, size)
    times_spent += [time.perf_counter() - wall, time.process_time() - cpu]
    has_ended.set()
    watcher.join()


def _link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)


def _describe_cost(cost: Cost) -> str:
    return (
        f"{cost.seconds:.1f} s, {cost.cpu:.1f} s of CPU, {cost.peak_private_bytes / 1e6:,.0f} MB peak private memory, "
        f"{cost.bytes / 1e6:,.0f} MB on disk"
    )


def _describe_searches(searches: SearchStatistics) -> str:
    return (
        f"{searches.search_count:,} asked, {searches.failed:,} failed, p50 {searches.p50:.1f} ms, "
        f"p95 {searches.p95:.1f} ms, {searches.versions} versions"
    )


def _print_value(console: Console, label: str, value: str) -> None:
    console.print(f"{label:<48}{value}", soft_wrap=True)


if __name__ == "__main__":
    main()
