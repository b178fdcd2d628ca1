"""Bad corpus input yields a single message that says what is wrong, where, and what to do.

Valid input is kept, and the current version keeps answering."""

import json
import multiprocessing
import resource
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assayer.errors import CorpusError
from assayer.models import OPEN
from index import BuildOptions, Corpus, Delta, VersionStore, build_corpus, read_delta, read_manifest, update_corpus
from index.records.paper_record import PaperRecord
from index.versions.manifest import Manifest
from tests.corpus_papers import RECORDS, record, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
_APPROXIMATE = BuildOptions(exact_up_to=50)


def build_line(number: int, **fields: Any) -> bytes:
    return json.dumps(record(number, **fields)).encode() + b"\n"


@pytest.fixture
async def directory(tmp_path: Path) -> Path:
    """Directory of a corpus with two segments, the first with a hidden row."""
    await build_corpus([write_jsonl(tmp_path / "papers.jsonl", RECORDS)], tmp_path / "corpus", EMBEDDER)
    await update(tmp_path / "corpus", record(2, title="Lichens on walls"), segment=5)
    return tmp_path / "corpus"


async def update(directory: Path, *records: dict[str, Any], segment: int = 1000) -> Manifest:
    delta = Delta([PaperRecord.model_validate(item) for item in records])
    options = BuildOptions(papers_per_segment=segment)
    return (await update_corpus(delta, directory, EMBEDDER, options=options)).manifest


async def read_answers(directory: Path) -> tuple[str, list[str]]:
    corpus = Corpus.open(directory, EMBEDDER)
    try:
        (hits,) = await corpus.search(["bees in meadows"], 100, OPEN)
        return corpus.version, [hit.paper.title for hit in hits]
    finally:
        corpus.close()


# Records

RECORDS_SET_ASIDE: dict[str, tuple[bytes, str]] = {
    "no id": (
        build_line(40, id=None),
        "id is missing, or contains white space, square brackets or invisible characters",
    ),
    "no title": (build_line(40, title=""), "title is missing"),
    "no abstract": (build_line(40, abstract=None), "abstract is missing"),
    "an id twice": (build_line(30), "duplicate id"),
    "Latin-1": ('{"id": "x", "title": "Käfer", "abstract": "…"}\n'.encode("cp1252"), "not UTF-8"),
    "UTF-16": (build_line(40).decode().strip().encode("utf-16") + b"\n", "not UTF-8"),
    "half a line": (build_line(40)[:100] + b"\n", "not valid JSON"),
    "a list": (b"[1, 2]\n", "not a JSON object"),
    "a date that is none": (build_line(40, publication_date="soon"), "publication_date is not a date"),
}


async def test_bad_records_are_listed_with_reason_and_good_records_kept(directory: Path, tmp_path: Path) -> None:
    for case, (bad, reason) in RECORDS_SET_ASIDE.items():
        (source := tmp_path / "new.jsonl").write_bytes(build_line(30) + bad + build_line(31))
        delta = read_delta([source])
        assert {upsert.id for upsert in delta.upserts} == {"bee-30", "bee-31"}, case
        assert delta.rejections[0].line == 2, case
        assert delta.rejections[0].reason.startswith(reason), case
    manifest = (await update_corpus(delta, directory, EMBEDDER)).manifest
    assert manifest.papers == 16
    assert (VersionStore(directory).find_current_path() / "rejected.jsonl").read_text("utf-8").count(
        "new.jsonl"
    ) == len(delta.rejections)


# Files of a corpus


def list_files(directory: Path) -> list[Path]:
    """All that the current version rests on."""
    versions = VersionStore(directory)
    manifest = read_manifest(versions.find_current_path())
    own = [versions.find_current_path() / file.path for file in manifest.files]
    return own + [
        versions.get_segment_path(segment.name) / file.path for segment in manifest.segments for file in segment.files
    ]


async def test_single_bit_corruption_of_any_file_is_reported(directory: Path) -> None:
    for path in list_files(directory):
        before = path.read_bytes()
        path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]) if before else b"\0")
        with pytest.raises(CorpusError) as caught:
            Corpus.open(directory, EMBEDDER)
        assert caught.value.message == f"The corpus is damaged: {path} has changed since it was written."
        assert caught.value.hint == "Build it again: assayer corpus build PATH."
        path.write_bytes(before)
    assert (await read_answers(directory))[0]


