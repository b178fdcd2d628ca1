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
from workers.file_storage import FileStorage
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.parsed_paper import ParsedPaper
from workers.full_texts.settings import FullTextSettings

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
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> FileStorage:
    return FileStorage(str(tmp_path / "store") if request.param == "disk" else f"memory://{secrets.token_hex(8)}")


@pytest.fixture
def archive(storage: FileStorage, clock: HandClock) -> FullTextArchive:
    return FullTextArchive(storage, SETTINGS, clock)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "paper.pdf"
    path.write_bytes(PDF)
    return path


async def test_document_is_found_by_its_address_and_by_its_hash(archive: FullTextArchive, file: Path) -> None:
    assert await archive.find_document(URL) is None
    await archive.add_document(URL, file, HASH)
    assert await archive.find_document(URL) == HASH
    assert await archive.read_document(HASH) == PDF
    assert await archive.find_document(f"{URL}?other") is None


async def test_cached_download_address_expires(archive: FullTextArchive, file: Path, clock: HandClock) -> None:
    await archive.add_document(URL, file, HASH)
    clock.time += SETTINGS.keep_found
    assert await archive.find_document(URL) is None


async def test_damaged_document_counts_as_missing_until_stored_again(
    archive: FullTextArchive, storage: FileStorage, file: Path
) -> None:
    await archive.add_document(URL, file, HASH)
    await storage.write(f"documents/{HASH[:2]}/{HASH}.pdf", PDF[:-1])
    assert await archive.read_document(HASH) is None
    assert await archive.find_document(URL) is None
    await archive.add_document(URL, file, HASH)
    assert await archive.read_document(HASH) == PDF


async def test_undeletable_damaged_document_counts_as_missing(
    archive: FullTextArchive, storage: FileStorage, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(name: str) -> None:
        raise FullTextError(f"{name} may only be read.")

    await archive.add_document(URL, file, HASH)
    await storage.write(f"documents/{HASH[:2]}/{HASH}.pdf", b"")
    monkeypatch.setattr(storage, "delete", refused)
    assert await archive.read_document(HASH) is None


@pytest.mark.parametrize(
    ("error", "wait"),
    [
        (DownloadFailed("It was down.", "Later."), SETTINGS.retry_failed),
        (DownloadRefused("It was too long."), SETTINGS.retry_refused),
        (AddressRefused("It was private."), SETTINGS.retry_refused),
    ],
)
async def test_download_failure_is_cached_until_its_retry_time(
    archive: FullTextArchive, clock: HandClock, error: FullTextError, wait: dt.timedelta
) -> None:
    await archive.add_download_failure(URL, error)
    clock.time += wait - dt.timedelta(seconds=1)
    with pytest.raises(type(error)) as remembered:
        await archive.find_document(URL)
    assert str(remembered.value) == str(error)
    clock.time += dt.timedelta(seconds=1)
    assert await archive.find_document(URL) is None


async def test_parsed_paper_is_returned_and_its_parser_listed(archive: FullTextArchive) -> None:
    assert await archive.list_parsed_names(HASH) == []
    await archive.add_paper(HASH, "grobid-0.9.1-1", PAPER)
    await archive.add_tei(HASH, "grobid-0.9.1", b"<TEI/>")
    assert await archive.list_parsed_names(HASH) == ["grobid-0.9.1-1"]
    assert await archive.read_paper(HASH, "grobid-0.9.1-1") == PAPER
    assert await archive.read_tei(HASH, "grobid-0.9.1") == b"<TEI/>"
    assert await archive.read_paper(HASH, "grobid-0.9.2-1") is None


async def test_latest_tei_is_the_one_with_the_highest_version_number(archive: FullTextArchive) -> None:
    assert await archive.read_newest_tei(HASH) is None
    for version in ("0.10.0", "0.9.1"):
        await archive.add_tei(HASH, f"grobid-{version}", version.encode())
    assert await archive.read_newest_tei(HASH) == b"0.10.0"


async def test_damaged_parse_result_counts_as_missing(archive: FullTextArchive, storage: FileStorage) -> None:
    await archive.add_paper(HASH, "p", PAPER)
    await storage.write(f"readings/{HASH[:2]}/{HASH}/p.json.gz", b"\x1f\x8b broken")
    assert await archive.read_paper(HASH, "p") is None


async def test_parse_failure_is_cached_until_its_retry_time(archive: FullTextArchive, clock: HandClock) -> None:
    await archive.add_failure(HASH, "p", Unreadable("It is locked.", "Unlock it.", "encrypted"))
    failure = await archive.read_failure(HASH, "p")
    assert failure is not None
    assert (failure.cause, failure.hint) == ("encrypted", "Unlock it.")
    clock.time += SETTINGS.retry_refused
    assert await archive.read_failure(HASH, "p") is None


async def test_reader_never_sees_half_a_file(storage: FileStorage) -> None:
    contents = [bytes([65 + number]) * 200_000 for number in range(8)]
    await storage.write("x/y", contents[0])

    async def read() -> bool:
        return await storage.read("x/y") in contents

    async with asyncio.TaskGroup() as group:
        for data in contents * 4:
            group.create_task(storage.write("x/y", data))
        reads = [group.create_task(read()) for _ in range(32)]
    assert all(task.result() for task in reads)
    assert await storage.list_names("x") == ["y"]


async def test_unwritable_document_store_raises_a_typed_failure(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where a folder should be")
    with pytest.raises(FullTextError, match=r"The document store .* failed"):
        await FileStorage(str(tmp_path / "store")).write("x/y", b"data")


def test_unknown_store_type_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="nowhere://x cannot be opened"):
        FileStorage("nowhere://x")
