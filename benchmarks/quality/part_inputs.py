"""Inputs of every part of the benchmark."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.judges import Judge
from benchmarks.quality.spending import ExpectedCost
from cluster.settings import Settings
from workers.embedding.embedder import LocalEmbedder


class RunOptions(NamedTuple):
    """Command-line options of a run."""

    judge: Judge | None
    """None means no language model."""
    out: Path
    seeds: tuple[int, ...]
    first: int | None
    """Largest number of items."""
    probe: int | None
    """Number of items to measure before the cost of the others is reported."""
    yes: bool
    limit_usd: float
    retry_failed: bool
    deadline: float | None = None
    """Time of the monotonic clock at which items in progress are interrupted and no others begin."""
    contenders: Sequence[str] = ()
    """Contenders of `all` that the language model runs."""
    sets: frozenset[str] = frozenset()
    """Judged sets that `all` measures."""
    planned: list[tuple[str, ExpectedCost]] | None = None
    """If a list, the expected cost of each part is added to it and no model is called."""


class PartInputs(NamedTuple):
    run_options: RunOptions
    settings: Settings
    embedder: LocalEmbedder[Any]
    vectorise: Vectoriser
    rounds: int
    """Rounds of the bootstrap."""
    options: argparse.Namespace
    """Options that only some parts have."""

    def format_warning(self) -> Iterator[str]:
        if self.run_options.judge not in {None, "endpoint"}:
            judge = self.run_options.judge
            yield f"Answers are by {judge}: they are invented or scripted and say nothing about any model.\n"
