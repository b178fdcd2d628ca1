"""`assayer corpus build-on-ray`: the corpus that `build` makes, with the models and shards spread over a cluster."""

import asyncio
import os
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from assayer.errors import ConfigurationError
from cluster.settings import load_settings

__all__ = ["build_on_ray"]

_VECTORS = "vectors"
"""Beside the corpus."""


def build_on_ray(
    paths: Annotated[
        list[Path], typer.Argument(help="Paper records as for build, on a disk that every node of the cluster has.")
    ],
    address: Annotated[
        str | None,
        typer.Option(help="A Ray cluster that runs already; else one is started."),
    ] = None,
    shards: Annotated[
        int | None, typer.Option(min=1, max=1000, help="As for build; each is a task of its own.")
    ] = None,
    vectors: Annotated[
        str | None, typer.Option(help="Where vectors are kept for a run that goes on: a folder or an fsspec address.")
    ] = None,
    processes: Annotated[int | None, typer.Option(min=1, help="Models at once; as many as fit by default.")] = None,
    cpus: Annotated[float, typer.Option(min=0.1, help="Processors of each.")] = 1.0,
    gpus: Annotated[float | None, typer.Option(min=0, help="GPUs of each; one where there are any.")] = None,
    embed_anew: Annotated[
        bool, typer.Option("--embed-anew", help="Leave out vectors that came with records, and embed all texts.")
    ] = False,
) -> None:
    """Build the corpus as build does, embedding on a Ray cluster; a run that was killed goes on where it stopped."""
    if find_spec("ray") is None:
        raise ConfigurationError("Ray is not installed.", "Install it with: pip install 'assayer[service]'.")
    from cluster.serving.environment import private_environment

    settings = load_settings()
    directory = settings.corpus_path.absolute()
    with ExitStack() as stack:
        folder = stack.enter_context(private_environment()) if address is None else None
        # Ray reads its environment when it is imported. Its core would tell the terminal of a fault in Ray Data's pools
        # (ray#57733); what goes wrong with what is ours is raised.
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        from cluster.corpora.building import build_on_ray as build
        from cluster.corpora.cluster import building_cluster
        from cluster.corpora.plan import Share, Wanted
        from cluster.serving.local import cluster_at

        wanted = Wanted(
            sources=tuple(path.absolute() for path in paths),
            directory=directory,
            vectors=vectors or str(directory.with_name(f"{directory.name}-{_VECTORS}")),
            embedder=settings.embedder,
            share=Share(processes=processes, cpus=cpus, gpus=gpus),
            shards=shards,
            embed_anew=embed_anew,
        )
        stack.enter_context(building_cluster(folder) if folder else cluster_at(address or "auto"))
        console = Console(highlight=False)
        with console.status("Embedding") as status:
            built = asyncio.run(build(wanted, lambda texts: status.update(f"Embedding: {texts:,} texts")))
    verb = "Already built" if built.already_built else "Built"
    console.print(
        f"{verb}: {built.papers:,} papers, version {built.version}, in {escape(str(directory))}. "
        f"{built.stored.embedded:,} texts embedded, {built.stored.found:,} found embedded in "
        f"{escape(wanted.vectors)}, which a next build can use.",
        soft_wrap=True,
    )
    for reason in built.rejected:
        console.print(f"[yellow]Set aside[/] {reason.count:,} × {escape(reason.reason)}", soft_wrap=True)
