"""A corpus built on Ray is the one that a single process builds, whoever dies on the way."""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from assayer.errors import ConfigurationError, InputError
from cluster.corpora.ray_build import EmbeddingResources, RayBuildPlan, build_on_ray, embed_on_ray
from cluster.ray_cluster import enter_private_environment, start_corpus_build_cluster
from index import Manifest, VersionStore, build_corpus, build_shards, read_manifest
from tests.contract.bge_models import create_small_bge_m3
from tests.corpus_papers import RECORDS, write_jsonl
from tests.polling import wait_until
from workers.embedding.embedder import BgeM3Embedder, SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

pytestmark = [
    pytest.mark.slow,
    # Ray Data warns of its own defaults.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data.context"),
]

SECTIONS = [{"title": "Method", "text": "We count the visits of bees to blossoms. " * 60}]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    with enter_private_environment() as folder, start_corpus_build_cluster(folder, cpus=1):
        yield


@pytest.fixture
def sources(tmp_path: Path) -> tuple[Path, ...]:
    """Sources with passages, a paper that occurs twice, and two lines that are not records."""
    first = write_jsonl(tmp_path / "first.jsonl", [record | {"sections": SECTIONS} for record in RECORDS[:3]])
    second = write_jsonl(tmp_path / "second.jsonl", [RECORDS[0], *RECORDS[3:]])
    with second.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": "untitled", "abstract": "Nothing."}) + "\nno JSON\n")
    return first, second


def create_plan(tmp_path: Path, sources: tuple[Path, ...], shards: int | None = None) -> RayBuildPlan:
    return RayBuildPlan(
        sources=sources,
        directory=tmp_path / f"corpus-{shards}",
        vectors=(tmp_path / "vectors").as_uri(),
        embedder=EmbedderSettings(),
        share=EmbeddingResources(processes=1, texts=3),
        shards=shards,
    )


def ignore_progress(texts: int) -> None:
    """Ignore progress."""


def test_ray_build_publishes_the_same_version_as_a_local_build(tmp_path: Path, sources: tuple[Path, ...]) -> None:
    with closing(SentenceTransformerEmbedder(EmbedderSettings())) as embedder:
        local_manifest = asyncio.run(build_corpus(sources, tmp_path / "alone", embedder)).manifest
        in_shards = asyncio.run(build_shards(sources, 2, tmp_path / "alone-shards", embedder)).manifest
    ray_result = asyncio.run(build_on_ray(create_plan(tmp_path, sources), ignore_progress))
    assert (ray_result.version, ray_result.papers, ray_result.rejected) == (
        local_manifest.version,
        local_manifest.papers,
        local_manifest.rejected,
    )
    assert {item.reason for item in ray_result.rejected} == {"title is missing", "not valid JSON", "duplicate id"}
    assert ray_result.stored.embedded > len(RECORDS)
    again = asyncio.run(build_on_ray(create_plan(tmp_path, sources, shards=2), ignore_progress))
    assert (again.version, again.papers, again.rejected) == (in_shards.version, in_shards.papers, in_shards.rejected)
    assert (again.stored.embedded, again.stored.found) == (0, ray_result.stored.embedded)


def test_ray_build_stores_the_same_lexical_weights_as_a_local_build(tmp_path: Path, sources: tuple[Path, ...]) -> None:
    settings = EmbedderSettings(library="FlagEmbedding", model=str(create_small_bge_m3(tmp_path / "bge-m3")))
    with closing(BgeM3Embedder(settings)) as embedder:
        local_manifest = asyncio.run(build_corpus(sources, tmp_path / "alone", embedder)).manifest
    plan = create_plan(tmp_path, sources).model_copy(update={"embedder": settings})
    ray_result = asyncio.run(build_on_ray(plan, ignore_progress))
    assert (ray_result.version, ray_result.papers) == (local_manifest.version, local_manifest.papers)
    ray_manifest = read_manifest(VersionStore(plan.directory).find_current_path())
    assert ray_manifest.lexical
    assert get_lexical_checksums(ray_manifest) == get_lexical_checksums(local_manifest)
    again = asyncio.run(build_on_ray(plan.model_copy(update={"directory": tmp_path / "again"}), ignore_progress))
    assert (again.stored.embedded, again.stored.found) == (0, ray_result.stored.embedded)


def get_lexical_checksums(manifest: Manifest) -> dict[str, str]:
    """Checksums of the one segment's files of weights."""
    (segment,) = manifest.segments
    return {file.path: file.sha256 for file in segment.files if "lexical" in file.path}


def test_embedding_run_completes_after_its_process_is_killed(tmp_path: Path, sources: tuple[Path, ...]) -> None:
    embedding = create_plan(tmp_path, sources).model_copy(update={"share": EmbeddingResources(processes=1, texts=1)})
    with ThreadPoolExecutor(1) as pool:
        killer = pool.submit(_kill_once_something_is_stored, tmp_path)
        stored = embed_on_ray(embedding, ignore_progress)
        stored_then = killer.result()
    assert 0 < stored_then < len(stored.keys)
    assert sorted(stored.keys) == _list_stored_portions(tmp_path)


def test_interrupted_run_leaves_stored_embeddings_for_the_next_run(tmp_path: Path, sources: tuple[Path, ...]) -> None:
    def give_up(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed_on_ray(create_plan(tmp_path, sources), give_up)
    portion_count = len(_list_stored_portions(tmp_path))
    assert portion_count
    stored = embed_on_ray(create_plan(tmp_path, sources), ignore_progress)
    assert stored.found >= portion_count
    assert sorted(stored.keys) == _list_stored_portions(tmp_path)


def test_source_without_valid_papers_is_rejected_by_name(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "empty.jsonl", [{"id": "untitled"}])
    with pytest.raises(InputError, match=r"empty\.jsonl contains no valid paper"):
        embed_on_ray(create_plan(tmp_path, (source,)), ignore_progress)


@pytest.mark.parametrize(
    ("shards", "message"),
    [(2, "no node of this Ray cluster has one"), (None, "does not support GPUs|CUDA finds no GPU")],
)
def test_gpu_build_without_gpus_is_rejected_before_embedding(
    tmp_path: Path, sources: tuple[Path, ...], shards: int | None, message: str
) -> None:
    plan = create_plan(tmp_path, sources, shards).model_copy(update={"device": "cuda"})
    with pytest.raises(ConfigurationError, match=message):
        asyncio.run(build_on_ray(plan, ignore_progress))
    assert not _list_stored_portions(tmp_path)


def _kill_once_something_is_stored(tmp_path: Path) -> int:
    """Kill the embedding processes once a portion is stored, and return the number of portions stored by then.

    The check polls the disk, because Ray Data reports progress late."""
    for process in wait_until(
        lambda: _list_embedding_processes() if _list_stored_portions(tmp_path) else [], interval=0.01
    ):
        process.kill()
    return len(_list_stored_portions(tmp_path))


def _list_stored_portions(tmp_path: Path) -> list[str]:
    """Keys of the portions that are stored whole."""
    return sorted(file.stem for file in (tmp_path / "vectors").glob("*.npy"))


def _list_embedding_processes() -> list[psutil.Process]:
    return [process for process in psutil.Process().children(recursive=True) if _is_embedding(process)]


def _is_embedding(process: psutil.Process) -> bool:
    """Return whether the process embeds, by the title Ray gives to actor-pool processes; False if it has just
    exited."""
    try:
        return "MapWorker" in " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
