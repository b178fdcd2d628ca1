"""Checksums of a version's files: computed in threads, reported in order."""

from pathlib import Path

import pytest

from assayer.errors import CorpusError
from index.hashing import FileChecksum, compute_file_checksums, verify_files


def write_files(directory: Path) -> tuple[FileChecksum, ...]:
    (directory / "words").mkdir()
    for name in ("a", "words/b", "words/c", "z"):
        (directory / name).write_text(name * 1_000)
    return compute_file_checksums(directory)


def test_checksums_are_in_order_of_paths_and_verify_their_files(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    assert [file.path for file in files] == ["a", "words/b", "words/c", "z"]
    verify_files(files, tmp_path)


def test_first_damaged_file_is_named(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    (tmp_path / "words" / "b").write_bytes(b"x" * files[1].bytes)
    (tmp_path / "z").unlink()
    with pytest.raises(CorpusError, match="words/b has changed since it was written"):
        verify_files(files, tmp_path)
    with pytest.raises(CorpusError, match="z is missing"):
        verify_files(files[2:], tmp_path)


def test_known_checksums_are_not_computed_again(tmp_path: Path) -> None:
    shared = write_files(tmp_path)[1]
    checksums = compute_file_checksums(tmp_path, excluded_name="z", known_checksums={shared.path: shared})
    assert [file.path for file in checksums] == ["a", "words/b", "words/c"]
    assert checksums[1] is shared
