"""Embeds the texts of record files on Ray Data: readers stream them, a pool of models embeds and stores them.

A reader names each portion of texts by what is in it, and one that is stored already is passed over: a run that was
killed goes on where it stopped, and a process that dies costs the portion it was at. Texts stream through the object
store a few portions at a time; vectors never do.
"""

import asyncio
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import ray
from ray.data import ActorPoolStrategy, DataContext
from ray.exceptions import RayTaskError

from cluster.corpora.plan import Share, Wanted
from index.building.stored_vectors import VectorStore, key_of
from index.reading.record_files import FiledRecord
from index.reading.sources import Harvest, files_of
from index.segments.layout import ABSTRACT, paper_text, passage_text, passages_of
from workers.embedding import SentenceTransformerEmbedder

__all__ = ["Stored", "embed_on_ray", "own"]

_READER_CPUS = 0.1
"""A reader waits for its pool most of the time."""
_BLOCK_BYTES = 4096
"""Fewer than any portion's texts."""


class Stored(NamedTuple):
    keys: list[str]
    """Of all portions, those of earlier runs included."""
    embedded: int
    """Texts that were embedded now."""
    found: int
    """Texts whose vectors an earlier run had stored."""


def embed_on_ray(wanted: Wanted, progress: Callable[[int], None]) -> Stored:
    """Within a cluster. Tells how many texts are done. Raises what reading and embedding raise."""
    _configure()
    files = [str(file) for source in wanted.sources for file in files_of(source)]
    share = _fitting(wanted.share)
    portions = (
        ray.data.from_items([{"path": path} for path in files], override_num_blocks=len(files))
        .map_batches(partial(_portions, wanted=wanted), batch_size=1, batch_format="pyarrow", num_cpus=_READER_CPUS)
        .map_batches(
            _Embedding,
            fn_constructor_kwargs={"wanted": wanted},
            compute=ActorPoolStrategy(size=share.processes),
            batch_size=1,
            batch_format="pyarrow",
            num_cpus=share.cpus,
            num_gpus=share.gpus,
        )
    )
    keys: dict[str, None] = {}
    embedded = found = 0
    try:
        for row in portions.iter_rows():
            keys[row["key"]] = None
            embedded += row["embedded"]
            found += row["texts"] - row["embedded"]
            progress(embedded + found)
    except RayTaskError as error:
        raise own(error) from None
    return Stored(list(keys), embedded, found)


def _configure() -> None:
    context = DataContext.get_current()
    context.enable_progress_bars = False
    # A portion is a block: blocks go to a model one by one, and are told as soon as they are done.
    context.target_max_block_size = _BLOCK_BYTES
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    # How many portions there are is known at the end; a small source has fewer than models.
    warnings.filterwarnings("ignore", "The minimum number of concurrent actors", UserWarning)


def _fitting(share: Share) -> Share:
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    gpus = share.gpus if share.gpus is not None else min(1.0, resources.get("GPU", 0.0))
    own = resources.get("GPU", 0.0) / gpus if gpus else (resources["CPU"] - 1) / share.cpus
    return share.model_copy(update={"gpus": gpus, "processes": share.processes or max(1, int(own))})


def _portions(paths: pa.Table, wanted: Wanted) -> Iterator[pa.Table]:
    """Of the files' texts; without the texts where their vectors are stored."""
    store, size = VectorStore(wanted.vectors), wanted.share.texts
    embedder = SentenceTransformerEmbedder(wanted.embedder)
    for path in paths["path"].to_pylist():
        records = Harvest([Path(path)], None if wanted.embed_anew else embedder)
        texts = chain.from_iterable(map(_texts, records))
        while some := list(islice(texts, size)):
            key = key_of(some, embedder.name)
            yield _portion(key, [] if key in store else some, len(some))


def _texts(filed: FiledRecord) -> Iterator[str]:
    """All that a corpus embeds of a paper, its own text only where it brings no vector."""
    record = filed.record
    if filed.vector is None:
        yield paper_text(record.title, record.abstract)
    sections = [section.text for section in record.sections]
    for place in passages_of(0, record.abstract, sections):
        text = record.abstract if place.section == ABSTRACT else sections[place.section]
        yield passage_text(record.title, text, place)


def _portion(key: str, texts: Sequence[str], count: int) -> pa.Table:
    return pa.table({"key": [key], "list": pa.array([texts], pa.list_(pa.string())), "texts": [count]})


class _Embedding:
    """One model, for one portion at a time."""

    def __init__(self, wanted: Wanted) -> None:
        self._embedder = SentenceTransformerEmbedder(wanted.embedder)
        self._store = VectorStore(wanted.vectors)
        self._loop = asyncio.Runner()

    def __call__(self, portions: pa.Table) -> pa.Table:
        embedded = [self._store_one(key, texts) for key, texts in _rows(portions)]
        return portions.drop_columns(["list"]).append_column("embedded", pa.array(embedded, pa.int64()))

    def _store_one(self, key: str, texts: Sequence[str]) -> int:
        if not texts or key in self._store:  # since it was read, by a process that died before it could say so
            return 0
        self._store.put(key, texts, self._loop.run(self._embedder.embed(texts, "passage")))
        return len(texts)


def _rows(portions: pa.Table) -> Iterable[tuple[str, list[str]]]:
    return zip(portions["key"].to_pylist(), portions["list"].to_pylist(), strict=True)


def own(error: BaseException) -> BaseException:
    """What was raised over there, in its own type."""
    cause: Any = getattr(error, "cause", None) or error.__cause__
    return error if cause is None else own(cause)
