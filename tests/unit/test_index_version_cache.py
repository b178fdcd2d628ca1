"""Versions in flight: who has begun keeps what it began with, who begins gets what is new, and nobody waits for it."""

import asyncio
import gc
import os
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assayer.errors import CorpusError
from assayer.models import OPEN, PaperId
from index import BuildOptions, CorpusVersionCache, Delta, build_corpus, build_shards, update_corpus, update_shards
from index.records.paper_record import PaperRecord
from index.version_cache import VersionCache
from tests.corpus_papers import RECORDS, record, write_jsonl
from tests.polling import wait_until
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
PAPER = PaperId("bee-03")


class Version:
    """Open version, as a stand-in for a corpus."""

    def __init__(self, name: str) -> None:
        self.name = name


class VersionSource:
    """Versions that are opened when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0
        self.name = "one"
        self.opened: list[str] = []
        self.gates: dict[str, threading.Event] = {}
        self.broken: set[str] = set()

    def open(self, version: str) -> Version:
        self.opened.append(version)
        if version in self.gates:
            self.gates[version].wait(30)
        if version in self.broken or not version:
            raise CorpusError(f"Version {version!r} is not there.")
        return Version(version)

    def versions(self, idle: float = 100) -> VersionCache[Version]:
        return VersionCache(lambda: self.name, self.open, lambda: self.now, idle)


def count_files_in_use(directory: Path) -> Counter[str]:
    """Return how often this process has each file below a directory open or mapped."""
    entries = [Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd")]
    opened = [os.readlink(entry) for entry in entries if entry.is_symlink()]
    mapped = [line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines()]
    return Counter(name for name in opened + mapped if name.startswith(str(directory)))


async def test_concurrent_requests_open_a_version_once() -> None:
    shelf = VersionSource()
    versions = shelf.versions()
    versions_found = await asyncio.gather(*(versions.current() for _ in range(20)))
    assert shelf.opened == ["one"]
    assert {id(item) for item in versions_found} == {id(versions_found[0])}


async def test_old_version_is_used_while_the_next_is_opening() -> None:
    shelf = VersionSource()
    versions = shelf.versions()
    await versions.current()
    shelf.gates["two"] = threading.Event()
    shelf.name = "two"
    assert (await versions.current()).name == (await versions.current()).name == "one"
    shelf.gates["two"].set()
    await versions.wait_until_open()
    assert (await versions.current()).name == "two"
    assert shelf.opened == ["one", "two"]
    assert (await versions.at("one")).name == "one"


async def test_unopenable_version_keeps_old_version_in_use_and_is_retried(caplog: pytest.LogCaptureFixture) -> None:
    shelf = VersionSource()
    versions = shelf.versions()
    await versions.current()
    shelf.name, shelf.broken = "two", {"two"}
    for _ in range(3):
        assert (await versions.current()).name == "one"
        await versions.wait_until_open()
    assert shelf.opened == ["one", "two"]
    assert "cannot open corpus version two; still using one" in caplog.text
    shelf.broken, shelf.now = set(), 60.0
    await versions.current()
    await versions.wait_until_open()
    assert (await versions.current()).name == "two"


async def test_cancelled_request_does_not_affect_other_waiting_requests() -> None:
    shelf = VersionSource()
    shelf.gates["one"] = threading.Event()
    versions = shelf.versions()
    first, second = asyncio.create_task(versions.current()), asyncio.create_task(versions.current())
    await asyncio.sleep(0)
    first.cancel()
    shelf.gates["one"].set()
    assert (await second).name == "one"
    assert first.cancelled()


async def test_unused_version_is_released_after_idle_time() -> None:
    shelf = VersionSource()
    versions = shelf.versions(idle=10)
    current_version = await versions.current()
    shelf.name = "two"
    await versions.current()
    await versions.wait_until_open()
    shelf.now = 11.0
    await versions.current()
    assert (await versions.at("one")) is current_version, "whoever has it shares it"
    shelf.now = 30.0
    await versions.current()
    del current_version
    gc.collect()
    assert (await versions.at("one")).name == "one"
    assert shelf.opened == ["one", "two", "one"]


async def test_replaced_version_is_released_with_its_last_caller_without_idle_time() -> None:
    shelf = VersionSource()
    versions = shelf.versions(idle=0)
    current_version = await versions.current()
    shelf.name = "two"
    await versions.current()
    await versions.wait_until_open()
    await versions.current()
    assert await versions.at("one") is current_version
    assert shelf.opened == ["one", "two"]
    del current_version
    await versions.at("one")
    await versions.current()
    assert shelf.opened == ["one", "two", "one"], "the old version was closed, the current one stayed open"


async def test_missing_corpus_is_reported_on_each_request_until_it_exists() -> None:
    shelf = VersionSource()
    shelf.name = ""
    versions = shelf.versions()
    for _ in range(2):
        with pytest.raises(CorpusError):
            await versions.current()
    shelf.name = "one"
    assert (await versions.current()).name == "one"
    await versions.aclose()


@pytest.fixture(params=[0, 2])
async def updatable_corpus(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Callable[..., Any]]:
    """Directory of a corpus with this number of shards, and the function that updates it."""
    source, directory = write_jsonl(tmp_path / "papers.jsonl", RECORDS), tmp_path / "corpus"
    if request.param:
        await build_shards([source], request.param, directory, EMBEDDER)
        return directory, update_shards
    await build_corpus([source], directory, EMBEDDER)
    return directory, update_corpus


async def test_newest_corpus_is_served_while_earlier_version_remains_available(
    updatable_corpus: tuple[Path, Callable[..., Any]],
) -> None:
    directory, update = updatable_corpus
    corpora = CorpusVersionCache(directory, EMBEDDER)
    began = await corpora.current()
    for number in range(2):
        changed = PaperRecord.model_validate(record(3, title=f"Title {number}"))
        await update(Delta([changed]), directory, EMBEDDER, options=BuildOptions(keep=1))
        await corpora.current()
        await corpora.wait_until_open()
        assert (await (await corpora.current()).papers([PAPER], OPEN))[PAPER].title == f"Title {number}"
    assert await corpora.at(began.version) is began
    assert (await began.papers([PAPER], OPEN))[PAPER].title == record(3)["title"]
    await corpora.aclose()


async def test_replaced_version_is_closed_when_no_caller_holds_it(
    updatable_corpus: tuple[Path, Callable[..., Any]],
) -> None:
    directory, update = updatable_corpus
    gc.collect()  # what the build opened
    corpora = CorpusVersionCache(directory, EMBEDDER)
    began = await corpora.current()
    await began.search(["honey bees"], 3, OPEN)
    files = count_files_in_use(directory)
    changed = PaperRecord.model_validate(record(3, title="Another title"))
    await update(Delta([changed]), directory, EMBEDDER)
    gc.collect()  # what the update opened
    await corpora.current()
    await corpora.wait_until_open()
    files_of_both = count_files_in_use(directory)
    gc.disable()
    try:
        del began
        await asyncio.to_thread(wait_until, lambda: files_of_both - count_files_in_use(directory), files.__eq__)
        await corpora.aclose()
        await asyncio.to_thread(wait_until, lambda: count_files_in_use(directory), Counter().__eq__)
    finally:
        gc.enable()
