"""Small files anywhere fsspec reaches. A file is there whole or not at all, however many processes write it."""

import asyncio
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import fsspec
from fsspec.implementations.local import LocalFileSystem

from assayer.errors import ConfigurationError, FullTextError

__all__ = ["FileStorage"]

Out = TypeVar("Out")


class FileStorage:
    """Names are relative, with `/` between folders. All raise FullTextError when the storage fails."""

    def __init__(self, url: str) -> None:
        try:
            self._files, self._root = fsspec.url_to_fs(url, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise ConfigurationError(f"The document store {url} cannot be opened: {error}.", "") from error
        self._local = isinstance(self._files, LocalFileSystem)
        self.url = url

    async def read(self, name: str) -> bytes | None:
        """None when there is no such file."""
        return await self._in_thread(lambda: self._read(self._path(name)))

    async def write(self, name: str, data: bytes) -> None:
        await self._in_thread(lambda: self._write(self._path(name), data))

    async def add_file(self, name: str, file: Path) -> None:
        """Copies a local file."""
        await self._in_thread(lambda: self._write(self._path(name), file.read_bytes()))

    async def exists(self, name: str) -> bool:
        return await self._in_thread(lambda: bool(self._files.exists(self._path(name))))

    async def delete(self, name: str) -> None:
        """One that is not there is no error."""
        await self._in_thread(lambda: self._delete(self._path(name)))

    async def names(self, folder: str) -> list[str]:
        """Of the files in a folder, without it; none when there is no such folder."""
        return await self._in_thread(lambda: self._names(self._path(folder)))

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    async def _in_thread(self, work: Callable[[], Out]) -> Out:
        try:
            return await asyncio.to_thread(work)
        except OSError as error:
            message = f"The document store {self.url} failed: {error}."
            raise FullTextError(message, "Check ASSAYER_FULL_TEXTS__STORE and the space left.") from error

    def _read(self, path: str) -> bytes | None:
        try:
            return bytes(self._files.cat_file(path))
        except FileNotFoundError:
            return None

    def _write(self, path: str, data: bytes) -> None:
        """Object stores put a file whole; a local one is written beside its place and moved into it."""
        if not self._local:
            self._files.pipe_file(path, data)
            return
        with self._part(Path(path), data) as part:
            part.replace(path)

    def _delete(self, path: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm_file(path)

    @contextmanager
    def _part(self, place: Path, data: bytes) -> Iterator[Path]:
        """The whole of a file, beside its place."""
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f".{place.name}.{secrets.token_hex(6)}")
        try:
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            yield part
        finally:
            part.unlink(missing_ok=True)

    def _names(self, path: str) -> list[str]:
        try:
            found: list[Any] = self._files.ls(path, detail=False)
        except FileNotFoundError:
            return []
        return sorted(str(one).rsplit("/", 1)[-1] for one in found)
