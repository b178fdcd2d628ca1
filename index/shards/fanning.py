"""A corpus in shards answers as one: every shard is asked at the same time, and what they say is merged.

What is nearest is exact. Texts are fetched last, and only those of the answer. The hash of its id tells a paper's own
shard, and such hashes are what a list of references holds.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from assayer.flow import together
from assayer.models import Absent, FullText, Hit, Paper, PaperId, Passage
from assayer.ports import Vectors
from index.filters import Filters
from index.searching import questions
from index.searching.asking import Asked
from index.searching.ranking import best, depth_of
from index.searching.reader import Reader
from index.segments.dense import Nearest
from index.shards.merging import key_of, merged_nearest, merged_opinion, place_of
from index.shards.shards import shard_of

__all__ = ["Fanned"]

P = ParamSpec("P")
Out = TypeVar("Out")
Of = TypeVar("Of")


class Fanned:
    """Implements `index.searching.answering.Answering` over the shards of one version, in their order."""

    def __init__(self, shards: Sequence[Asked]) -> None:
        self._shards = shards

    async def search(self, queries: Sequence[str], vectors: Vectors, limit: int, filters: Filters) -> list[list[Hit]]:
        found = await self._best(queries, vectors, limit, filters, with_passages=False)
        papers = await self._fetched(questions.papers_at, (key for one in found for key, _ in one))
        return [[Hit(paper=papers[key], similarity=cosine) for key, cosine in one] for one in found]

    async def snippets(
        self, queries: Sequence[str], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Passage]]:
        found = await self._best(queries, vectors, limit, filters, with_passages=True)
        passages = await self._fetched(questions.passages_at, (key for one in found for key, _ in one))
        return [[passages[key].model_copy(update={"similarity": cosine}) for key, cosine in one] for one in found]

    async def neighbours(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Hit]]:
        own = await self._of_owners(questions.owned, papers)
        if not own:
            return {}
        vectors = np.stack([one.vector for one in own.values()])
        nearest = await self.nearest(vectors, limit + 1, filters)
        found = {}
        for (paper, one), near in zip(own.items(), nearest, strict=True):
            itself = key_of(int(shard_of([paper], len(self._shards))[0]), one.unit)
            pairs = zip(near.rows.tolist(), near.similarities.tolist(), strict=True)
            found[paper] = [pair for pair in pairs if pair[0] != itself][:limit]
        fetched = await self._fetched(questions.papers_at, (key for some in found.values() for key, _ in some))
        return {
            paper: [Hit(paper=fetched[key], similarity=cosine) for key, cosine in some] for paper, some in found.items()
        }

    async def references(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        lists = await self._of_owners(questions.cited, papers)
        count = len(self._shards)
        hashes = dict.fromkeys(one for some in lists.values() for one in some)
        found = await self._of({one: one % count for one in hashes}, questions.found_by_hash, filters)
        cited = {
            paper: list(dict.fromkeys(key_of(one % count, unit) for one in some for unit in found[one]))[:limit]
            for paper, some in lists.items()
        }
        fetched = await self._fetched(questions.papers_at, (key for keys in cited.values() for key in keys))
        return {paper: [fetched[key] for key in keys] for paper, keys in cited.items()}

    async def citations(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        known = list(await self._of_owners(questions.units, papers))
        each = await self._all(Reader.citations, known, limit, filters)
        citing = {paper: [one for found in each for one in found[paper]] for paper in known}
        return {paper: sorted(some, key=_day, reverse=True)[:limit] for paper, some in citing.items()}

    async def papers(self, ids: Sequence[PaperId], filters: Filters) -> dict[PaperId, Paper]:
        return await self._of_owners(questions.papers, ids, filters)

    async def similarities(self, vector: NDArray[np.float32], papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._of_owners(questions.similarities, papers, vector)

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._of_owners(questions.full_texts, papers)

    async def nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[Nearest]:
        each = await self._all(Reader.nearest, vectors, limit, filters)
        return [merged_nearest(found, limit) for found in zip(*each, strict=True)]

    async def counting(self, filters: Filters) -> int:
        return sum(await self._all(Reader.counting, filters))

    async def _best(
        self, queries: Sequence[str], vectors: Vectors, limit: int, filters: Filters, with_passages: bool
    ) -> list[list[tuple[int, float]]]:
        """Keys and cosines, of every query."""
        each = await self._all(Reader.opinions, queries, vectors, depth_of(limit), filters, with_passages)
        return [best(merged_opinion(opinions), limit) for opinions in zip(*each, strict=True)]

    async def _all(
        self, question: Callable[Concatenate[Reader, P], Out], *args: P.args, **kwargs: P.kwargs
    ) -> list[Out]:
        return await together(shard.ask(question, *args, **kwargs) for shard in self._shards)

    async def _of_owners(
        self,
        question: Callable[Concatenate[Reader, Sequence[PaperId], P], dict[PaperId, Out]],
        papers: Sequence[PaperId],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> dict[PaperId, Out]:
        """In the order of the papers as asked."""
        asked = list(dict.fromkeys(papers))
        owners = shard_of(asked, len(self._shards)).tolist()
        return await self._of(dict(zip(asked, owners, strict=True)), question, *args, **kwargs)

    async def _of(
        self,
        owners: Mapping[Of, int],
        question: Callable[Concatenate[Reader, Sequence[Of], P], dict[Of, Out]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> dict[Of, Out]:
        """Each shard is asked of what it owns."""
        groups: dict[int, list[Of]] = defaultdict(list)
        for one, shard in owners.items():
            groups[shard].append(one)
        each = await together(
            self._shards[shard].ask(question, some, *args, **kwargs) for shard, some in groups.items()
        )
        found = {one: said for answers in each for one, said in answers.items()}
        return {one: found[one] for one in owners if one in found}

    async def _fetched(
        self, question: Callable[[Reader, Sequence[int]], list[Out]], keys: Iterable[int]
    ) -> dict[int, Out]:
        groups: dict[int, list[int]] = defaultdict(list)
        for key in dict.fromkeys(keys):
            groups[place_of(key)[0]].append(key)
        each = await together(
            self._shards[shard].ask(question, [place_of(key)[1] for key in some]) for shard, some in groups.items()
        )
        pairs = (zip(some, found, strict=True) for some, found in zip(groups.values(), each, strict=True))
        return {key: one for some in pairs for key, one in some}


def _day(paper: Paper) -> dt.date:
    return paper.publication_date or dt.date.min
