"""`assayer corpus build-on-ray`: build the same corpus as `build` does, with embedding and shards distributed over a
Ray cluster."""

import asyncio
import os
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from assayer.errors import ConfigurationError
from cluster.cli.options import WithJson
from cluster.cli.terminal import Outcome, show_status
from cluster.settings_loading import load_settings

_VECTORS = "vectors"
"""Suffix that turns the corpus folder's name into the name of the folder for vectors, which lies beside it."""


def build_on_ray(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Paper records as for `build`, on storage that every cluster node can read."),
    ],
    address: Annotated[
        str | None,
        typer.Option(help="Address of a running Ray cluster; by default one is started."),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Number of shards, as for `build`; each is built by its own task."),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(help="Folder or fsspec URL for vectors, so that an interrupted run can resume."),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Number of embedding processes; by default as many as fit.")
    ] = None,
    cpus: Annotated[float, typer.Option(min=0.1, help="CPUs per process.")] = 1.0,
    gpus: Annotated[
        float | None, typer.Option(min=0, help="GPUs per process; by default one if the node has any.")
    ] = None,
    embed_anew: Annotated[
        bool, typer.Option("--embed-anew", help="Embed all texts, ignoring vectors that come with the records.")
    ] = False,
    as_json: WithJson = False,
) -> None:
    """Build the corpus as `build` does, but embed on a Ray cluster. An interrupted run resumes where it stopped."""
    if find_spec("ray") is None:
        raise ConfigurationError("Ray is not installed.", "Install it with: pip install 'assayer-research[service]'.")
    from cluster.cli.corpus_publish import add_publication
    from cluster.corpus_source import CorpusRelease
    from cluster.ray_cluster import enter_private_environment

    settings = load_settings()
    release = CorpusRelease.from_settings(settings)
    if release is not None:
        release.begin()
    directory = settings.corpus_path.absolute()
    with ExitStack() as stack:
        folder = stack.enter_context(enter_private_environment()) if address is None else None
        # Set before Ray is imported, because Ray reads it then. Otherwise Ray's core prints messages about a bug in Ray
        # Data's pools (ray#57733). This command raises its errors in any case.
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        from cluster.corpora.ray_build import EmbeddingResources, RayBuildPlan
        from cluster.corpora.ray_build import build_on_ray as build
        from cluster.ray_cluster import join_existing_cluster, start_corpus_build_cluster

        build_plan = RayBuildPlan(
            sources=tuple(path.absolute() for path in paths),
            directory=directory,
            vectors=vectors or str(directory.with_name(f"{directory.name}-{_VECTORS}")),
            embedder=settings.embedder,
            share=EmbeddingResources(processes=processes, cpus=cpus, gpus=gpus),
            shards=shards,
            embed_anew=embed_anew,
            device=settings.corpus.device,
        )
        stack.enter_context(start_corpus_build_cluster(folder) if folder else join_existing_cluster(address or "auto"))
        with show_status("Embedding") as status_line:
            built = asyncio.run(build(build_plan, lambda texts: status_line.update(f"Embedding: {texts:,} texts")))
    verb = "Already built" if built.already_built else "Built"
    with Outcome(as_json=as_json) as outcome:
        outcome.add(
            f"{verb}: {built.papers:,} papers, version {built.version}, in {escape(str(directory))}. "
            f"{built.stored.embedded:,} texts embedded, {built.stored.found:,} reused from "
            f"{escape(build_plan.vectors)}, where the next build can reuse them.",
            *(f"[yellow]Skipped[/] {reason.count:,} × {escape(reason.reason)}" for reason in built.rejected),
            path=directory,
            version=built.version,
            papers=built.papers,
            already_built=built.already_built,
            embedded=built.stored.embedded,
            reused=built.stored.found,
            vectors=build_plan.vectors,
            rejected=built.rejected,
        )
        if release is not None:
            add_publication(outcome, release.publish(), release.address)
