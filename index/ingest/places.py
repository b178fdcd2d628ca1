"""Where ingest keeps its files: a folder on this machine, or at any address that fsspec knows."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import fsspec

from assayer.errors import InputError

__all__ = ["Place", "opened"]


@dataclass(frozen=True)
class Place:
    """A path in a file system. A file that is written appears whole or not at all, after a power cut too."""

    system: Any
    """An fsspec file system."""
    path: str

    @classmethod
    def of(cls, address: str) -> "Place":
        """Raises InputError for an address that no installed file system knows."""
        try:
            system, path = fsspec.core.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise InputError(f"{address} cannot be used: {error}", "Install the file system's package.") from None
        return cls(system, path.rstrip("/"))

    def __truediv__(self, name: str) -> "Place":
        return Place(self.system, f"{self.path}/{name}")

    def __str__(self) -> str:
        return self.path if self.local else str(self.system.unstrip_protocol(self.path))

    @property
    def local(self) -> Path | None:
        """None when it is not on this machine."""
        return Path(self.path) if "file" in _protocols(self.system) else None

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    def exists(self) -> bool:
        return bool(self.system.exists(self.path))

    def names(self) -> list[str]:
        """Of what lies directly in it, sorted; none when there is no such folder."""
        if not self.system.isdir(self.path):
            return []
        return sorted(str(one).rstrip("/").rsplit("/", 1)[-1] for one in self.system.ls(self.path, detail=False))

    def read(self) -> bytes:
        return bytes(self.system.cat_file(self.path))

    def write(self, content: bytes) -> None:
        with self.writing() as file:
            file.write(content)

    @contextmanager
    def writing(self) -> Iterator[IO[bytes]]:
        """Under another name until it is whole; of an object store the upload itself is atomic."""
        self.system.makedirs(self.path.rsplit("/", 1)[0], exist_ok=True)
        if self.local is None:
            try:
                with self.system.open(self.path, "wb") as file:
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
        """With everything in it; nothing when it is not there."""
        if self.exists():
            self.system.rm(self.path, recursive=True)


def opened(address: str) -> IO[bytes]:
    """For reading, as it lies there."""
    place = Place.of(address)
    try:
        file: IO[bytes] = place.system.open(place.path, "rb")
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror or type(error).__name__}.") from None
    return file


def _protocols(system: Any) -> tuple[str, ...]:
    return (system.protocol,) if isinstance(system.protocol, str) else tuple(system.protocol)
