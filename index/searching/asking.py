"""One version of a corpus, or of one of its shards, is asked by functions of its reader, wherever it is open."""

import asyncio
import os
import weakref
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from index.searching.combining import Combined
from index.searching.reader import Reader
from index.segments.graphics import CPU
from index.versions.manifest import Manifest
from index.versions.proofs import Proofs
from index.versions.versions import Versions

__all__ = ["Asked", "Opened"]

P = ParamSpec("P")
Out = TypeVar("Out")


class Asked(Protocol):
    async def ask(self, question: Callable[Concatenate[Reader, P], Out], *args: P.args, **kwargs: P.kwargs) -> Out:
        """`question` is a method of Reader or a function of a module, which another process can find by its name."""
        ...


class Opened:
    """A version on this machine. It is read in a thread of its own, so the event loop stays free; searches that wait
    for it share a pass over the index."""

    def __init__(self, reader: Reader, manifest: Manifest, hold: int) -> None:
        """`hold` is the descriptor that keeps the version from being removed; it is closed with this."""
        self.manifest = manifest
        self.reader = reader
        self._release = weakref.finalize(self, os.close, hold)
        self._questions = Combined(reader, "corpus")

    @classmethod
    def open(cls, versions: Versions, manifest: Manifest, proofs: Proofs | None = None, device: str = CPU) -> "Opened":
        """Raises CorpusError when the version has gone, or a file is not as it was written, and ConfigurationError
        when there is no such device."""
        hold = versions.hold(manifest.version)
        try:
            (proofs or Proofs()).verify(versions, manifest)
            reader = Reader.open(versions, manifest)
            if device != CPU:
                reader.move(device)
            return cls(reader, manifest, hold)
        except BaseException:
            os.close(hold)
            raise

    async def ask(self, question: Callable[Concatenate[Reader, P], Out], *args: P.args, **kwargs: P.kwargs) -> Out:
        answer: Out = await asyncio.wrap_future(self._questions.ask(question, args, kwargs))
        return answer

    def close(self) -> None:
        """Ends the thread; what waits for it is cancelled. The version may be removed then."""
        self._questions.close()
        self._release()
