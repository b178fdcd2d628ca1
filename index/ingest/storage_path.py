"""Paths for ingest files, on this machine or in any file system that fsspec supports."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import fsspec

from assayer.errors import InputError


@dataclass(frozen=True)
class StoragePath:
    """Path in a file system. Writes are atomic, even after a power failure."""

    filesystem: Any
    """An fsspec file system."""
    path: str

    @classmethod
    def parse(cls, address: str) -> "StoragePath":
        """Parse a path or an fsspec URL. Raises InputError if no installed file system supports it."""
        try:
            system, path = fsspec.core.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise InputError(f"{address} cannot be used: {error}", "Install the file system's package.") from None
        return cls(system, path.rstrip("/"))

    def __truediv__(self, name: str) -> "StoragePath":
        return StoragePath(self.filesystem, f"{self.path}/{name}")

    def __str__(self) -> str:
        return self.path if self.local else str(self.filesystem.unstrip_protocol(self.path))

    @property
    def local(self) -> Path | None:
        """Local path; None if the path is not on this machine."""
        return Path(self.path) if "file" in _list_protocols(self.filesystem) else None

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    def exists(self) -> bool:
        return bool(self.filesystem.exists(self.path))

    def list_child_names(self) -> list[str]:
        """Return the sorted names of the files and folders directly in this folder; empty if it is not a folder."""
        if not self.filesystem.isdir(self.path):
            return []
        return sorted(
            str(child).rstrip("/").rsplit("/", 1)[-1] for child in self.filesystem.ls(self.path, detail=False)
        )

    def read(self) -> bytes:
        return bytes(self.filesystem.cat_file(self.path))

    def write(self, content: bytes) -> None:
        with self.open_atomic() as file:
            file.write(content)

    @contextmanager
    def open_atomic(self) -> Iterator[IO[bytes]]:
        """Open the path for an atomic write. A local file is written under another name and then renamed; uploads to
        object stores are atomic anyway."""
        self.filesystem.makedirs(self.path.rsplit("/", 1)[0], exist_ok=True)
        if self.local is None:
            try:
                with self.filesystem.open(self.path, "wb") as file:
                    yield file
            except BaseException:
                self.remove()
                raise
            return
        partial = self.local.with_name(self.local.name + ".partial")
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.local)

    def remove(self) -> None:
        """Remove the path recursively; do nothing if it does not exist."""
        if self.exists():
            self.filesystem.rm(self.path, recursive=True)


def open_address(address: str) -> IO[bytes]:
    """Open an address for reading, without decompression. Raises InputError if it cannot be read."""
    place = StoragePath.parse(address)
    try:
        file: IO[bytes] = place.filesystem.open(place.path, "rb")
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror or type(error).__name__}.") from None
    return file


def _list_protocols(system: Any) -> tuple[str, ...]:
    return (system.protocol,) if isinstance(system.protocol, str) else tuple(system.protocol)
