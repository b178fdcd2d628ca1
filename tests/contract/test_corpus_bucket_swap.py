"""A running reader follows what is published in a bucket: no search fails or mixes versions, also while the store is
away or what is there is damaged."""

import asyncio
import logging
from pathlib import Path

import pytest

from assayer.errors import CorpusError
from assayer.models import OPEN
from benchmarks.index.traffic import build_edition
from index import BuildOptions, CorpusVersionCache, Delta, build_corpus, update_corpus
from index.object_storage.following import BucketOrigin, FollowedBucket
from index.object_storage.publishing import CorpusPublisher
from index.versions.verification_cache import VerificationCache
from tests.contract.published_corpora import SettableClock
from tests.corpus_papers import write_jsonl
from tests.object_store import ObjectStore, empty_address
from tests.polling import wait_until_async
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
PAPERS = 60


class Published:
    """Editions of a corpus, each published in turn."""

    def __init__(self, folder: Path, address: str) -> None:
        self._folder, self._directory = folder, folder / "built"
        self._publisher = CorpusPublisher(address, SettableClock())

    async def publish_first(self) -> str:
        records = [item.model_dump(mode="json", exclude={"year"}) for item in build_edition(0, PAPERS)]
        source = write_jsonl(self._folder / "papers.jsonl", records)
        await build_corpus([source], self._directory, EMBEDDER)
        return self._publish()

    async def publish_next(self, number: int) -> str:
        await update_corpus(
            Delta(build_edition(number, PAPERS)), self._directory, EMBEDDER, options=BuildOptions(keep=2)
        )
        return self._publish()

    def _publish(self) -> str:
        return str(self._publisher.publish(self._directory, VerificationCache()).version)


def _create_cache(folder: Path, address: str) -> CorpusVersionCache:
    verified = VerificationCache(folder / "verified")
    origin = BucketOrigin(FollowedBucket(address, look_seconds=0.05), folder / "copy", verified, keep=1)
    return CorpusVersionCache(folder / "copy", EMBEDDER, verified, origin=origin)


async def test_reader_keeps_version_during_store_outage_and_updates_afterwards(
    store: ObjectStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    address = empty_address("s3", tmp_path, store)
    published = Published(tmp_path, address)
    first = await published.publish_first()
    corpora = _create_cache(tmp_path / "reader", address)
    assert (await corpora.current()).version == first
    second = await published.publish_next(1)
    store.stop()

    async def has_logged_failure() -> bool:
        assert (await corpora.current()).version in (first, second)
        return any("cannot check for a newer version" in record.message for record in caplog.records)

    try:
        with caplog.at_level(logging.WARNING):
            await wait_until_async(has_logged_failure)
        assert await (await corpora.current()).search(["bees"], 5, OPEN)
    finally:
        store.start()

    async def get_current_version() -> str:
        return (await corpora.current()).version

    await wait_until_async(get_current_version, second.__eq__)
    await corpora.aclose()


async def test_reader_keeps_its_version_when_the_next_is_damaged(tmp_path: Path) -> None:
    address = (tmp_path / "bucket").as_uri()
    published = Published(tmp_path, address)
    first = await published.publish_first()
    corpora = _create_cache(tmp_path / "reader", address)
    assert (await corpora.current()).version == first
    before = set((tmp_path / "bucket" / "files").glob("*/*"))
    await published.publish_next(1)
    for path in set((tmp_path / "bucket" / "files").glob("*/*")) - before:
        path.write_bytes(b"x" * path.stat().st_size)

    async def has_refused_version() -> bool:
        assert (await corpora.current()).version == first
        return bool(corpora._refused_version[0])

    await wait_until_async(has_refused_version)
    assert await (await corpora.current()).search(["bees"], 5, OPEN)
    await corpora.aclose()


async def test_first_search_waits_for_pull_and_reports_unpublished_corpus(tmp_path: Path) -> None:
    address = (tmp_path / "bucket").as_uri()
    corpora = _create_cache(tmp_path / "reader", address)
    with pytest.raises(CorpusError, match="No corpus has been published"):
        await corpora.current()
    version = await Published(tmp_path, address).publish_first()
    both = await asyncio.gather(corpora.current(), corpora.current())
    assert {item.version for item in both} == {version}
    await corpora.aclose()
