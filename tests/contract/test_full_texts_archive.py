"""The archive of documents, on a local disk and on an object store in memory."""

import asyncio
import datetime as dt
import hashlib
import secrets
from pathlib import Path

import pytest

from assayer.errors import (
    AddressRefused,
    ConfigurationError,
    DownloadFailed,
    DownloadRefused,
    FullTextError,
    Unreadable,
)
from assayer.models import Section
from workers.full_texts.archive import Archive
from workers.full_texts.parsed import ParsedPaper
from workers.full_texts.settings import FullTextSettings
from workers.full_texts.storage import Storage

URL = "https://a.example/paper.pdf"
PDF = b"%PDF-1.7 birds"
HASH = hashlib.sha256(PDF).hexdigest()
PAPER = ParsedPaper(
    parser="grobid", version="0.9.1", title="Birds", sections=(Section(title="Methods", text="We count."),)
)
SETTINGS = FullTextSettings(retry_failed=dt.timedelta(hours=1), retry_refused=dt.timedelta(days=1))


class HandClock:
    def __init__(self) -> None:
        self.time = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)

    def now(self) -> dt.datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=["disk", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return Storage(str(tmp_path / "store") if request.param == "disk" else f"memory://{secrets.token_hex(8)}")


@pytest.fixture
def archive(storage: Storage, clock: HandClock) -> Archive:
    return Archive(storage, SETTINGS, clock)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "paper.pdf"
    path.write_bytes(PDF)
    return path


async def test_document_is_found_by_its_address_and_by_its_hash(archive: Archive, file: Path) -> None:
    assert await archive.visited(URL) is None
    await archive.keep(URL, file, HASH)
    assert await archive.visited(URL) == HASH
    assert await archive.document(HASH) == PDF
    assert await archive.visited(f"{URL}?other") is None


async def test_address_is_looked_at_again_after_its_time(archive: Archive, file: Path, clock: HandClock) -> None:
    await archive.keep(URL, file, HASH)
    clock.time += SETTINGS.keep_found
    assert await archive.visited(URL) is None


async def test_damaged_document_counts_as_missing(archive: Archive, storage: Storage, file: Path) -> None:
    await archive.keep(URL, file, HASH)
    await storage.write(f"documents/{HASH[:2]}/{HASH}.pdf", PDF[:-1])
    assert await archive.document(HASH) is None


@pytest.mark.parametrize(
    ("error", "wait"),
    [
        (DownloadFailed("It was down.", "Later."), SETTINGS.retry_failed),
        (DownloadRefused("It was too long."), SETTINGS.retry_refused),
        (AddressRefused("It was private."), SETTINGS.retry_refused),
    ],
)
async def test_failure_of_an_address_is_remembered_for_its_time(
    archive: Archive, clock: HandClock, error: FullTextError, wait: dt.timedelta
) -> None:
    await archive.remember(URL, error)
    clock.time += wait - dt.timedelta(seconds=1)
    with pytest.raises(type(error)) as remembered:
        await archive.visited(URL)
    assert str(remembered.value) == str(error)
    clock.time += dt.timedelta(seconds=1)
    assert await archive.visited(URL) is None


async def test_reading_comes_back_and_names_its_parser(archive: Archive) -> None:
    assert await archive.readings(HASH) == []
    await archive.add_paper(HASH, "grobid-0.9.1-1", PAPER)
    await archive.add_tei(HASH, "grobid-0.9.1", b"<TEI/>")
    assert await archive.readings(HASH) == ["grobid-0.9.1-1"]
    assert await archive.paper(HASH, "grobid-0.9.1-1") == PAPER
    assert await archive.tei(HASH, "grobid-0.9.1") == b"<TEI/>"
    assert await archive.paper(HASH, "grobid-0.9.2-1") is None


async def test_damaged_reading_counts_as_missing(archive: Archive, storage: Storage) -> None:
    await archive.add_paper(HASH, "p", PAPER)
    await storage.write(f"readings/{HASH[:2]}/{HASH}/p.json.gz", b"\x1f\x8b broken")
    assert await archive.paper(HASH, "p") is None


async def test_failed_reading_is_remembered_for_its_time(archive: Archive, clock: HandClock) -> None:
    await archive.add_failure(HASH, "p", Unreadable("It is locked.", "Unlock it.", "encrypted"))
    failure = await archive.failed(HASH, "p")
    assert failure is not None
    assert (failure.cause, failure.hint) == ("encrypted", "Unlock it.")
    clock.time += SETTINGS.retry_refused
    assert await archive.failed(HASH, "p") is None


async def test_one_of_many_has_the_claim_until_it_is_released(archive: Archive) -> None:
    minute = dt.timedelta(minutes=1)
    assert sum(await asyncio.gather(*(archive.claim(URL, minute) for _ in range(20)))) == 1
    await archive.release(URL)
    assert await archive.claim(URL, minute)


async def test_claim_of_the_dead_runs_out(archive: Archive, clock: HandClock) -> None:
    minute = dt.timedelta(minutes=1)
    assert await archive.claim(URL, minute)
    assert not await archive.claim(URL, minute)
    clock.time += minute
    assert await archive.claim(URL, minute)


async def test_reader_never_sees_half_a_file(storage: Storage) -> None:
    whole = [bytes([65 + number]) * 200_000 for number in range(8)]
    await storage.write("x/y", whole[0])

    async def read() -> bool:
        return await storage.read("x/y") in whole

    async with asyncio.TaskGroup() as group:
        for data in whole * 4:
            group.create_task(storage.write("x/y", data))
        reads = [group.create_task(read()) for _ in range(32)]
    assert all(task.result() for task in reads)
    assert await storage.names("x") == ["y"]


async def test_full_or_forbidden_disk_is_a_typed_failure(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where a folder should be")
    with pytest.raises(FullTextError, match=r"The document store .* failed"):
        await Storage(str(tmp_path / "store")).write("x/y", b"data")


def test_store_of_an_unknown_kind_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigurationError, match="nowhere://x cannot be opened"):
        Storage("nowhere://x")
