"""Old versions of a corpus go wherever it lies, and what cannot be removed fails nobody who has published."""

import errno
import fcntl
import os
from pathlib import Path
from typing import IO

import pytest

from index import BuildOptions, Corpus, build_corpus
from index.versions import version_store
from tests.corpus_papers import RECORDS, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
_FLOCK = fcntl.flock


def lock_as_on_nfs(file: int | IO[bytes], operation: int) -> None:
    """Lock as on NFS, where an exclusive lock requires a file opened for writing."""
    number = file if isinstance(file, int) else file.fileno()
    if operation & fcntl.LOCK_EX and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    _FLOCK(number, operation)


async def build(source: Path, directory: Path, papers: int) -> str:
    write_jsonl(source, RECORDS[:papers])
    summary = await build_corpus([source], directory, EMBEDDER, options=BuildOptions(keep=1))
    return summary.manifest.version


def list_versions(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "versions").iterdir())


async def test_old_versions_are_removed_on_nfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", lock_as_on_nfs)
    source, directory = tmp_path / "papers.jsonl.gz", tmp_path / "corpus"
    await build(source, directory, 10)

    last = await build(source, directory, 11)

    assert list_versions(directory) == [last]


async def test_version_in_use_is_kept_on_nfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", lock_as_on_nfs)
    source, directory = tmp_path / "papers.jsonl.gz", tmp_path / "corpus"
    first = await build(source, directory, 10)
    reader = Corpus.open(directory, EMBEDDER)

    second = await build(source, directory, 11)

    assert list_versions(directory) == sorted([first, second])
    reader.close()


async def test_failed_version_removal_does_not_fail_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail_removal(version: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(version))

    source, directory = tmp_path / "papers.jsonl.gz", tmp_path / "corpus"
    first = await build(source, directory, 10)
    with monkeypatch.context() as patched:
        patched.setattr(version_store, "_remove_unless_held", fail_removal)
        second = await build(source, directory, 11)

    assert list_versions(directory) == sorted([first, second])
    assert version_store.VersionStore(directory).read_current_version() == second
    assert "Input/output error" in caplog.text
    assert [await build(source, directory, 12)] == list_versions(directory)


@pytest.mark.parametrize("damage", ["unreadable", "cut short"])
async def test_damaged_version_and_its_segments_are_kept(
    damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source, directory = tmp_path / "papers.jsonl.gz", tmp_path / "corpus"
    write_jsonl(source, RECORDS[:10])
    first = (await build_corpus([source], directory, EMBEDDER, options=BuildOptions(keep=5))).manifest
    manifest = directory / "versions" / first.version / "manifest.json"
    manifest_bytes = manifest.read_bytes()
    if damage == "unreadable":  # what a disk or a network file system does for a moment
        manifest.unlink()
        manifest.mkdir()
    else:
        manifest.write_bytes(manifest_bytes[:40])

    write_jsonl(source, RECORDS[10:21])
    second = (await build_corpus([source], directory, EMBEDDER, options=BuildOptions(keep=5))).manifest

    assert list_versions(directory) == sorted([first.version, second.version])
    assert "unused segments" in caplog.text
    if damage == "unreadable":
        manifest.rmdir()
    manifest.write_bytes(manifest_bytes)
    opened = Corpus.open(directory, EMBEDDER, version=first.version)
    assert len(opened) == 10
    opened.close()
