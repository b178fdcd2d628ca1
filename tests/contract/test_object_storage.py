"""Objects in a folder, in memory and over S3's protocol: whole or not there, created once, failures in words."""

import datetime as dt
import errno
import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assayer.errors import ConfigurationError
from index.object_storage.storage import ObjectNotFound, ObjectStorage, StorageUnavailable
from tests.object_store import KINDS, ObjectStore, empty_address


@pytest.fixture(params=KINDS)
def storage(request: pytest.FixtureRequest, tmp_path: Path, store: ObjectStore) -> ObjectStorage:
    return ObjectStorage(empty_address(request.param, tmp_path, store))


def test_written_objects_are_readable_and_listed(storage: ObjectStorage, tmp_path: Path) -> None:
    assert storage.list_names("lists") == []
    assert storage.list_objects("files") == []
    storage.write("lists/2", b"two")
    storage.create("lists/1", b"one")
    (tmp_path / "file").write_bytes(b"0123456789" * 1000)
    storage.upload(tmp_path / "file", "files/ab/abc")
    (tmp_path / "empty").touch()
    storage.upload(tmp_path / "empty", "files/cd/cde")
    assert storage.list_names("lists") == ["1", "2"]
    assert (storage.read("lists/1"), storage.read("lists/2")) == (b"one", b"two")
    assert storage.read_range("files/ab/abc", 5, 15) == b"5678901234"
    objects = storage.list_objects("files")
    assert [(item.name, item.bytes) for item in objects] == [("files/ab/abc", 10_000), ("files/cd/cde", 0)]
    assert all(
        item.modified and abs(item.modified - dt.datetime.now(dt.UTC)) < dt.timedelta(hours=1) for item in objects
    )
    storage.remove("files/ab/abc")
    storage.remove("files/ab/abc")
    assert [item.name for item in storage.list_objects("files")] == ["files/cd/cde"]


def test_concurrent_creation_of_an_object_succeeds_once(storage: ObjectStorage) -> None:
    storage.write("lists/0", b"")

    def try_to_create(number: int) -> bool:
        try:
            storage.create("lists/7", str(number).encode())
        except FileExistsError:
            return False
        return True

    # fsspec's memory and moto, unlike S3, check first and write then: with several threads, two may win.
    with ThreadPoolExecutor(8 if storage.address.startswith("file") else 1) as pool:
        won = [number for number, is_created in enumerate(pool.map(try_to_create, range(16))) if is_created]
    assert len(won) == 1
    assert storage.read("lists/7") == str(won[0]).encode()


def test_missing_object_error_names_its_address(storage: ObjectStorage) -> None:
    with pytest.raises(ObjectNotFound, match="lists/7 does not exist"):
        storage.read("lists/7")


def test_missing_bucket_is_not_reported_as_empty(store: ObjectStore) -> None:
    with pytest.raises(ObjectNotFound, match="s3://nobodys/corpus/lists does not exist"):
        ObjectStorage("s3://nobodys/corpus").list_names("lists")


def test_unreachable_store_is_reported(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = ObjectStorage(f"{store.new_bucket()}/corpus")
    storage.write("lists/1", b"one")
    store.stop()
    try:
        with pytest.raises(StorageUnavailable, match=r"lists/1 cannot be read: .*(connect|Connect)"):
            storage.read("lists/1")
    finally:
        store.start()
    assert storage.read("lists/1") == b"one"


def test_unwritable_storage_path_is_reported(tmp_path: Path) -> None:
    (tmp_path / "bucket").write_text("a file, no folder")
    with pytest.raises(StorageUnavailable, match="lists/1 cannot be written"):
        ObjectStorage((tmp_path / "bucket").as_uri()).write("lists/1", b"")


def test_unknown_storage_scheme_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match="carrier-pigeon"):
        ObjectStorage("carrier-pigeon://corpus")


@pytest.mark.parametrize("lock", ["knows locks", "knows no locks"])
def test_creation_is_exclusive_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: str) -> None:
    monkeypatch.setattr(os, "link", raise_no_links)
    if lock == "knows no locks":
        monkeypatch.setattr(fcntl, "flock", raise_no_links)
    storage = ObjectStorage(tmp_path.as_uri())
    storage.create("lists/1", b"one")
    with pytest.raises(FileExistsError):
        storage.create("lists/1", b"another")
    assert storage.read("lists/1") == b"one"
    if lock == "knows locks":
        test_concurrent_creation_of_an_object_succeeds_once(storage)


def raise_no_links(*_: object) -> None:
    raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
