"""Access to a folder in an object store, at any URL that fsspec supports, with failures explained in plain words."""

import datetime as dt
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import fsspec

from assayer.errors import ConfigurationError, CorpusError
from index.disk_access import sync

_S3 = {"config_kwargs": {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 3}}}
_LOCK = ".create.lock"
_EXTRA = "Install it with: pip install 'assayer-research[object-storage]'."


class StorageUnavailable(CorpusError):
    """Raised if a request to the object store fails: the store is unreachable, or access is denied."""


class ObjectNotFound(CorpusError):
    """Raised if an object does not exist."""


class StoredObject(NamedTuple):
    name: str
    """Name relative to the folder."""
    bytes: int
    modified: dt.datetime | None
    """Time of the last change; None if the store does not report it."""


class ObjectStorage:
    """Folder in an object store. Credentials and endpoints are configured as the store's own library expects: AWS_…
    variables for s3://, GOOGLE_… for gs://. Methods raise StorageUnavailable if a request fails."""

    def __init__(self, address: str) -> None:
        """Open the folder. Raises ConfigurationError if no installed library supports its URL."""
        self.address = address.rstrip("/")
        options: dict[str, Any] = {"use_listings_cache": False}
        try:
            if urlsplit(address).scheme in ("s3", "s3a"):
                import_module("s3fs")  # fsspec's own error would name a different package to install
                options |= _S3
            self._files, path = fsspec.core.url_to_fs(address, **options)
        except (ImportError, ValueError) as error:
            raise ConfigurationError(f"{address} cannot be used: {error}", _EXTRA) from None
        self._root = str(path).rstrip("/")
        protocol = self._files.protocol
        self._local = "file" in ((protocol,) if isinstance(protocol, str) else protocol)

    def read(self, name: str) -> bytes:
        """Read an object. Raises ObjectNotFound if it does not exist."""
        with self._explain_errors(name, "read"):
            return bytes(self._files.cat_file(self._build_path(name)))

    def read_range(self, name: str, start: int, end: int) -> bytes:
        """Read an object's bytes from `start` up to, but not including, `end`. Raises ObjectNotFound if it does not
        exist."""
        with self._explain_errors(name, "read"):
            return bytes(self._files.cat_file(self._build_path(name), start=start, end=end))

    def list_names(self, folder: str) -> list[str]:
        """Return the sorted names of the objects directly in a folder; an empty list if the folder does not exist."""
        with self._explain_errors(folder, "read"):
            try:
                paths = self._files.ls(self._build_path(folder), detail=False)
            except FileNotFoundError:
                self._require_bucket()
                return []
        return sorted(str(path).rstrip("/").rsplit("/", 1)[-1] for path in paths)

    def list_objects(self, folder: str) -> list[StoredObject]:
        """Return all objects below a folder, at any depth."""
        with self._explain_errors(folder, "read"):
            files = self._files.find(self._build_path(folder), detail=True)
        root = f"{self._root}/"
        return [
            StoredObject(str(path).removeprefix(root).lstrip("/"), int(details["size"]), _parse_modified(details))
            for path, details in sorted(files.items())
        ]

    def create(self, name: str, content: bytes) -> None:
        """Create an object. Raises FileExistsError if it already exists."""
        self._put(name, lambda path: self._files.pipe_file(path, content, mode="create"), _move_unless_there)

    def write(self, name: str, content: bytes) -> None:
        """Write an object, completely or not at all."""
        self._put(name, lambda path: self._files.pipe_file(path, content))

    def upload(self, file: Path, name: str) -> None:
        """Upload a file, completely or not at all."""
        self._put(name, lambda path: self._files.put_file(str(file), path))

    def remove(self, name: str) -> None:
        """Remove an object; do nothing if it does not exist."""
        with self._explain_errors(name, "removed"), suppress(FileNotFoundError):
            self._files.rm_file(self._build_path(name))

    def build_url(self, name: str) -> str:
        """Return the URL of an object, for display."""
        return f"{self.address}/{name}"

    def _build_path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _require_bucket(self) -> None:
        """Raise FileNotFoundError if the bucket itself, and not only the folder, is missing."""
        bucket = self._files._strip_protocol(self._root).lstrip("/").split("/", 1)[0]
        if urlsplit(self.address).scheme in ("s3", "s3a", "gs", "gcs"):
            self._files.ls(bucket, detail=False)

    def _put(
        self, name: str, write: Callable[[str], None], move: Callable[[Path, Path], object] = Path.replace
    ) -> None:
        """Store an object at its path. In a local folder it is first written to a temporary file, then moved."""
        path = Path(self._build_path(name))
        with self._explain_errors(name, "written"):
            if not self._local:
                write(self._build_path(name))
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f".{uuid4().hex}.partial")
            try:
                write(str(partial))
                sync(partial)
                move(partial, path)
            finally:
                partial.unlink(missing_ok=True)

    @contextmanager
    def _explain_errors(self, name: str, participle: str) -> Iterator[None]:
        """Turn errors from the store's library into ObjectNotFound or StorageUnavailable, except FileExistsError."""
        place = self.build_url(name)
        try:
            yield
        except FileExistsError:
            raise
        except FileNotFoundError:
            raise ObjectNotFound(
                f"{place} does not exist.",
                "Check the address, and that a corpus was published there: assayer corpus publish.",
            ) from None
        except PermissionError as error:
            raise StorageUnavailable(
                f"{place} cannot be {participle}: permission denied ({_format_error(error)}).",
                "Grant these credentials access, or use others.",
            ) from None
        except Exception as error:
            raise StorageUnavailable(
                f"{place} cannot be {participle}: {_format_error(error)}.",
                "Check the store's address and credentials, and that it can be reached from this machine.",
            ) from error


def _format_error(error: Exception) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    return text or type(error).__name__


def _parse_modified(details: dict[str, Any]) -> dt.datetime | None:
    value = details.get("LastModified") or details.get("mtime") or details.get("updated") or details.get("created")
    if isinstance(value, int | float):
        return dt.datetime.fromtimestamp(value, dt.UTC)
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value)
    if isinstance(value, dt.datetime):
        return value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    return None


def _move_unless_there(partial: Path, place: Path) -> None:
    """Move a file, but never over an existing one, as a rename would. Raises FileExistsError if the target exists. If
    hard links are not supported, a lock is used instead. On a shared disk that supports neither, two machines may both
    succeed."""
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
