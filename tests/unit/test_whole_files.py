"""Files that people named are written whole or not at all: an existing file is never emptied, truncated or moved."""

import os
import stat
import threading
from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer_client.errors import InvalidRequest
from assayer_client.files import atomic_file
from cluster.cli.output import make_folder, prepare_file
from cluster.whole_files import write_whole


def test_what_was_there_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "log.jsonl"
    target.write_text("last week's\n")
    writing = atomic_file(target)
    writing.__enter__().write(b"half")
    assert target.read_text() == "last week's\n"
    assert not writing.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"log.jsonl": "last week's\n"}


def test_full_disk_is_told_and_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "log.jsonl"
    target.write_text("last week's\n")
    with pytest.raises(InvalidRequest, match=r"log\.jsonl cannot be written: No space left"), atomic_file(target):
        raise OSError(28, "No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_rights_of_a_file_that_was_there_stay(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "log.jsonl"
    target.touch(mode)
    write_whole(target, "new")
    assert (stat.S_IMODE(target.stat().st_mode), target.read_text()) == (mode, "new")


def test_new_file_has_the_rights_that_the_user_gives_new_files(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    write_whole(tmp_path / "new", "")
    assert (tmp_path / "new").stat().st_mode == usual.stat().st_mode


def test_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
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


def test_device_stays_a_device() -> None:
    write_whole(Path("/dev/null"), "told")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("place", ["folder", "none/file", "file/below"])
def test_place_where_no_file_can_be_is_refused_in_words(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=f"{place} cannot be written: "):
        write_whole(tmp_path / place, "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_half_a_pair_of_surrogates_costs_no_result(tmp_path: Path) -> None:
    write_whole(tmp_path / "told", "a \ud83d b")
    assert (tmp_path / "told").read_text() == "a ? b"


def test_folder_into_which_nothing_may_be_written_is_refused_before_anything_is_paid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(InputError, match="--out"):
        make_folder(tmp_path, "Reports")
    with pytest.raises(InputError, match="--proof"):
        prepare_file(tmp_path / "proof.json", "--proof")


def test_file_to_write_may_be_a_device_and_no_folder(tmp_path: Path) -> None:
    prepare_file(Path("/dev/null"))
    with pytest.raises(InputError, match="is a folder"):
        prepare_file(tmp_path)
