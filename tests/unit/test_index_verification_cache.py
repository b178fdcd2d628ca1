"""Checksums are read again only of what may have changed."""

import os
import shutil
from pathlib import Path

import pytest

from assayer.errors import CorpusError
from index import Corpus, Delta, build_corpus, update_corpus
from index.hashing import verify_files
from index.records.paper_record import PaperRecord
from index.versions import verification_cache as proofs_module
from index.versions.verification_cache import VerificationCache
from tests.corpus_papers import RECORDS, record, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()


@pytest.fixture
async def directory(tmp_path: Path) -> Path:
    await build_corpus([write_jsonl(tmp_path / "papers.jsonl", RECORDS)], tmp_path / "corpus", EMBEDDER)
    return tmp_path / "corpus"


@pytest.fixture
def verified_directories(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Directories whose checksums were read."""
    names: list[str] = []

    def record_and_verify(files: object, directory: Path) -> None:
        names.append(directory.parent.name)
        verify_files(files, directory)  # type: ignore[arg-type]

    monkeypatch.setattr(proofs_module, "verify_files", record_and_verify)
    return names


def open_and_close(directory: Path, proofs: VerificationCache) -> None:
    Corpus.open(directory, EMBEDDER, proofs=proofs).close()


async def test_verification_by_first_process_is_reused_by_second(
    directory: Path, verified_directories: list[str]
) -> None:
    folder = directory.parent / "verified"
    open_and_close(directory, VerificationCache(folder))
    assert sorted(verified_directories) == ["segments", "versions"]
    open_and_close(directory, VerificationCache(folder))
    assert len(verified_directories) == 2
    open_and_close(directory, VerificationCache())
    assert len(verified_directories) == 4


async def test_only_new_files_of_next_version_are_verified(directory: Path, verified_directories: list[str]) -> None:
    proofs = VerificationCache(directory.parent / "verified")
    open_and_close(directory, proofs)
    papers = [PaperRecord.model_validate(record(number)) for number in range(20, 23)]
    await update_corpus(Delta(papers), directory, EMBEDDER)
    verified_directories.clear()
    open_and_close(directory, proofs)
    assert sorted(verified_directories) == ["segments", "versions"]


async def test_file_changed_after_verification_is_detected(directory: Path) -> None:
    proofs = VerificationCache(directory.parent / "verified")
    open_and_close(directory, proofs)
    path = next((directory / "segments").rglob("papers.arrow"))
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(CorpusError, match="has changed since it was written"):
        open_and_close(directory, proofs)


async def test_verification_from_before_a_reboot_is_ignored(
    directory: Path, verified_directories: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    proofs, boot_id_file = VerificationCache(directory.parent / "verified"), directory.parent / "boot"
    open_and_close(directory, proofs)
    boot_id_file.write_text("another\n")
    monkeypatch.setattr(proofs_module, "_BOOT", boot_id_file)
    open_and_close(directory, proofs)
    assert len(verified_directories) == 4


async def test_unwritable_cache_folder_only_disables_caching(directory: Path, verified_directories: list[str]) -> None:
    occupied_path = directory.parent / "verified"
    occupied_path.write_text("a file, not a folder")
    for _ in range(2):
        open_and_close(directory, VerificationCache(occupied_path))
    assert len(verified_directories) == 4


async def test_cache_entries_of_removed_files_are_deleted(directory: Path) -> None:
    folder = directory.parent / "verified"
    open_and_close(directory, VerificationCache(folder))
    notes = set(os.listdir(folder))
    moved_directory = Path(shutil.move(directory, directory.parent / "elsewhere"))
    open_and_close(moved_directory, VerificationCache(folder))
    assert len(os.listdir(folder)) == 2
    assert not notes & set(os.listdir(folder))
