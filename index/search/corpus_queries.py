"""The queries that a corpus answers once texts are embedded, and the handle of the reader that answers them."""

import asyncio
import os
import weakref
from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from numpy import float32
from numpy.typing import NDArray

from assayer.models import Absent, Filters, FullText, Hit, Paper, PaperContents, PaperId, Passage
from assayer.ports import CitationIds, Vectors
from index.search.hybrid_search import Query
from index.search.query_batching import QueryBatcher
from index.search.version_reader import VersionReader
from index.segments.gpus import Device, open_gpus
from index.segments.vector_index import VectorMatches
from index.versions.manifest import Manifest
from index.versions.verification_cache import VerificationCache
from index.versions.version_store import VersionStore

__all__ = ["CorpusQueries", "LocalReader", "ReaderHandle", "WholeCorpusQueries"]

P = ParamSpec("P")
Out = TypeVar("Out")


class CorpusQueries(Protocol):
    """As the methods of `index.corpus.Corpus`, which documents them."""

    async def search(
        self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Hit]]: ...

    async def snippets(
        self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Passage]]: ...

    async def neighbours(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Hit]]: ...

    async def references(
        self, papers: Sequence[PaperId], limit: int, filters: Filters
    ) -> dict[PaperId, list[Paper]]: ...

    async def citing(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]: ...

    async def papers(self, ids: Sequence[PaperId], filters: Filters) -> dict[PaperId, Paper]: ...

    async def citations(
        self, papers: Sequence[PaperId], limit: int, filters: Filters
    ) -> dict[PaperId, CitationIds]: ...

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]: ...

    async def naming(self, name: str, limit: int, filters: Filters) -> list[Paper]: ...

    async def similarities(self, vector: NDArray[float32], papers: Sequence[PaperId]) -> dict[PaperId, float]: ...

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]: ...

    async def nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[VectorMatches]:
        """Papers as numbers that mean nothing outside this answer."""
        ...

    async def count_passing(self, filters: Filters) -> int:
        """How many papers pass."""
        ...


class ReaderHandle(Protocol):
    async def call(
        self, function: Callable[Concatenate[VersionReader, P], Out], *args: P.args, **kwargs: P.kwargs
    ) -> Out:
        """`function` is a method of VersionReader, or a module's function, which another process can import."""
        ...


class WholeCorpusQueries:
    """A corpus in one piece: one reader answers each query."""

    def __init__(self, reader: ReaderHandle) -> None:
        self._reader = reader

    async def search(self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters) -> list[list[Hit]]:
        return await self._reader.call(VersionReader.search, queries, vectors, limit, filters)

    async def snippets(
        self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Passage]]:
        return await self._reader.call(VersionReader.snippets, queries, vectors, limit, filters)

    async def neighbours(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Hit]]:
        return await self._reader.call(VersionReader.neighbours, papers, limit, filters)

    async def references(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        return await self._reader.call(VersionReader.references, papers, limit, filters)

    async def citing(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        return await self._reader.call(VersionReader.citing, papers, limit, filters)

    async def papers(self, ids: Sequence[PaperId], filters: Filters) -> dict[PaperId, Paper]:
        return await self._reader.call(VersionReader.papers, ids, filters)

    async def citations(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, CitationIds]:
        return await self._reader.call(VersionReader.citations, papers, limit, filters)

    async def naming(self, name: str, limit: int, filters: Filters) -> list[Paper]:
        return await self._reader.call(VersionReader.naming, name, limit, filters)

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        return await self._reader.call(VersionReader.contents, papers)

    async def similarities(self, vector: NDArray[float32], papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._reader.call(VersionReader.similarities, papers, vector)

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._reader.call(VersionReader.full_texts, papers)

    async def nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[VectorMatches]:
        return await self._reader.call(VersionReader.nearest, vectors, limit, filters)

    async def count_passing(self, filters: Filters) -> int:
        return await self._reader.call(VersionReader.count_passing, filters)


class LocalReader:
    """Implements ReaderHandle with a version on this machine. A thread of its own reads it, so the event loop stays
    free; searches that wait for it share a pass over the index."""

    def __init__(self, reader: VersionReader, manifest: Manifest, hold: int) -> None:
        """`hold` is the descriptor that keeps the version from being removed; it is closed with this."""
        self.manifest = manifest
        self.reader = reader
        self._release = weakref.finalize(self, os.close, hold)
        self._batcher = QueryBatcher(reader, "corpus")

    @classmethod
    def open(
        cls, versions: VersionStore, manifest: Manifest, proofs: VerificationCache | None = None, device: Device = "cpu"
    ) -> "LocalReader":
        """Raises CorpusError when the version has been removed, or a file has changed since it was written, and
        ConfigurationError where there is no GPU to search on, or no room in its memory."""
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
        """Ends the thread; pending calls are cancelled, and the version may be removed."""
        self._batcher.close()
        self._release()
