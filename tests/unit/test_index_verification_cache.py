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
def verified(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Directories whose checksums were read."""
    seen: list[str] = []

    def noting(files: object, directory: Path) -> None:
        seen.append(directory.parent.name)
        verify_files(files, directory)  # type: ignore[arg-type]

    monkeypatch.setattr(proofs_module, "verify_files", noting)
    return seen


def opened(directory: Path, proofs: VerificationCache) -> None:
    Corpus.open(directory, EMBEDDER, proofs=proofs).close()


async def test_second_process_trusts_what_the_first_has_verified(directory: Path, verified: list[str]) -> None:
    folder = directory.parent / "verified"
    opened(directory, VerificationCache(folder))
    assert sorted(verified) == ["segments", "versions"]
    opened(directory, VerificationCache(folder))
    assert len(verified) == 2
    opened(directory, VerificationCache())
    assert len(verified) == 4


async def test_next_version_has_only_its_own_files_verified(directory: Path, verified: list[str]) -> None:
    proofs = VerificationCache(directory.parent / "verified")
    opened(directory, proofs)
    many = [PaperRecord.model_validate(record(number)) for number in range(20, 23)]
    await update_corpus(Delta(many), directory, EMBEDDER)
    verified.clear()
    opened(directory, proofs)
    assert sorted(verified) == ["segments", "versions"]


async def test_file_that_has_changed_since_is_noticed(directory: Path) -> None:
    proofs = VerificationCache(directory.parent / "verified")
    opened(directory, proofs)
    path = next((directory / "segments").rglob("papers.arrow"))
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(CorpusError, match="not as it was written"):
        opened(directory, proofs)


async def test_proof_of_another_start_of_the_machine_counts_for_nothing(
    directory: Path, verified: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    proofs, boot = VerificationCache(directory.parent / "verified"), directory.parent / "boot"
    opened(directory, proofs)
    boot.write_text("another\n")
    monkeypatch.setattr(proofs_module, "_BOOT", boot)
    opened(directory, proofs)
    assert len(verified) == 4


async def test_folder_that_cannot_be_written_costs_only_time(directory: Path, verified: list[str]) -> None:
    taken = directory.parent / "verified"
    taken.write_text("a file, not a folder")
    for _ in range(2):
        opened(directory, VerificationCache(taken))
    assert len(verified) == 4


async def test_notes_on_what_has_gone_go_too(directory: Path) -> None:
    folder = directory.parent / "verified"
    opened(directory, VerificationCache(folder))
    notes = set(os.listdir(folder))
    moved = Path(shutil.move(directory, directory.parent / "elsewhere"))
    opened(moved, VerificationCache(folder))
    assert len(os.listdir(folder)) == 2
    assert not notes & set(os.listdir(folder))
