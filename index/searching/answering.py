"""What a corpus answers once texts are vectors: alike for one that is whole and for one in shards."""

from collections.abc import Sequence
from typing import Protocol

from numpy import float32
from numpy.typing import NDArray

from assayer.models import Absent, FullText, Hit, Paper, PaperId, Passage
from assayer.ports import Vectors
from index.filters import Filters
from index.searching import questions
from index.searching.asking import Asked
from index.searching.reader import Reader
from index.segments.dense import Nearest

__all__ = ["Answering", "Whole"]


class Answering(Protocol):
    """As `index.corpus.Corpus`, which says what the answers mean."""

    async def search(
        self, queries: Sequence[str], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Hit]]: ...

    async def snippets(
        self, queries: Sequence[str], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Passage]]: ...

    async def neighbours(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Hit]]: ...

    async def references(
        self, papers: Sequence[PaperId], limit: int, filters: Filters
    ) -> dict[PaperId, list[Paper]]: ...

    async def citations(
        self, papers: Sequence[PaperId], limit: int, filters: Filters
    ) -> dict[PaperId, list[Paper]]: ...

    async def papers(self, ids: Sequence[PaperId], filters: Filters) -> dict[PaperId, Paper]: ...

    async def similarities(self, vector: NDArray[float32], papers: Sequence[PaperId]) -> dict[PaperId, float]: ...

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]: ...

    async def nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[Nearest]:
        """Numbers of papers, which mean nothing outside the answer."""
        ...

    async def counting(self, filters: Filters) -> int:
        """How many papers pass."""
        ...


class Whole:
    """One place answers everything, each question at one go."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    async def search(self, queries: Sequence[str], vectors: Vectors, limit: int, filters: Filters) -> list[list[Hit]]:
        return await self._asked.ask(Reader.search, queries, vectors, limit, filters)

    async def snippets(
        self, queries: Sequence[str], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Passage]]:
        return await self._asked.ask(Reader.snippets, queries, vectors, limit, filters)

    async def neighbours(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Hit]]:
        return await self._asked.ask(questions.neighbours, papers, limit, filters)

    async def references(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        return await self._asked.ask(questions.references, papers, limit, filters)

    async def citations(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        return await self._asked.ask(questions.citations, papers, limit, filters)

    async def papers(self, ids: Sequence[PaperId], filters: Filters) -> dict[PaperId, Paper]:
        return await self._asked.ask(questions.papers, ids, filters)

    async def similarities(self, vector: NDArray[float32], papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._asked.ask(questions.similarities, papers, vector)

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._asked.ask(questions.full_texts, papers)

    async def nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[Nearest]:
        return await self._asked.ask(Reader.nearest, vectors, limit, filters)

    async def counting(self, filters: Filters) -> int:
        return await self._asked.ask(Reader.counting, filters)
