"""In-memory adapters of ports, for tests."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, Literal

import numpy as np

from assayer.cutoff import papers_within
from assayer.errors import CorpusError, SourceError
from assayer.literature.paper_identity import build_title_key
from assayer.models import Identifiers, Paper, PaperId, Retraction, Window
from assayer.ports import LexicalWeights, Vectors, WeighedTexts
from index.faiss_build import load_faiss
from index.segments.gpus import MAX_SELECTED, GpuMatches
from tests.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import WORD, HashingEmbedder
from workers.literature_apis.capabilities import Snippet
from workers.outbound.source_requests import RequestContext


@dataclass
class InMemorySource:
    """Implements every port of a source over a few papers. If `failing` is set, every request raises it."""

    name: str
    papers: Sequence[Paper]
    cited: Mapping[PaperId, Sequence[PaperId]] = field(default_factory=dict)
    """Papers that each paper cites; its snippets cite the same."""
    retracted: Mapping[PaperId, Retraction] = field(default_factory=dict)
    failing: SourceError | None = None
    requests: list[tuple[str, RequestContext]] = field(default_factory=list)
    """Every request and its context, by the method that was called."""

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Return the papers with the most words in common with the query."""
        self._record("search", context)
        return papers_within(self._similar_to(query), window)[:limit]

    async def snippets(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Snippet]:
        """Return the abstracts of matching papers."""
        self._record("snippets", context)
        papers = papers_within(self._similar_to(query), window)[:limit]
        by_id = {paper.id: paper for paper in self.papers}
        identifiers_by_paper = {
            paper.id: [by_id[item].identifiers for item in self.cited.get(paper.id, ())] for paper in papers
        }
        return [Snippet(paper, "abstract", paper.abstract, tuple(identifiers_by_paper[paper.id])) for paper in papers]

    async def recommend(self, papers: Sequence[Identifiers], limit: int, context: RequestContext) -> list[Paper]:
        self._record("recommend", context)
        seed_papers = [paper for paper in map(self._find, papers) if paper is not None]
        text = " ".join(f"{paper.title} {paper.abstract}" for paper in seed_papers)
        return [paper for paper in self._similar_to(text) if paper not in seed_papers][:limit]

    async def references(self, paper: Identifiers, limit: int, context: RequestContext) -> list[Paper]:
        self._record("references", context)
        record = self._find(paper)
        cited_ids = self.cited.get(record.id, ()) if record else ()
        return [item for item in self.papers if item.id in cited_ids][:limit]

    async def citing(self, paper: Identifiers, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        self._record("citing", context)
        record = self._find(paper)
        citing_papers = [item for item in self.papers if record and record.id in self.cited.get(item.id, ())]
        return papers_within(citing_papers, window)[:limit]

    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        self._record("resolve", context)
        return [self._find(paper) for paper in papers]

    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        self._record("retractions", context)
        records = {paper: self._find(paper) for paper in papers}
        return {paper: self.retracted[item.id] for paper, item in records.items() if item and item.id in self.retracted}

    def _record(self, method: str, context: RequestContext) -> None:
        self.requests.append((method, context))
        if self.failing is not None:
            raise self.failing

    def _find(self, identifiers: Identifiers) -> Paper | None:
        """Return the first paper that shares an identifier."""
        identifier_set = {name for name in identifiers if name[1]}
        return next((paper for paper in self.papers if identifier_set & set(paper.identifiers)), None)

    def _similar_to(self, text: str) -> list[Paper]:
        words = Counter(map(build_title_key, text.split()))
        shared_words = {
            paper.id: _count_shared_words(words, f"{paper.title} {paper.abstract}") for paper in self.papers
        }
        similar_papers = [paper for paper in self.papers if shared_words[paper.id]]
        return sorted(similar_papers, key=lambda paper: (-shared_words[paper.id], paper.id))


def _count_shared_words(words: Counter[str], text: str) -> int:
    return (words & Counter(map(build_title_key, text.split()))).total()


class MemoryCorpusVersions:
    """In-memory adapter of `index.CorpusVersionCache` with these versions, the last of them current."""

    def __init__(self, *versions: MemoryCorpus) -> None:
        self._versions = {version.version: version for version in versions}

    async def current(self) -> MemoryCorpus:
        if not self._versions:
            raise CorpusError("There is no corpus in memory.")
        return list(self._versions.values())[-1]

    async def at(self, version: str) -> MemoryCorpus:
        if version not in self._versions:
            raise CorpusError(f"Version {version} of the corpus has been removed.")
        return self._versions[version]


class GpuStandIn:
    """Implements `Gpus` on the CPU for tests and measurements; everything except the kernels is as on GPUs."""

    def __init__(self, count: int = 1) -> None:
        self.count = count

    def put(self, gpu: int, rows: Vectors) -> Any:
        return np.array(rows, np.float16)

    def find_nearest(self, gpu: int, queries: Vectors, rows: Any, limit: int) -> GpuMatches:
        faiss, query_array = load_faiss(), np.ascontiguousarray(queries, np.float16).astype(np.float32)
        count = min(limit, len(rows), MAX_SELECTED)
        return GpuMatches(*faiss.knn(query_array, rows.astype(np.float32), count, metric=faiss.METRIC_INNER_PRODUCT))

    def create_assigner(self, dimensions: int) -> Any:
        return load_faiss().IndexFlatIP(dimensions)


class HashingLexicalEmbedder(HashingEmbedder):
    """An `assayer.ports.LexicalEmbedder` too: the in-memory counterpart of bge-m3. Words weigh more
    the longer and the more frequent they are; no weights are learnt."""

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        return WeighedTexts(await self.embed(texts, kind), [_count_weights(text) for text in texts])


def _count_weights(text: str) -> LexicalWeights:
    weights: dict[int, float] = {}
    for word, count in Counter(WORD.findall(text.casefold())).items():
        token = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest()) % 2**20
        weights[token] = max(weights.get(token, 0.0), log(len(word)) * (1 + log(count)))
    tokens = sorted(weights)
    return LexicalWeights(np.array(tokens, np.int32), np.array([weights[item] for item in tokens], np.float32))


class HangingSearch(InMemorySource):
    """Source that never answers a search."""

    async def search(self, *arguments: object) -> list[Paper]:
        await asyncio.Event().wait()
        return []
