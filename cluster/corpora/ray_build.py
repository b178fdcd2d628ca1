"""Build a corpus on Ray: a pool of models embeds the texts (Ray Data), then one task builds each shard.

Readers stream the texts from record files in portions. A reader derives each portion's key from its content, and skips
portions that are already stored, so a run that was killed resumes where it stopped. If a process dies, only its current
portion is lost. Texts stream through the object store a few portions at a time; vectors are never stored there."""

import asyncio
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import ray
from pydantic import Field
from ray.data import ActorPoolStrategy, DataContext
from ray.exceptions import RayTaskError

from assayer.errors import ConfigurationError
from assayer.models import Frozen
from assayer.ports import LexicalEmbedder
from index import BuildOptions, BuildSummary, build_corpus
from index.building.embedded_texts import hash_texts_to_embed, list_texts_to_embed
from index.building.text_embedding import KnownVectors
from index.building.vector_store import VectorStore, add_vector_lookup, compute_vector_file_key
from index.disk_access import explain_disk_errors
from index.hashing import Hashes
from index.records.record_sources import RecordReader, list_source_files
from index.segments.gpus import Device, open_gpus
from index.shards.build import build_shards
from index.versions.manifest import RejectionCount
from workers.embedding.embedder import create_local_embedder
from workers.embedding.settings import EmbedderSettings


class EmbeddingResources(Frozen):
    """Resources for each embedding process."""

    processes: int | None = Field(default=None, ge=1)
    """Number of embedding processes. None uses one per GPU in the cluster or, without GPUs, one fewer than its
    processors."""
    cpus: float = Field(default=1.0, gt=0)
    gpus: float | None = Field(default=None, ge=0)
    """GPUs per process. None uses 1 if the cluster has any GPU."""
    texts: int = Field(default=2048, ge=1)
    """Number of texts embedded and stored together. This much work is repeated if a process dies."""


class RayBuildPlan(Frozen):
    sources: tuple[Path, ...]
    """Source files, on a disk that every node can access."""
    directory: Path
    """Corpus directory, on a disk that every node can access."""
    vectors: str
    """fsspec URL to which every node can write vectors."""
    embedder: EmbedderSettings
    share: EmbeddingResources = EmbeddingResources()
    shards: int | None = Field(default=None, ge=1)
    """Number of shards; None for an unsharded corpus."""
    embed_anew: bool = False
    """Whether to embed all texts again, even those whose records contain vectors."""
    device: Device = "cpu"
    """Device on which large indexes are trained. With `cuda`, each shard's task has its own GPU."""


_READER_CPUS = 0.1
"""CPUs reserved for a reader, which spends most of its time waiting for its embedding pool."""
_BLOCK_BYTES = 4096
"""Ray's target block size in bytes, smaller than the texts of any portion."""


class EmbeddingResult(NamedTuple):
    keys: list[str]
    """Keys of all portions, including those of earlier runs."""
    embedded: int
    """Number of texts embedded in this run."""
    found: int
    """Number of texts whose vectors an earlier run had already stored."""


