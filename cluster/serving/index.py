"""The local corpus as a pool: every process has the same version open, and says so when it has not."""

import bisect
import datetime as dt
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple, Self

from ray.serve.handle import DeploymentHandle

from assayer.errors import CorpusError, PartUnavailable
from assayer.models import Absent, CorpusFit, FullText, Hit, Paper, PaperId, Passage, Retraction
from assayer.ports import Embedder, Vectors
from cluster.serving.calling import Caller
from cluster.serving.models import EmbedderReplica, ServedEmbedder
from cluster.serving.replica import Replica
from cluster.serving.where import Where
from index import Corpus
from workers.embedding import SentenceTransformerEmbedder

__all__ = ["IndexReplica", "ServedCorpus"]


class CorpusName(NamedTuple):
    version: str
    source: str
    days: tuple[dt.date, ...]


class OtherVersion(PartUnavailable):
    """The pool has another version of the corpus open than whoever asks began with."""


class IndexReplica(Replica):
    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self, where: Where, embedder: DeploymentHandle[EmbedderReplica] | None = None
    ) -> None:
        settings = self.begin(where)
        own: Embedder
        if embedder is None:
            own = SentenceTransformerEmbedder(settings.embedder)
        else:
            serving = settings.serving
            own = await ServedEmbedder.open(Caller(embedder, serving.call_seconds, serving.patience_seconds))
        self._corpus: Corpus | CorpusError
        try:
            self._corpus = Corpus.open(settings.corpus_path, own)
        except (
            CorpusError
        ) as error:  # told to everybody who asks: a service without a corpus has methods that need none
            self._corpus = error

    async def describe(self) -> CorpusName:
        corpus = self._opened
        return CorpusName(corpus.version, corpus.source, corpus.days())

    async def search(self, version: str, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Hit]]:
        return await self._at(version).search(queries, limit, before)

    async def snippets(
        self, version: str, queries: Sequence[str], limit: int, before: dt.date | None
    ) -> list[list[Passage]]:
        return await self._at(version).snippets(queries, limit, before)

    async def neighbours(
        self, version: str, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Hit]]:
        return await self._at(version).neighbours(papers, limit, before)

    async def references(
        self, version: str, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        return await self._at(version).references(papers, limit, before)

    async def papers(self, version: str, ids: Sequence[PaperId], before: dt.date | None) -> dict[PaperId, Paper]:
        return await self._at(version).papers(ids, before)

    async def similarity(self, version: str, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._at(version).similarity(text, papers)

    async def fit(self, version: str, text: str, before: dt.date | None) -> CorpusFit:
        return await self._at(version).fit(text, before)

    async def meanings(self, version: str, texts: Sequence[str]) -> Vectors:
        return await self._at(version).meanings(texts)

    async def embed(self, version: str, titled: Sequence[tuple[str, str]]) -> Vectors:
        return await self._at(version).embed(titled)

    async def full_texts(self, version: str, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._at(version).full_texts(papers)

    def __del__(self) -> None:
        if isinstance(self._corpus, Corpus):
            self._corpus.close()

    @property
    def _opened(self) -> Corpus:
        if isinstance(self._corpus, CorpusError):
            raise copy(self._corpus)
        return self._corpus

    def _at(self, version: str) -> Corpus:
        corpus = self._opened
        if version != corpus.version:
            raise OtherVersion(f"The corpus is at version {corpus.version} now, not at {version} any more.")
        return corpus


class ServedCorpus:
    """Implements cluster.parts.LocalCorpusWithTexts, for the version that was current when it was opened."""

    def __init__(self, caller: Caller[IndexReplica], described: CorpusName) -> None:
        self._caller = caller
        self.version, self.source, self._days = described

    @classmethod
    async def open(cls, caller: Caller[IndexReplica]) -> Self:
        return cls(caller, await caller.ask(IndexReplica.describe))

    async def check(self) -> None:
        """Raises OtherVersion when the corpus was replaced: whoever holds this has to be opened anew."""
        await self._caller.ask(IndexReplica.papers, self.version, [], None)

    def newest(self, before: dt.date | None) -> dt.date | None:
        known = len(self._days) if before is None else bisect.bisect_right(self._days, before)
        return self._days[known - 1] if known else None

    async def search(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Hit]]:
        return await self._caller.ask(IndexReplica.search, self.version, list(queries), limit, before)

    async def snippets(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Passage]]:
        return await self._caller.ask(IndexReplica.snippets, self.version, list(queries), limit, before)

    async def neighbours(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Hit]]:
        return await self._caller.ask(IndexReplica.neighbours, self.version, list(papers), limit, before)

    async def references(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        return await self._caller.ask(IndexReplica.references, self.version, list(papers), limit, before)

    async def papers(self, ids: Sequence[PaperId], before: dt.date | None) -> dict[PaperId, Paper]:
        return await self._caller.ask(IndexReplica.papers, self.version, list(ids), before)

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._caller.ask(IndexReplica.similarity, self.version, text, list(papers))

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """What its records say; it is as old as they are."""
        known = await self.papers([paper.id for paper in papers], None)
        return {one: paper.retraction for one, paper in known.items() if paper.retraction is not None}

    async def fit(self, text: str, before: dt.date | None) -> CorpusFit:
        return await self._caller.ask(IndexReplica.fit, self.version, text, before)

    async def meanings(self, texts: Sequence[str]) -> Vectors:
        return await self._caller.ask(IndexReplica.meanings, self.version, list(texts))

    async def embed(self, titled: Sequence[tuple[str, str]]) -> Vectors:
        return await self._caller.ask(IndexReplica.embed, self.version, list(titled))

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._caller.ask(IndexReplica.full_texts, self.version, list(papers))
