"""Store small files in any location that fsspec supports. Writes are atomic, even if several processes write the same
file."""

import asyncio
import glob
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import fsspec
from fsspec.implementations.local import LocalFileSystem

from assayer.errors import ConfigurationError, FullTextError

Out = TypeVar("Out")

_MAX_WRITE_SECONDS = 600
"""Age in seconds from which a partly written file belongs to a process that was killed."""


class FileStorage:
    """Storage for files under relative names, with `/` between folders. All methods raise FullTextError if the storage
    fails."""

    def __init__(self, url: str) -> None:
        try:
            self._files, self._root = fsspec.url_to_fs(url, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise ConfigurationError(f"The document store {url} cannot be opened: {error}.", "") from error
        self._is_local = isinstance(self._files, LocalFileSystem)
        self.url = url

    async def read(self, name: str) -> bytes | None:
        """Return the file's content, or None if it does not exist."""
        return await self._run_in_thread(lambda: self._read(self._build_path(name)))

    async def write(self, name: str, data: bytes) -> None:
        await self._run_in_thread(lambda: self._write(self._build_path(name), data))

    async def add_file(self, name: str, file: Path) -> None:
        """Copy a local file."""
        await self._run_in_thread(lambda: self._write(self._build_path(name), file.read_bytes()))

    async def exists(self, name: str) -> bool:
        return await self._run_in_thread(lambda: bool(self._files.exists(self._build_path(name))))

    async def delete(self, name: str) -> None:
        """Delete a file, and what killed processes left of it. It is not an error if it does not exist."""
        await self._run_in_thread(lambda: self._delete(self._build_path(name)))

    async def list_names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder, without the folder's path; empty if the folder does not exist."""
        return await self._run_in_thread(lambda: self._list_names(self._build_path(folder)))

    def _build_path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    async def _run_in_thread(self, work: Callable[[], Out]) -> Out:
        try:
            return await asyncio.to_thread(work)
        except OSError as error:
            message = f"The document store {self.url} failed: {error}."
            raise FullTextError(message, "Check ASSAYER_FULL_TEXTS__STORE and the free space.") from error

    def _read(self, path: str) -> bytes | None:
        try:
            return bytes(self._files.cat_file(path))
        except FileNotFoundError:
            return None

    def _write(self, path: str, data: bytes) -> None:
        """Write a file atomically. Writes to object stores are already atomic; a local file is written under a
        temporary name and then renamed."""
        if not self._is_local:
            self._files.pipe_file(path, data)
            return
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
        try:
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def _delete(self, path: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm_file(path)
        if self._is_local:
            target = Path(path)
            for part in target.parent.glob(f".{glob.escape(target.name)}.*"):
                with suppress(FileNotFoundError):
                    if part.stat().st_mtime < time.time() - _MAX_WRITE_SECONDS:
                        part.unlink()

    def _list_names(self, path: str) -> list[str]:
        try:
            paths: list[Any] = self._files.ls(path, detail=False)
        except FileNotFoundError:
            return []
        return sorted(str(item).rsplit("/", 1)[-1] for item in paths)
