"""A folder in an object store, at any address that fsspec knows, with failures in plain words."""

import datetime as dt
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import fsspec

from assayer.errors import ConfigurationError, CorpusError

__all__ = ["ObjectNotFound", "ObjectStorage", "StorageUnavailable", "StoredObject"]

_S3 = {"config_kwargs": {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 3}}}
_LOCK = ".create.lock"
_EXTRA = "Install it with: pip install 'assayer[object-storage]'."


class StorageUnavailable(CorpusError):
    """The object store did not do what it was asked: not reachable, or no right to."""


class ObjectNotFound(CorpusError):
    """It is not there."""


class StoredObject(NamedTuple):
    name: str
    """Relative to the folder."""
    bytes: int
    modified: dt.datetime | None
    """None where the store does not tell."""


class ObjectStorage:
    """Credentials and endpoints are those of the store's own library: AWS_… for s3://, GOOGLE_… for gs://."""

    def __init__(self, address: str) -> None:
        """Raises ConfigurationError for an address that no installed library knows."""
        self.address = address.rstrip("/")
        options: dict[str, Any] = {"use_listings_cache": False}
        try:
            if urlsplit(address).scheme in ("s3", "s3a"):
                import_module("s3fs")  # fsspec would name another package to install
                options |= _S3
            self._files, path = fsspec.core.url_to_fs(address, **options)
        except (ImportError, ValueError) as error:
            raise ConfigurationError(f"{address} cannot be used: {error}", _EXTRA) from None
        self._root = str(path).rstrip("/")
        protocol = self._files.protocol
        self._local = "file" in ((protocol,) if isinstance(protocol, str) else protocol)

    def read(self, name: str) -> bytes:
        """Raises ObjectNotFound and StorageUnavailable."""
        with self._explained(name, "read"):
            return bytes(self._files.cat_file(self._path(name)))

    def read_range(self, name: str, start: int, end: int) -> bytes:
        """From `start` up to but without `end`. Raises ObjectNotFound and StorageUnavailable."""
        with self._explained(name, "read"):
            return bytes(self._files.cat_file(self._path(name), start=start, end=end))

    def names(self, folder: str) -> list[str]:
        """Of the objects directly in a folder, sorted; none where there is none. Raises StorageUnavailable."""
        with self._explained(folder, "read"):
            try:
                found = self._files.ls(self._path(folder), detail=False)
            except FileNotFoundError:
                self._require_bucket()
                return []
        return sorted(str(one).rstrip("/").rsplit("/", 1)[-1] for one in found)

    def objects(self, folder: str) -> list[StoredObject]:
        """All below a folder. Raises StorageUnavailable."""
        with self._explained(folder, "read"):
            found = self._files.find(self._path(folder), detail=True)
        root = f"{self._root}/"
        return [
            StoredObject(str(path).removeprefix(root).lstrip("/"), int(told["size"]), _modified(told))
            for path, told in sorted(found.items())
        ]

    def create(self, name: str, content: bytes) -> None:
        """Raises FileExistsError where it is there already, whoever made it, and StorageUnavailable."""
        path = self._path(name)
        with self._explained(name, "written"):
            if not self._local:
                self._files.pipe_file(path, content, mode="create")
                return
            with self._beside(path) as partial:
                partial.write_bytes(content)
                _sync(partial)
                _move_unless_there(partial, Path(path))

    def write(self, name: str, content: bytes) -> None:
        """Whole or not at all. Raises StorageUnavailable."""
        path = self._path(name)
        with self._explained(name, "written"):
            if not self._local:
                self._files.pipe_file(path, content)
                return
            with self._beside(path) as partial:
                partial.write_bytes(content)
                _sync(partial)
                partial.replace(path)

    def upload(self, file: Path, name: str) -> None:
        """Whole or not at all. Raises StorageUnavailable."""
        path = self._path(name)
        with self._explained(name, "written"):
            if not self._local:
                self._files.put_file(str(file), path)
                return
            with self._beside(path) as partial:
                self._files.put_file(str(file), str(partial))
                _sync(partial)
                partial.replace(path)

    def remove(self, name: str) -> None:
        """Does nothing where it is not there. Raises StorageUnavailable."""
        with self._explained(name, "removed"), suppress(FileNotFoundError):
            self._files.rm_file(self._path(name))

    def place(self, name: str) -> str:
        """For people to read."""
        return f"{self.address}/{name}"

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _require_bucket(self) -> None:
        """Raises FileNotFoundError where not only the folder but the bucket is missing."""
        bucket = self._files._strip_protocol(self._root).lstrip("/").split("/", 1)[0]
        if urlsplit(self.address).scheme in ("s3", "s3a", "gs", "gcs"):
            self._files.ls(bucket, detail=False)

    @contextmanager
    def _beside(self, path: str) -> Iterator[Path]:
        """A file on this machine that is gone afterwards, unless it was moved."""
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f".{uuid4().hex}.partial")
        try:
            yield partial
        finally:
            partial.unlink(missing_ok=True)

    @contextmanager
    def _explained(self, name: str, done: str) -> Iterator[None]:
        """Every library of a store has errors of its own."""
        place = self.place(name)
        try:
            yield
        except FileExistsError:
            raise
        except FileNotFoundError:
            raise ObjectNotFound(
                f"{place} is not there.", "Check the address, and that something was published: assayer corpus publish."
            ) from None
        except PermissionError as error:
            raise StorageUnavailable(
                f"{place} cannot be {done}: permission denied ({_reason(error)}).",
                "Give these credentials the right to it, or set others.",
            ) from None
        except Exception as error:
            raise StorageUnavailable(
                f"{place} cannot be {done}: {_reason(error)}.",
                "Check that the store can be reached from here, its address and its credentials.",
            ) from error


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return text or type(error).__name__


def _modified(told: dict[str, Any]) -> dt.datetime | None:
    value = told.get("LastModified") or told.get("mtime") or told.get("updated") or told.get("created")
    if isinstance(value, int | float):
        return dt.datetime.fromtimestamp(value, dt.UTC)
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value)
    if isinstance(value, dt.datetime):
        return value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    return None


def _move_unless_there(partial: Path, place: Path) -> None:
    """Raises FileExistsError: a rename alone would replace what is there. Without hard links a lock stands for them; of
    two machines that share a disk which knows neither, both may believe that they were first."""
    try:
        os.link(partial, place)
    except FileExistsError:
        raise
    except OSError:
        with (place.parent / _LOCK).open("ab") as lock:
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            if place.exists():
                raise FileExistsError(str(place)) from None
            partial.replace(place)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
