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


def texts_of(portion: int) -> list[str]:
    return [f"text {number} of portion {portion}" for number in range(3)]


async def stored(address: str, portions: int) -> tuple[VectorStore, list[str]]:
    store, keys = VectorStore(address), [f"portion-{number}" for number in range(portions)]
    for number, key in enumerate(keys):
        store.put(key, texts_of(number), await EMBEDDER.embed(texts_of(number), "passage"))
    return store, keys


@pytest.fixture
def few_descriptors() -> Iterator[int]:
    """Limit open files to 20 more than are open now."""
    open_now = len(os.listdir("/proc/self/fd"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_now + 20, hard))
    yield open_now
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def mappings_of(folder: Path) -> int:
    return sum(str(folder) in line for line in Path("/proc/self/maps").read_text().splitlines())


def test_vectors_in_more_than_32768_blocks_stay_distinct() -> None:
    count = 32_770
    vectors = np.arange(count, dtype=np.float32).reshape(count, 1)
    hashes = hash64(map(str, range(count)))
    rows = np.arange(1)
    known = KnownVectors([VectorBlock(hashes[n : n + 1], rows, vectors[n : n + 1]) for n in range(count)])
    asked = np.array([0, 32_767, 32_768, count - 1, 5])
    found = np.full((len(asked), 1), np.nan, np.float32)
    assert not len(known.fill(found, hashes[asked], np.arange(len(asked))))
    assert found[:, 0].tolist() == asked.tolist()


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_stored_vectors_are_found_by_their_texts(kind: str, tmp_path: Path, few_descriptors: int) -> None:
    address = (tmp_path / "vectors").as_uri() if kind == "file" else f"memory://{tmp_path}/vectors"
    store, keys = await stored(address, 40)
    known = store.load_vectors(keys, tmp_path)
    asked = ["not stored", *texts_of(0), *texts_of(39), *texts_of(17)]
    found = np.zeros((len(asked), EMBEDDER.dimensions), np.float32)
    assert known.fill(found, hash64(asked), np.arange(len(asked))).tolist() == [0]
    assert found[1:] == pytest.approx((await EMBEDDER.embed(asked, "passage"))[1:], abs=1e-3)
    assert mappings_of(tmp_path) == 1, "however many portions there are"
    assert set(os.listdir(tmp_path)) <= {"vectors"}, "the file has no name"


async def test_only_vectors_of_wanted_texts_are_kept(tmp_path: Path) -> None:
    store, keys = await stored(str(tmp_path / "vectors"), 5)
    wanted = [*texts_of(1)[:2], texts_of(4)[2], "not stored"]
    known = store.load_vectors(keys, tmp_path, np.unique(hash64(wanted)))
    assert len(known) == 3
    asked = [*wanted, texts_of(0)[0]]
    found = np.zeros((len(asked), EMBEDDER.dimensions), np.float32)
    assert known.fill(found, hash64(asked), np.arange(len(asked))).tolist() == [3, 4]
    assert found[:3] == pytest.approx(await EMBEDDER.embed(wanted[:3], "passage"), abs=1e-3)


async def test_no_portions_or_no_wanted_texts_yield_no_vectors(tmp_path: Path) -> None:
    store, keys = await stored(str(tmp_path / "vectors"), 1)
    nothing: Hashes = np.empty(0, np.uint64)
    assert [len(store.load_vectors([], tmp_path)), len(store.load_vectors(keys, tmp_path, nothing))] == [0, 0]


async def test_non_finite_stored_vector_is_reported(tmp_path: Path) -> None:
    store = VectorStore(str(tmp_path / "vectors"))
    store.put("damaged", ["moths", "bees"], np.full((2, EMBEDDER.dimensions), np.nan, np.float32))
    stored = LookupEmbedder(EMBEDDER, store.load_vectors(["damaged"], tmp_path))
    with pytest.raises(CorpusError, match="stored vector contains values that are not finite"):
        await stored.embed(["bees"], "passage")


async def test_truncated_portion_is_reported_with_its_file(tmp_path: Path) -> None:
    store, keys = await stored(str(tmp_path / "vectors"), 1)
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
    own = hash_texts_to_embed(source, EMBEDDER)
    known = store.load_vectors(map(str, range(len(texts) + 1)), tmp_path, own)
    assert len(known) == len(texts) == len(own) > len(RECORDS), "passages too, and not the text of the ready vector"
    await build_corpus([source], tmp_path / "corpus", LookupEmbedder(RefusingEmbedder(), known))
    await build_corpus([source], tmp_path / "alone", EMBEDDER)
    assert (
        VersionStore(tmp_path / "corpus").read_current_version()
        == VersionStore(tmp_path / "alone").read_current_version()
    )