def embed_on_ray(build_plan: RayBuildPlan, progress: Callable[[int], None]) -> EmbeddingResult:
    """Embed the texts on a Ray cluster, reporting the number of finished texts. Re-raises the errors of reading and
    embedding."""
    _configure()
    files = [str(file) for source in build_plan.sources for file in list_source_files(source)]
    share = _resolve_resources(build_plan.share)
    portions = (
        ray.data.from_items([{"path": path} for path in files], override_num_blocks=len(files))
        .map_batches(
            partial(_read_portions, build_plan=build_plan), batch_size=1, batch_format="pyarrow", num_cpus=_READER_CPUS
        )
        .map_batches(
            _EmbeddingWorker,
            fn_constructor_kwargs={"wanted": build_plan},
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
        raise get_original_error(error) from None
    return EmbeddingResult(list(keys), embedded, found)


def _configure() -> None:
    context = DataContext.get_current()
    context.enable_progress_bars = False
    # Each portion becomes its own block, so that portions are embedded and reported one by one.
    context.target_max_block_size = _BLOCK_BYTES
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    # The number of portions is unknown in advance; a small source has fewer portions than there are models.
    warnings.filterwarnings("ignore", "The minimum number of concurrent actors", UserWarning)


def _resolve_resources(share: EmbeddingResources) -> EmbeddingResources:
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    gpus = share.gpus if share.gpus is not None else min(1.0, resources.get("GPU", 0.0))
    capacity = resources.get("GPU", 0.0) / gpus if gpus else (resources["CPU"] - 1) / share.cpus
    return share.model_copy(update={"gpus": gpus, "processes": share.processes or max(1, int(capacity))})


def _read_portions(paths: pa.Table, build_plan: RayBuildPlan) -> Iterator[pa.Table]:
    """Yield the files' texts in portions. A portion whose vectors are already stored is yielded without texts."""
    store, size = VectorStore(build_plan.vectors), build_plan.share.texts
    embedder = create_local_embedder(build_plan.embedder)
    lexical = isinstance(embedder, LexicalEmbedder)
    for path in paths["path"].to_pylist():
        records = RecordReader([Path(path)], None if build_plan.embed_anew or lexical else embedder)
        texts = chain.from_iterable(map(list_texts_to_embed, records))
        while batch := list(islice(texts, size)):
            key = compute_vector_file_key(batch, embedder.name, lexical)
            yield _build_portion_table(key, [] if key in store else batch, len(batch))


def _build_portion_table(key: str, texts: Sequence[str], count: int) -> pa.Table:
    return pa.table({"key": [key], "list": pa.array([texts], pa.list_(pa.string())), "texts": [count]})


class _EmbeddingWorker:
    """Worker that loads one model and embeds one portion at a time."""

    def __init__(self, build_plan: RayBuildPlan) -> None:
        self._embedder = create_local_embedder(build_plan.embedder)
        self._store = VectorStore(build_plan.vectors)
        self._loop = asyncio.Runner()

    def __call__(self, portions: pa.Table) -> pa.Table:
        embedded = [self._store_portion(key, texts) for key, texts in _iterate_rows(portions)]
        return portions.drop_columns(["list"]).append_column("embedded", pa.array(embedded, pa.int64()))

    def _store_portion(self, key: str, texts: Sequence[str]) -> int:
        if not texts or key in self._store:  # stored by a process that died before reporting it
            return 0
        if isinstance(self._embedder, LexicalEmbedder):
            embedded = self._loop.run(self._embedder.embed_with_weights(texts, "passage"))
            self._store.put(key, texts, *embedded)
        else:
            self._store.put(key, texts, self._loop.run(self._embedder.embed(texts, "passage")))
        return len(texts)


def _iterate_rows(portions: pa.Table) -> Iterable[tuple[str, list[str]]]:
    return zip(portions["key"].to_pylist(), portions["list"].to_pylist(), strict=True)


def get_original_error(error: BaseException) -> BaseException:
    """Return the error raised on the remote node, with its original type."""
    cause: Any = getattr(error, "cause", None) or error.__cause__
    return error if cause is None else get_original_error(cause)


class RayBuildResult(NamedTuple):
    version: str
    papers: int
    stored: EmbeddingResult
    rejected: tuple[RejectionCount, ...]
    already_built: bool


async def build_on_ray(build_plan: RayBuildPlan, progress: Callable[[int], None]) -> RayBuildResult:
    """Build the corpus on a Ray cluster. The resulting version is the same as from a build in a single process. Raises
    the same errors as such a build."""
    await _find_gpus(build_plan)  # fail now rather than after all texts have been embedded
    stored = await asyncio.to_thread(embed_on_ray, build_plan, progress)
    options = BuildOptions(embed_anew=build_plan.embed_anew, device=build_plan.device)
    with closing(create_local_embedder(build_plan.embedder)) as model:
        if build_plan.shards is None:
            known_vectors = await asyncio.to_thread(_copy_stored_vectors, build_plan, stored.keys, build_plan.directory)
            embedder = add_vector_lookup(model, known_vectors)
            built = await build_corpus(build_plan.sources, build_plan.directory, embedder, None, options)
            manifest = built.manifest
            return RayBuildResult(manifest.version, manifest.papers, stored, manifest.rejected, built.already_built)
        build_shard = _ShardTasks(build_plan, stored.keys).build
        sharded_build = await build_shards(
            build_plan.sources, build_plan.shards, build_plan.directory, model, None, options, build_shard
        )
    sharded_manifest = sharded_build.manifest
    return RayBuildResult(
        sharded_manifest.version,
        sharded_manifest.papers,
        stored,
        sharded_manifest.rejected,
        sharded_build.already_built,
    )


async def _find_gpus(build_plan: RayBuildPlan) -> None:
    """Check that the nodes on which indexes will be trained have GPUs. Raises ConfigurationError if they have none."""
    if build_plan.shards is None:
        open_gpus(build_plan.device)
    elif build_plan.device == "cuda":
        if not ray.cluster_resources().get("GPU"):  # type: ignore[no-untyped-call]
            raise ConfigurationError(
                "Large indexes are to be trained on GPUs, but no node of this Ray cluster has one.",
                "Set ASSAYER_CORPUS__DEVICE=cpu, or add nodes with GPUs to the cluster.",
            )
        try:
            await _look_for_gpus.options(num_gpus=1).remote(build_plan.device)
        except RayTaskError as error:
            raise get_original_error(error) from None


@ray.remote(num_cpus=0)
def _look_for_gpus(device: Device) -> None:
    open_gpus(device)


class _ShardTasks(NamedTuple):
    """Tasks that build one shard each. As many run concurrently as the cluster has resources for."""

    wanted: RayBuildPlan
    keys: Sequence[str]

    async def build(
        self, parts: Sequence[Path | None], places: Sequence[Path], options: BuildOptions
    ) -> Sequence[BuildSummary]:
        build = _build_shard.options(num_gpus=1 if self.wanted.device == "cuda" else 0)
        tasks = [
            build.remote(self.wanted, self.keys, *part_and_place, options)
            for part_and_place in zip(parts, places, strict=True)
        ]
        try:
            return await asyncio.gather(*tasks)
        except RayTaskError as error:
            raise get_original_error(error) from None


@ray.remote(num_cpus=1)
def _build_shard(
    build_plan: RayBuildPlan, keys: Sequence[str], part: Path | None, place: Path, options: BuildOptions
) -> BuildSummary:
    with closing(create_local_embedder(build_plan.embedder)) as embedder:
        stored_vectors = KnownVectors([])
        if part is not None:  # each task loads only the vectors of its own texts
            lexical = isinstance(embedder, LexicalEmbedder)
            own_hashes = hash_texts_to_embed(part, None if lexical else embedder)
            stored_vectors = _copy_stored_vectors(build_plan, keys, place, own_hashes)
        stored_embedder = add_vector_lookup(embedder, stored_vectors)
        return asyncio.run(build_corpus([part] if part else [], place, stored_embedder, None, options))


def _copy_stored_vectors(
    build_plan: RayBuildPlan, keys: Sequence[str], place: Path, own_hashes: Hashes | None = None
) -> KnownVectors:
    """Return the stored vectors, copied to the corpus's disk for the duration of the build. Raises CorpusError if they
    are incomplete."""
    with explain_disk_errors(place):
        place.mkdir(parents=True, exist_ok=True)
        return VectorStore(build_plan.vectors).load_vectors(keys, place, own_hashes)
