"""Labelled papers as viewpoint graphs: split, embedded and connected. Vectors are kept between runs."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.methods.grapheval.viewpoints.splitter import split_viewpoints
from assayer.models import IdeaId
from assayer.ports import Embedder
from benchmarks.quality.grapheval.data import CLASSES, LabelledPaper
from benchmarks.quality.grapheval.exact_edges import find_exact_edges

MAX_VIEWPOINTS = 64


class Vectoriser:
    """Embeds each text only once and keeps the vectors in a folder."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self._path = folder / f"{_compute_digest(embedder.name)}.npz"
        self._known: dict[str, NDArray[np.float32]] = {}
        if self._path.is_file():
            with np.load(self._path) as archive:
                self._known = dict(zip(archive["digests"].tolist(), archive["vectors"], strict=True))

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        digests = [_compute_digest(text) for text in texts]
        missing_texts = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in self._known}
        if missing_texts:
            vectors = asyncio.run(self._embedder.embed(list(missing_texts.values()), "passage"))
            self._known |= zip(missing_texts, vectors, strict=True)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._path, digests=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
        return np.stack([self._known[digest] for digest in digests])


def _compute_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class EmbeddedPapers:
    """Papers, their graph, and the inputs of the baselines; the rows of all three agree."""

    papers: tuple[LabelledPaper, ...]
    graph: GraphArrays
    viewpoints: tuple[str, ...]
    text_vectors: NDArray[np.float32]
    """(i, d): title and abstract embedded as one text."""

    @property
    def texts(self) -> dict[IdeaId, str]:
        return {paper.id: paper.text for paper in self.papers}


def embed_papers(
    papers: Sequence[LabelledPaper],
    vectorise: Vectoriser,
    classes: tuple[str, ...] = CLASSES,
    is_asked: NDArray[np.bool_] | None = None,
) -> EmbeddedPapers:
    """Embed the papers with the card's edges: 5 within an idea, 10 between ideas.

    `is_asked`, of shape (papers,), marks papers that are never a neighbour."""
    viewpoints_by_paper = [list_viewpoints(paper.text) for paper in papers]
    viewpoints = tuple(text for paper_viewpoints in viewpoints_by_paper for text in paper_viewpoints)
    vectors = vectorise(viewpoints)
    idea_of = np.repeat(
        np.arange(len(papers)), [len(paper_viewpoints) for paper_viewpoints in viewpoints_by_paper]
    ).astype(np.int32)
    graph = GraphArrays(
        vectors=vectors,
        idea_of=idea_of,
        ideas=tuple(paper.id for paper in papers),
        labels=np.array([paper.label for paper in papers], np.int16),
        dates=np.array([paper.day.toordinal() - _EPOCH for paper in papers], np.int32),
        classes=classes,
        **find_exact_edges(vectors, idea_of, is_asked=is_asked)._asdict(),
    )
    return EmbeddedPapers(tuple(papers), graph, viewpoints, vectorise([paper.text for paper in papers]))


_EPOCH = 719163
"""Ordinal of 1970-01-01."""


def list_viewpoints(text: str) -> list[str]:
    return [viewpoint.text for viewpoint in split_viewpoints(text, MAX_VIEWPOINTS)]
