"""Interface to the reader of one shard, and an implementation that runs in a dedicated thread."""

import asyncio
import os
import weakref
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from index.search.query_batching import QueryBatcher
from index.search.version_reader import VersionReader
from index.segments.gpus import Device, open_gpus
from index.versions.manifest import Manifest
from index.versions.verification_cache import VerificationCache
from index.versions.version_store import VersionStore

P = ParamSpec("P")
Out = TypeVar("Out")


class ReaderHandle(Protocol):
    async def call(
        self, function: Callable[Concatenate[VersionReader, P], Out], *args: P.args, **kwargs: P.kwargs
    ) -> Out:
        """Call `function` with the reader and the arguments. `function` must be a method of VersionReader or a
        module-level function, because it may run in another process."""
        ...


class LocalReader:
    """Reader of a version on this machine; implements ReaderHandle. It runs in a dedicated thread, so that it does not
    block the event loop. Searches that wait for the thread share a pass over the index."""

    def __init__(self, reader: VersionReader, manifest: Manifest, hold: int) -> None:
        """Wrap an open version. `hold` is a file descriptor that keeps the version from being removed; it is closed
        with this reader."""
        self.manifest = manifest
        self.reader = reader
        self._release = weakref.finalize(self, os.close, hold)
        self._batcher = QueryBatcher(reader, "corpus")

    @classmethod
    def open(
        cls, versions: VersionStore, manifest: Manifest, proofs: VerificationCache | None = None, device: Device = "cpu"
    ) -> "LocalReader":
        """Open a version. Raises CorpusError if it has been removed or a file has changed since it was written, and
        ConfigurationError if `device` needs a GPU and there is none or it has too little memory."""
        gpus = open_gpus(device)
        hold = versions.hold_version(manifest.version)
        try:
            (proofs or VerificationCache()).verify(versions, manifest)
            reader = VersionReader.open(versions, manifest)
            if gpus is not None:
                reader.move_to(gpus)
            return cls(reader, manifest, hold)
        except BaseException:
            os.close(hold)
            raise

    async def call(
        self, function: Callable[Concatenate[VersionReader, P], Out], *args: P.args, **kwargs: P.kwargs
    ) -> Out:
        answer: Out = await asyncio.wrap_future(self._batcher.submit(function, args, kwargs))
        return answer

    def close(self) -> None:
        """Stop the thread, cancel pending calls, and allow the version to be removed."""
        self._batcher.close()
        self._release()
