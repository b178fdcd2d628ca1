"""Inputs that every part of the benchmark uses."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.judges import Judge
from benchmarks.quality.spending import Expected
from cluster.settings import Settings
from workers.embedding.embedder import LocalEmbedder


class Asked(NamedTuple):
    """Command-line options of a run."""

    judge: Judge | None
    """None: no language model."""
    out: Path
    seeds: tuple[int, ...]
    first: int | None
    """Items, at most."""
    probe: int | None
    """Items to measure before the cost of the others is told."""
    yes: bool
    limit_usd: float
    retry_failed: bool
    planned: list[tuple[str, Expected]] | None = None
    """Where a plan is made: what each part would cost is added, and nothing is asked."""


class Given(NamedTuple):
    asked: Asked
    settings: Settings
    embedder: LocalEmbedder[Any]
    vectorise: Vectoriser
    rounds: int
    """Rounds of the bootstrap."""
    options: argparse.Namespace
    """Options that only some parts have."""

    def warning(self) -> Iterator[str]:
        if self.asked.judge not in {None, "endpoint"}:
            yield f"Answers by {self.asked.judge}: they are invented or scripted and say nothing about any model.\n"
