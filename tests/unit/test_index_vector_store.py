"""Vectors in tens of thousands of files: each text gets its own, and a build opens and keeps few of them."""

import os
import resource
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import fsspec
import numpy as np
import pytest

from assayer.errors import CorpusError
from index import VersionStore, build_corpus
from index.building.embedded_texts import hash_texts_to_embed, list_texts_to_embed
from index.building.text_embedding import KnownVectors, VectorBlock
from index.building.vector_store import LookupEmbedder, VectorStore
from index.hashing import Hashes, hash64
from index.records.record_sources import RecordReader
from tests.corpus_papers import RECORDS, record, write_jsonl
from tests.unit.index_building import RefusingEmbedder
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()


def make_texts(portion: int) -> list[str]:
    return [f"text {number} of portion {portion}" for number in range(3)]


async def store_portions(address: str, portions: int) -> tuple[VectorStore, list[str]]:
    store, keys = VectorStore(address), [f"portion-{number}" for number in range(portions)]
    for number, key in enumerate(keys):
        store.put(key, make_texts(number), await EMBEDDER.embed(make_texts(number), "passage"))
    return store, keys


@pytest.fixture
def few_descriptors() -> Iterator[int]:
    """Limit open files to 20 more than are open now."""
    open_now = len(os.listdir("/proc/self/fd"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_now + 20, hard))
    yield open_now
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def count_mappings(folder: Path) -> int:
    return sum(str(folder) in line for line in Path("/proc/self/maps").read_text().splitlines())


def test_vectors_in_more_than_32768_blocks_stay_distinct() -> None:
    count = 32_770
    vectors = np.arange(count, dtype=np.float32).reshape(count, 1)
    hashes = hash64(map(str, range(count)))
    rows = np.arange(1)
    known_vectors = KnownVectors([VectorBlock(hashes[n : n + 1], rows, vectors[n : n + 1]) for n in range(count)])
    requested_rows = np.array([0, 32_767, 32_768, count - 1, 5])
    filled = np.full((len(requested_rows), 1), np.nan, np.float32)
    assert not len(known_vectors.fill(filled, hashes[requested_rows], np.arange(len(requested_rows))))
    assert filled[:, 0].tolist() == requested_rows.tolist()


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_stored_vectors_are_found_by_their_texts(kind: str, tmp_path: Path, few_descriptors: int) -> None:
    address = (tmp_path / "vectors").as_uri() if kind == "file" else f"memory://{tmp_path}/vectors"
    store, keys = await store_portions(address, 40)
    known_vectors = store.load_vectors(keys, tmp_path)
    requested_texts = ["not stored", *make_texts(0), *make_texts(39), *make_texts(17)]
    filled = np.zeros((len(requested_texts), EMBEDDER.dimensions), np.float32)
    assert known_vectors.fill(filled, hash64(requested_texts), np.arange(len(requested_texts))).tolist() == [0]
    assert filled[1:] == pytest.approx((await EMBEDDER.embed(requested_texts, "passage"))[1:], abs=1e-3)
    assert count_mappings(tmp_path) == 1, "however many portions there are"
    assert set(os.listdir(tmp_path)) <= {"vectors"}, "the file has no name"


async def test_only_vectors_of_wanted_texts_are_kept(tmp_path: Path) -> None:
    store, keys = await store_portions(str(tmp_path / "vectors"), 5)
    kept_texts = [*make_texts(1)[:2], make_texts(4)[2], "not stored"]
    known_vectors = store.load_vectors(keys, tmp_path, np.unique(hash64(kept_texts)))
    assert len(known_vectors) == 3
    requested_texts = [*kept_texts, make_texts(0)[0]]
    filled = np.zeros((len(requested_texts), EMBEDDER.dimensions), np.float32)
    assert known_vectors.fill(filled, hash64(requested_texts), np.arange(len(requested_texts))).tolist() == [3, 4]
    assert filled[:3] == pytest.approx(await EMBEDDER.embed(kept_texts[:3], "passage"), abs=1e-3)


async def test_no_portions_or_no_wanted_texts_yield_no_vectors(tmp_path: Path) -> None:
    store, keys = await store_portions(str(tmp_path / "vectors"), 1)
    no_hashes: Hashes = np.empty(0, np.uint64)
    assert [len(store.load_vectors([], tmp_path)), len(store.load_vectors(keys, tmp_path, no_hashes))] == [0, 0]


async def test_non_finite_stored_vector_is_reported(tmp_path: Path) -> None:
    store = VectorStore(str(tmp_path / "vectors"))
    store.put("damaged", ["moths", "bees"], np.full((2, EMBEDDER.dimensions), np.nan, np.float32))
    stored = LookupEmbedder(EMBEDDER, store.load_vectors(["damaged"], tmp_path))
    with pytest.raises(CorpusError, match="stored vector contains values that are not finite"):
        await stored.embed(["bees"], "passage")


async def test_truncated_portion_is_reported_with_its_file(tmp_path: Path) -> None:
    store, keys = await store_portions(str(tmp_path / "vectors"), 1)
    files, folder = fsspec.url_to_fs(str(tmp_path / "vectors"))
    path = f"{folder}/{keys[0]}.npy"
    files.pipe_file(path, files.cat_file(path)[:-10])
    with pytest.raises(CorpusError, match=r"portion-0\.npy cannot be read"):
        store.load_vectors(keys, tmp_path)


async def test_shard_with_all_texts_stored_embeds_nothing(tmp_path: Path) -> None:
    ready = {"vector": np.eye(1, EMBEDDER.dimensions)[0].tolist(), "vector_model": EMBEDDER.name}
    source = write_jsonl(tmp_path / "papers.jsonl", [*RECORDS, record(20, **ready)])
    texts = list(chain.from_iterable(map(list_texts_to_embed, RecordReader([source], EMBEDDER))))
    store = VectorStore(str(tmp_path / "vectors"))
    for number, text in enumerate([*texts, "of another shard"]):
        store.put(str(number), [text], await EMBEDDER.embed([text], "passage"))
    shard_hashes = hash_texts_to_embed(source, EMBEDDER)
    known_vectors = store.load_vectors(map(str, range(len(texts) + 1)), tmp_path, shard_hashes)
    assert len(known_vectors) == len(texts) == len(shard_hashes) > len(RECORDS), (
        "passages too, and not the text of the ready vector"
    )
    await build_corpus([source], tmp_path / "corpus", LookupEmbedder(RefusingEmbedder(), known_vectors))
    await build_corpus([source], tmp_path / "alone", EMBEDDER)
    assert (
        VersionStore(tmp_path / "corpus").read_current_version()
        == VersionStore(tmp_path / "alone").read_current_version()
    )
