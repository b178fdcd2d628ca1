"""Labelled papers as viewpoint graphs: split, embedded, connected. Vectors are kept between runs."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.arrays import GraphArrays, connect
from assayer.methods.grapheval.splitter import SPLITTER, split
from assayer.models import IdeaId
from assayer.ports import Embedder
from benchmarks.quality.grapheval.data import CLASSES, Labelled

__all__ = ["Embedded", "Vectoriser", "embedded", "viewpoints_of"]

_MOST_VIEWPOINTS = 64


class Vectoriser:
    """Embeds lists of texts, each list once in a lifetime of its folder."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._folder = folder

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        key = hashlib.sha256(json.dumps([self.name, list(texts)]).encode()).hexdigest()[:24]
        path = self._folder / f"{key}.npy"
        if not path.is_file():
            self._folder.mkdir(parents=True, exist_ok=True)
            np.save(path, asyncio.run(self._embed(texts)))
        vectors: NDArray[np.float32] = np.load(path)
        return vectors

    async def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await self._embedder.embed(texts, "passage")


@dataclass(frozen=True)
class Embedded:
    """Papers, their graph, and what the baselines see of them; rows of all three agree."""

    papers: tuple[Labelled, ...]
    graph: GraphArrays
    viewpoints: tuple[str, ...]
    whole: NDArray[np.float32]
    """(i, d): title and abstract embedded as one text."""

    @property
    def texts(self) -> dict[IdeaId, str]:
        return {paper.id: paper.text for paper in self.papers}

    def connected(self, intra: int, inter: int) -> "Embedded":
        edges = connect(self.graph.vectors, self.graph.idea_of, intra, inter)
        return replace(self, graph=replace(self.graph, **edges._asdict()))


def embedded(papers: Sequence[Labelled], vectorise: Vectoriser) -> Embedded:
    """With the card's edges: 5 inside an idea, 10 between ideas."""
    said = [viewpoints_of(paper.text) for paper in papers]
    viewpoints = tuple(text for one in said for text in one)
    vectors = vectorise(viewpoints)
    idea_of = np.repeat(np.arange(len(papers)), [len(one) for one in said]).astype(np.int32)
    graph = GraphArrays(
        vectors=vectors,
        idea_of=idea_of,
        ideas=tuple(paper.id for paper in papers),
        labels=np.array([paper.label for paper in papers], np.int16),
        dates=np.array([paper.day.toordinal() - _EPOCH for paper in papers], np.int32),
        classes=CLASSES,
        **connect(vectors, idea_of)._asdict(),
    )
    return Embedded(tuple(papers), graph, viewpoints, vectorise([paper.text for paper in papers]))


_EPOCH = 719163
"""Ordinal of 1970-01-01."""


def viewpoints_of(text: str) -> list[str]:
    return [viewpoint.text for viewpoint in split(text, _MOST_VIEWPOINTS)]


MAKER = SPLITTER
