"""80 plagiarised ideas among 400 real ones. Limits are fitted on the other 89 and on what is made of these."""

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.plagiarism import IdeaViewpoints, PlagiarismLimits, resemblance_in_graph
from assayer.methods.grapheval.synthetic_plagiarism import PLAGIARISM_KINDS, PlagiarisedIdea, plagiarise
from assayer.models import IdeaId
from benchmarks.quality.grapheval.data import Labelled
from benchmarks.quality.grapheval.graphs import Embedded, Vectoriser, embedded, viewpoints_of
from benchmarks.quality.grapheval.metrics import Detection, detection
from benchmarks.quality.grapheval.plagiarism_limits import fit_limits
from index.viewpoint_neighbours import FaissNeighbours

__all__ = ["Outcome", "measure_plagiarism"]

_REAL, _CASES = 400, (27, 27, 26)
_FITTING_CASES = (8, 8, 8)
_REWORDED = "copy, reworded"
_DROPPED_WORDS = 0.15


class Case(NamedTuple):
    kind: str
    said: IdeaViewpoints


class Outcome(NamedTuple):
    limits: PlagiarismLimits
    by_kind: dict[str, Detection]
    """Of each kind alone among all the real ideas; `all` of the three kinds together."""
    source_found: float
    """Share of the flagged cases whose closest idea is the one they were made from."""
    false_alarms: float
    milliseconds: float
    """For one idea, embedding apart."""


def measure_plagiarism(papers: Sequence[Labelled], vectorise: Vectoriser, seed: int) -> Outcome:
    shuffled = [papers[row] for row in np.random.default_rng(seed).permutation(len(papers))]
    corpus, spare = embedded(shuffled[:_REAL], vectorise), embedded(shuffled[_REAL:], vectorise)
    limits = _fitted(spare, vectorise, seed)
    index = FaissNeighbours(corpus.graph.vectors.shape[1])
    index.add(corpus.graph.vectors)
    owners = [corpus.graph.ideas[row] for row in corpus.graph.idea_of]
    cases = [*_real(corpus), *_made(corpus, vectorise, _CASES, seed)]
    start = perf_counter()
    found = [resemblance_in_graph(case.said, index, owners, corpus.viewpoints, limits) for case in cases]
    spent = (perf_counter() - start) / len(cases) * 1000
    kinds = np.array([case.kind for case in cases])
    flagged = np.array([one is not None for one in found])
    sources = [
        one.closest == _source(case)
        for case, one in zip(cases, found, strict=True)
        if one and case.kind in PLAGIARISM_KINDS
    ]
    by_kind = {kind: _only(flagged, kinds, (kind,)) for kind in (*PLAGIARISM_KINDS, _REWORDED)}
    by_kind["all"] = _only(flagged, kinds, PLAGIARISM_KINDS)
    return Outcome(limits, by_kind, float(np.mean(sources)), float(flagged[kinds == ""].mean()), spent)


def _only(flagged: NDArray[np.bool_], kinds: NDArray[np.str_], wanted: Sequence[str]) -> Detection:
    chosen = np.isin(kinds, ["", *wanted])
    return detection(flagged[chosen], kinds[chosen] != "")


def _fitted(spare: Embedded, vectorise: Vectoriser, seed: int) -> PlagiarismLimits:
    """On cosines of each viewpoint with the nearest of another idea of the spare ones."""
    made = [case for case in _made(spare, vectorise, _FITTING_CASES, seed) if case.kind in PLAGIARISM_KINDS]
    honest = [_nearest(case.said, spare) for case in _real(spare)]
    return fit_limits(honest, [_nearest(case.said, spare) for case in made])


def _nearest(said: IdeaViewpoints, among: Embedded) -> NDArray[np.float32]:
    others = np.array([among.graph.ideas[row] != said.idea for row in among.graph.idea_of])
    nearest: NDArray[np.float32] = (said.vectors @ among.graph.vectors[others].T).max(axis=1)
    return nearest


def _real(data: Embedded) -> list[Case]:
    return [
        Case("", _said(paper.id, data, np.flatnonzero(data.graph.idea_of == row)))
        for row, paper in enumerate(data.papers)
    ]


def _said(name: IdeaId, data: Embedded, nodes: NDArray[np.int64]) -> IdeaViewpoints:
    return IdeaViewpoints(name, [data.viewpoints[node] for node in nodes], data.graph.vectors[nodes])


def _made(data: Embedded, vectorise: Vectoriser, counts: Sequence[int], seed: int) -> list[Case]:
    """As somebody would hand them in: as a text, which is split and embedded anew."""
    generator = np.random.default_rng(seed)
    made: list[tuple[str, PlagiarisedIdea, str]] = [
        (trick, one, " ".join(data.viewpoints[node] for node in one.nodes))
        for trick, count in zip(PLAGIARISM_KINDS, counts, strict=True)
        for one in plagiarise(data.graph, trick, count, seed)
    ]
    made += [
        (_REWORDED, one, " ".join(_reworded(data.viewpoints[node], generator) for node in one.nodes))
        for one in plagiarise(data.graph, "copy", counts[0], seed + 1)
    ]
    said = [viewpoints_of(text) for _, _, text in made]
    vectors = vectorise([text for one in said for text in one])
    ends = np.cumsum([len(one) for one in said])
    return [
        Case(
            kind,
            IdeaViewpoints(IdeaId(f"{kind}/{data.graph.ideas[one.source]}"), texts, vectors[end - len(texts) : end]),
        )
        for (kind, one, _), texts, end in zip(made, said, ends, strict=True)
    ]


def _source(case: Case) -> str:
    return case.said.idea.partition("/")[2]


def _reworded(text: str, generator: np.random.Generator) -> str:
    """Some words left out and the halves around the first comma exchanged: crude, but not the same words."""
    first, comma, rest = text.rstrip(".").partition(", ")
    words = (f"{rest}, {first}" if comma else first).split()
    kept = [word for word, draw in zip(words, generator.random(len(words)), strict=True) if draw >= _DROPPED_WORDS]
    return " ".join(kept).capitalize() + "."