async def test_manifest_of_another_version_is_rejected(directory: Path) -> None:
    versions = VersionStore(directory)
    before = versions.find_current_path()
    await update(directory, record(30))
    for name in ("manifest.json", "manifest.json.sha256"):
        shutil.copy(before / name, versions.find_current_path() / name)
    with pytest.raises(CorpusError, match=rf"manifest\.json is from version {before.name}"):
        Corpus.open(directory, EMBEDDER)


async def test_updating_a_damaged_corpus_changes_nothing(directory: Path) -> None:
    version, path = VersionStore(directory).read_current_version(), list_files(directory)[-1]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CorpusError, match="has changed since it was written"):
        await update(directory, record(30))
    assert VersionStore(directory).read_current_version() == version


# Where it lies


async def test_directory_without_corpus_is_rejected_and_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to-anna.txt").write_text("Dear Anna")
    for work in (read_answers(tmp_path / "letters"), update(tmp_path / "letters", record(30))):
        with pytest.raises(CorpusError, match=r"There is no corpus in .*letters") as caught:
            await work
        assert "assayer corpus build PATH" in caught.value.hint
    assert [path.name for path in (tmp_path / "letters").iterdir()] == ["to-anna.txt"]


def _mount(options: str, place: Path) -> None:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("a file system of its own can be mounted by root only")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small one with a corpus on it."""
    (place := tmp_path / "disk").mkdir()
    _mount("size=16m", place)
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.fixture(scope="module")
def other_process() -> Iterator[ProcessPoolExecutor]:
    """A process of its own: a page that cannot be written kills whoever wrote it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        yield pool


def try_to_build(source: Path, directory: Path, largest: int | None) -> str:
    """Builds; the error's text, or nothing. `largest` is the size that a file may have."""
    import asyncio

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest or before[0], before[1]))
        asyncio.run(build_corpus([source], directory, EMBEDDER, options=_APPROXIMATE))
    except CorpusError as error:
        return str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    return ""


def _write_many_papers(path: Path) -> Path:
    words = (" ".join(f"word{number * place % 4001}" for place in range(1, 60)) for number in range(500))
    return write_jsonl(path, [record(number, abstract=f"Bees: {word}.") for number, word in enumerate(words)])


def _list_tree(directory: Path) -> list[Path]:
    return list(directory.rglob("*"))


def _compute_size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


async def test_full_disk_during_build_keeps_version_and_build_later_succeeds(
    disk: Path, tmp_path: Path, other_process: ProcessPoolExecutor
) -> None:
    source, small = _write_many_papers(tmp_path / "many.jsonl"), write_jsonl(tmp_path / "small.jsonl", RECORDS)
    await build_corpus([small], disk / "corpus", EMBEDDER)
    used, before = _compute_size(disk), await read_answers(disk / "corpus")
    assert other_process.submit(try_to_build, source, tmp_path / "elsewhere", None).result() == ""
    needed = _compute_size(tmp_path / "elsewhere")
    for share in (0.2, 0.5, 0.8):
        _mount(f"remount,size={used + int(share * needed)}", disk)
        assert other_process.submit(try_to_build, source, disk / "corpus", None).result() == (
            f"The corpus in {disk / 'corpus'} cannot be written: No space left on device. "
            "Free some space and run the command again."
        )
        assert await read_answers(disk / "corpus") == before
    _mount("remount,size=32m", disk)
    assert other_process.submit(try_to_build, source, disk / "corpus", None).result() == ""
    assert len((await read_answers(disk / "corpus"))[1]) == 100
    assert "unfinished" not in " ".join(map(str, _list_tree(disk)))


async def test_file_size_limit_is_reported_with_ulimit_hint(
    directory: Path, tmp_path: Path, other_process: ProcessPoolExecutor
) -> None:
    before, source = await read_answers(directory), _write_many_papers(tmp_path / "many.jsonl")
    message = other_process.submit(try_to_build, source, directory, 120_000).result()
    assert message == (
        f"The corpus in {directory} cannot be written: File too large. "
        "Raise the limit on file sizes (ulimit -f) and run the command again."
    )
    assert await read_answers(directory) == before


async def test_read_only_directory_serves_searches_and_rejects_updates(disk: Path, tmp_path: Path) -> None:
    small = write_jsonl(tmp_path / "small.jsonl", RECORDS)
    await build_corpus([small], disk / "corpus", EMBEDDER)
    _mount("remount,ro", disk)
    before = await read_answers(disk / "corpus")
    with pytest.raises(CorpusError, match="cannot be written: Read-only file system") as caught:
        await update(disk / "corpus", record(30))
    assert "Mount the disk for writing" in caught.value.hint
    assert await read_answers(disk / "corpus") == before
