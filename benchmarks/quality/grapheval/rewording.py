"""Plagiarism that was reworded by people: abstracts on arXiv beside the same papers' abstracts at a conference.

Authors rewrite an abstract between the two; how far is told by the share of three-word sequences that both have. What
was handed in is the text from arXiv, the graph holds the text of the conference beside other papers. Honest ideas are
papers on arXiv whose title no paper of the corpus has.
"""

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.plagiarism import (
    MINILM_LIMITS,
    NEAREST_VIEWPOINTS,
    IdeaViewpoints,
    NearbyViewpoint,
    Resemblance,
    resemblance_to_neighbours,
)
from assayer.methods.grapheval.scoring.metrics import Estimate
from assayer.models import IdeaId
from benchmarks.quality.figures import values_of
from benchmarks.quality.grapheval.data import DATA, read_records
from benchmarks.quality.grapheval.graphs import Vectoriser, viewpoints_of
from index.viewpoint_neighbours import FaissNeighbours

__all__ = ["BANDS", "Handed", "RewordingFound", "compared_with_graph", "measure_rewording"]

BANDS = ((0.0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9))
"""Of the share of common three-word sequences; above, a text was hardly changed."""


class Rewording(NamedTuple):
    id: str
    handed_in: str
    original: str
    source: IdeaId
    common: float
    """Share of three-word sequences, 0 to 1."""


class Handed(NamedTuple):
    """An idea as it was handed in, and what of a graph lies near each of its viewpoints."""

    idea: IdeaId
    texts: Sequence[str]
    nearby: list[list[NearbyViewpoint]]


class RewordingFound(NamedTuple):
    """Of one band of rewording, or of the honest ideas, where what is found are false alarms."""

    name: str
    ideas: int
    copies: Estimate
    """Share found with paraphrases not looked for."""
    all_kinds: Estimate
    source_named: float
    """Of those found, the share whose source is named; NaN for honest ideas."""


def measure_rewording(vectorise: Vectoriser, honest_ideas: int, rounds: int, seed: int) -> list[RewordingFound]:
    """The program's limits, on the ideas that took no part in fitting them: every second one."""
    rewordings, honest, others = read_rewordings()
    generator = random.Random(seed)
    honest, others = generator.sample(honest, honest_ideas), generator.sample(others, honest_ideas)
    graph = [*((one.source, one.original) for one in rewordings), *others]
    asked = [*((one.id, one.handed_in) for one in rewordings), *honest]
    handed = list(compared_with_graph(asked, graph, vectorise))[1::2]
    truth = [*rewordings, *([None] * len(honest))][1::2]
    copies = MINILM_LIMITS.model_copy(update={"paraphrase": None})
    found = [[resemblance_to_neighbours(*one, limits) for one in handed] for limits in (copies, MINILM_LIMITS)]
    bands = [(f"{low:.1f} to {high:.1f} in common", low, high) for low, high in BANDS]
    bands.append(("all reworded", 0.0, BANDS[-1][1]))
    rows = [(name, [n for n, one in enumerate(truth) if one and low <= one.common < high]) for name, low, high in bands]
    rows.append(("honest", [n for n, one in enumerate(truth) if one is None]))
    return [_measured(name, places, truth, found, rounds) for name, places in rows]


def _measured(
    name: str,
    places: Sequence[int],
    truth: Sequence[Rewording | None],
    found: Sequence[Sequence[Resemblance | None]],
    rounds: int,
) -> RewordingFound:
    shares = [values_of(np.array([float(some[n] is not None) for n in places]), rounds) for some in found]
    named = [one.closest == known.source for n in places if (one := found[1][n]) and (known := truth[n])]
    return RewordingFound(name, len(places), shares[0], shares[1], float(np.mean(named)) if named else float("nan"))


def read_rewordings() -> tuple[list[Rewording], list[tuple[str, str]], list[tuple[str, str]]]:
    """Rewordings, honest ideas, other papers of the corpus; the last two as id and text."""
    corpus = {one["id"]: one for one in read_records(DATA / "papers" / "papers.jsonl.gz")}
    found, honest = [], []
    for paper in read_records(DATA / "citations_ml" / "papers.jsonl.gz"):
        published = corpus.get(paper.get("corpus_id") or "")
        if published is None:
            honest.append((paper["id"], _text(paper)))
        elif (common := _common(paper["abstract"], published["abstract"])) < BANDS[-1][1]:
            source = IdeaId(published["id"])
            found.append(Rewording(paper["id"], _text(paper), _text(published), source, common))
    taken = {one.source for one in found}
    return found, honest, [(name, _text(one)) for name, one in corpus.items() if name not in taken and one["abstract"]]


def compared_with_graph(
    asked: Sequence[tuple[str, str]], graph: Sequence[tuple[str, str]], vectorise: Vectoriser
) -> Iterator[Handed]:
    """Both as id and text."""
    held = [(IdeaId(name), viewpoint) for name, text in graph for viewpoint in viewpoints_of(text)]
    vectors = vectorise([viewpoint for _, viewpoint in held])
    index = FaissNeighbours(vectors.shape[1])
    index.add(vectors)
    for name, text in asked:
        texts = viewpoints_of(text)
        said = IdeaViewpoints(IdeaId(name), texts, vectorise(texts))
        found = index.nearest(said.vectors, NEAREST_VIEWPOINTS + len(texts))
        yield Handed(said.idea, texts, [_row(held, *both) for both in zip(found.rows, found.cosines, strict=True)])


def _row(
    held: Sequence[tuple[IdeaId, str]], rows: NDArray[np.int64], cosines: NDArray[np.float32]
) -> list[NearbyViewpoint]:
    return [
        NearbyViewpoint(held[row][0], held[row][1], float(cosine))
        for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True)
        if row >= 0
    ]


def _text(paper: dict[str, str]) -> str:
    """Without the title, which both versions share and whoever copies would change."""
    return paper["abstract"].strip()


def _common(one: str, other: str) -> float:
    both = [_triples(text) for text in (one, other)]
    return len(both[0] & both[1]) / max(1, len(both[0] | both[1]))


def _triples(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[place : place + 3]) for place in range(len(words) - 2)}
