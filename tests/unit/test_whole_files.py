"""Files that people named are written whole or not at all: an existing file is never emptied, truncated or moved."""

import os
import stat
import threading
from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer_client.errors import InvalidRequest
from assayer_client.files import open_atomic_file
from cluster.cli.output import make_folder, prepare_file
from cluster.whole_files import write_whole


def test_existing_file_is_kept_until_new_file_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "log.jsonl"
    target.write_text("last week's\n")
    writing = open_atomic_file(target)
    writing.__enter__().write(b"half")
    assert target.read_text() == "last week's\n"
    assert not writing.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"log.jsonl": "last week's\n"}


def test_full_disk_is_reported_and_existing_file_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "log.jsonl"
    target.write_text("last week's\n")
    with pytest.raises(InvalidRequest, match=r"log\.jsonl cannot be written: No space left"), open_atomic_file(target):
        raise OSError(28, "No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_permissions_of_existing_file_are_kept(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "log.jsonl"
    target.touch(mode)
    write_whole(target, "new")
    assert (stat.S_IMODE(target.stat().st_mode), target.read_text()) == (mode, "new")


def test_new_file_gets_default_permissions(tmp_path: Path) -> None:
    ordinary_file = tmp_path / "usual"
    ordinary_file.touch()
    write_whole(tmp_path / "new", "")
    assert (tmp_path / "new").stat().st_mode == ordinary_file.stat().st_mode


def test_writing_to_pipe_through_symlink_keeps_the_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    (tmp_path / "link").symlink_to(pipe)
    write_whole(tmp_path / "link", "told")
    reader.join()
    assert read == ["told"]
    assert (tmp_path / "link").is_symlink()
    assert pipe.is_fifo()


def test_writing_to_device_keeps_the_device() -> None:
    write_whole(Path("/dev/null"), "told")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("place", ["folder", "none/file", "file/below"])
def test_unwritable_path_is_rejected_with_clear_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=f"{place} cannot be written: "):
        write_whole(tmp_path / place, "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_lone_surrogate_is_replaced_instead_of_failing(tmp_path: Path) -> None:
    write_whole(tmp_path / "told", "a \ud83d b")
    assert (tmp_path / "told").read_text() == "a ? b"


def test_unwritable_output_folder_is_rejected_in_advance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(InputError, match="--out"):
        make_folder(tmp_path, "Reports")
    with pytest.raises(InputError, match="--proof"):
        prepare_file(tmp_path / "proof.json", "--proof")


def test_output_file_may_be_a_device_but_not_a_folder(tmp_path: Path) -> None:
    prepare_file(Path("/dev/null"))
    with pytest.raises(InputError, match="is a folder"):
        prepare_file(tmp_path)
