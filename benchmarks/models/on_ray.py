"""`python -m benchmarks.models.on_ray PAPERS`: abstracts a second of the job on Ray with one model of one thread, and
of that model alone, in one run. The job's time is told without and with the start of its processes."""

import argparse
import asyncio
import json
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks.index.machine import machine
from benchmarks.models.papers import texts_of
from cluster.ray_cluster import private_environment
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

_PORTION = 64


def _write(texts: list[str], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            title, abstract = text.split("\n", 1)
            file.write(json.dumps({"id": f"p{number}", "title": title, "abstract": abstract}) + "\n")


def _alone(texts: list[str]) -> float:
    """Seconds, the model loaded."""
    with closing(SentenceTransformerEmbedder(EmbedderSettings(threads=1))) as embedder:

        async def run() -> float:
            await embedder.embed(["warm"], "passage")
            started = time.perf_counter()
            for first in range(0, len(texts), _PORTION):
                await embedder.embed(texts[first : first + _PORTION], "passage")
            return time.perf_counter() - started

        return asyncio.run(run())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", type=Path, help="records, .jsonl.gz")
    parser.add_argument("--texts", type=int, default=512)
    chosen = parser.parse_args()
    texts = texts_of(chosen.papers, chosen.texts)
    print(machine())
    alone = _alone(texts)
    with private_environment() as ray_folder, tempfile.TemporaryDirectory() as name:
        from cluster.corpora.ray_build import EmbeddingResources, RayBuildPlan, embed_on_ray
        from cluster.ray_cluster import corpus_build_cluster

        folder = Path(name)
        _write(texts, folder / "papers.jsonl")
        wanted = RayBuildPlan(
            sources=(folder / "papers.jsonl",),
            directory=folder / "corpus",
            vectors=str(folder / "vectors"),
            embedder=EmbedderSettings(),
            share=EmbeddingResources(processes=1, texts=_PORTION),
        )
        with corpus_build_cluster(ray_folder, cpus=1):
            started = time.perf_counter()
            seen: list[tuple[float, int]] = []
            stored = embed_on_ray(wanted, lambda done: seen.append((time.perf_counter(), done)))
    (first, before), (last, done) = seen[0], seen[-1]
    print(f"{stored.embedded} texts embedded, passages of long abstracts included")
    print(f"model alone      {len(texts) / alone:6.1f} texts/s")
    print(f"job, running     {(done - before) / (last - first):6.1f} texts/s")
    print(f"job, whole       {done / (last - started):6.1f} texts/s, first portion after {first - started:.1f} s")


if __name__ == "__main__":
    main()
