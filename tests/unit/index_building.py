"""Records and embedders that tests of building and updating a corpus share."""

from collections.abc import Sequence
from typing import Any, Literal

from assayer.errors import ConfigurationError
from assayer.ports import Vectors
from index.records.paper_record import PaperRecord
from tests.corpus_papers import record
from workers.embedding.hashing_embedder import HashingEmbedder


def make_records(*paper_numbers: int, **fields: Any) -> list[PaperRecord]:
    return [PaperRecord.model_validate(record(number, **fields)) for number in paper_numbers]


class CountingEmbedder(HashingEmbedder):
    """Embedder that counts passages, and fails after a maximum number of them."""

    def __init__(self, max_texts: int = 10**9) -> None:
        super().__init__()
        self.passages = 0
        self._max_texts = max_texts

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        self.passages += len(texts) * (kind == "passage")
        if self.passages > self._max_texts:
            raise ConfigurationError("The model is gone.")
        return await super().embed(texts, kind)


class RefusingEmbedder(HashingEmbedder):
    """Embedder that refuses all passages except those named; queries are accepted."""

    def __init__(self, *passages: str) -> None:
        super().__init__()
        self._passages = passages

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        assert kind == "query" or set(texts) <= set(self._passages)
        return await super().embed(texts, kind)
