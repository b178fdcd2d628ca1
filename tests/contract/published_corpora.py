"""Corpora that are built, published in a store and read from another directory, as by another machine."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assayer.models import OPEN
from index import BuildOptions, Corpus, Delta, build_corpus, build_shards, update_corpus, update_shards
from index.object_storage.following import BucketOrigin, FollowedBucket
from index.object_storage.publishing import CorpusPublisher, PublishOptions
from index.records.paper_record import PaperRecord
from index.versions.verification_cache import VerificationCache
from tests.corpus_papers import RECORDS, record, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
_OPTIONS = BuildOptions(papers_per_segment=9, keep=9)


class SettableClock:
    def __init__(self) -> None:
        self.now = dt.datetime.now(dt.UTC)

    def __call__(self) -> dt.datetime:
        return self.now


class Builder:
    """A machine that builds a corpus and publishes it."""

    def __init__(self, folder: Path, address: str, shards: int = 0, options: PublishOptions | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.directory = folder / "built"
        self.clock = SettableClock()
        self.publisher = CorpusPublisher(address, self.clock, options)
        self.verified = VerificationCache(folder / "verified")
        self._folder, self._shards = folder, shards

    async def build(self, records: Sequence[dict[str, Any]] = RECORDS) -> str:
        source = write_jsonl(self._folder / "papers.jsonl", records)
        if self._shards:
            summary: Any = await build_shards([source], self._shards, self.directory, EMBEDDER, options=_OPTIONS)
        else:
            summary = await build_corpus([source], self.directory, EMBEDDER, options=_OPTIONS)
        return str(summary.manifest.version)

    async def update(self, *numbers: int) -> str:
        """Add papers with these numbers to the corpus, and return the new version."""
        delta = Delta([PaperRecord.model_validate(record(number)) for number in numbers])
        update: Any = update_shards if self._shards else update_corpus
        return str((await update(delta, self.directory, EMBEDDER, options=_OPTIONS)).manifest.version)

    async def release(self) -> str:
        """Build and publish the corpus, and return its version."""
        version = await self.build()
        self.publish()
        return version

    async def release_update(self, *numbers: int) -> str:
        """Update and publish the corpus, and return the new version."""
        version = await self.update(*numbers)
        self.publish()
        return version

    def publish(self, after: int | None = None) -> Any:
        return self.publisher.publish(self.directory, self.verified, after)


def create_reader(folder: Path, address: str, parts: Sequence[int] | None = None, keep: int = 2) -> BucketOrigin:
    """Return the origin of a reader on another machine, with its copy and its verification notes in a folder."""
    verified = VerificationCache(folder / "verified")
    return BucketOrigin(FollowedBucket(address, look_seconds=0), folder / "copy", verified, parts, keep)


async def read_answers(directory: Path, version: str) -> Any:
    """All that a version says."""
    corpus = Corpus.open(directory, EMBEDDER, version)
    try:
        queries = ["bumblebees in meadows", "lichens", "transects"]
        hits_by_query = await corpus.search(queries, 100, OPEN)
        ids = sorted({hit.paper.id for hits in hits_by_query for hit in hits})
        return (
            corpus.version,
            hits_by_query,
            await corpus.snippets(queries, 100, OPEN),
            await corpus.contents(ids),
            await corpus.full_texts(ids),
            await corpus.references(ids, 10, OPEN),
        )
    finally:
        corpus.close()
