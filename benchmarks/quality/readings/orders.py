"""By what papers can be put in order before anybody reads them, and how good an order is beside what readers said."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import auroc
from assayer.methods.scholareval.candidate_order import fused, in_turn
from assayer.models import PaperId
from assayer.text.sentences import sentences
from benchmarks.quality.readings.labels import Sought

__all__ = ["CLUES", "Clue", "Cut", "Scored", "Weights", "clues_of", "cut", "mixed", "ranked_by_places", "tuned"]

Floats = NDArray[np.float64]
Similarity = Callable[[Sequence[str], Sequence[str]], Floats]
"""(queries, papers)."""
Weights = Mapping["Clue", float]


class Clue(NamedTuple):
    """Something that a paper can be judged by without being read; higher is nearer."""

    name: str


DESCRIPTION = Clue("cosine with the description")
PARTS = Clue("cosine with the nearest sentence of the description")
WORDS = Clue("words in common with the description (TF-IDF)")
KNOWN = Clue("cosine with the nearest paper known to be wanted for the idea")
CLUES = (DESCRIPTION, PARTS, WORDS, KNOWN)
_WEIGHTS = (0.0, 0.5, 1.0, 2.0)


class Scored(NamedTuple):
    sought: Sought
    clues: Mapping[Clue, Floats]
    """(papers,) each, in standard deviations from the mean of these papers."""

    @property
    def wanted(self) -> NDArray[np.bool_]:
        return np.array([one.wanted for one in self.sought.papers])


class Cut(NamedTuple):
    """What is read where so many papers are opened, the first of each order in turn."""

    opened: int
    wanted: int
    """Of those opened."""
    of: int
    """Wanted in all."""


def clues_of(soughts: Sequence[Sought], meaning: Similarity, words: Similarity) -> list[Scored]:
    """Of one idea. A paper is never compared with itself: what is known of it is what the others tell."""
    known = list(dict.fromkeys(paper.text for one in soughts for paper in one.papers if paper.wanted))
    found = []
    for one in soughts:
        texts = [paper.text for paper in one.papers]
        lines = [*one.text.splitlines()[:1], *sentences(one.text, min_words=4)]
        others = meaning(known, texts) if known else np.zeros((0, len(texts)))
        own = np.array([[said == text for text in texts] for said in known], bool).reshape(others.shape)
        values = {
            DESCRIPTION: meaning([one.text], texts)[0],
            PARTS: meaning(lines, texts).max(axis=0),
            WORDS: words([one.text], texts)[0],
            KNOWN: np.where(own, -1.0, others).max(axis=0, initial=-1.0),
        }
        found.append(Scored(one, {clue: _standardised(value) for clue, value in values.items()}))
    return found


def mixed(scored: Scored, weights: Weights) -> Floats:
    """(papers,) one value a paper, higher is nearer."""
    return np.asarray(np.sum([weight * scored.clues[clue] for clue, weight in weights.items()], axis=0), np.float64)


def ranked_by_places(scored: Scored, clues: Sequence[Clue]) -> Floats:
    """As the program fuses rankings: by reciprocal places."""
    names = [PaperId(f"{place:04}") for place in range(len(scored.sought.papers))]
    rankings = [[names[place] for place in np.argsort(-scored.clues[clue], kind="stable")] for clue in clues]
    order = fused(rankings)
    values = np.empty(len(names))
    values[[int(one) for one in order]] = -np.arange(len(order))
    return values


def cut(scored: Sequence[Scored], values: Sequence[Floats], opened: int) -> Cut:
    """A paper is wanted if it is for any of what was sought."""
    orders = [
        [PaperId(one.sought.papers[place].text) for place in np.argsort(-value, kind="stable")]
        for one, value in zip(scored, values, strict=True)
    ]
    wanted = {paper.text for one in scored for paper in one.sought.papers if paper.wanted}
    chosen = in_turn(orders, opened)
    return Cut(len(chosen), len(wanted.intersection(chosen)), len(wanted))


def tuned(scored: Sequence[Scored], clues: Sequence[Clue]) -> Weights:
    """The weights with the highest mean AUROC over what was sought; the simplest of equals."""
    return max(_grid(clues), key=lambda weights: (round(_mean_auroc(scored, weights), 6), -sum(weights.values())))


def _grid(clues: Sequence[Clue]) -> Iterator[Weights]:
    for values in product(_WEIGHTS, repeat=len(clues)):
        if any(values):
            yield dict(zip(clues, values, strict=True))


def _mean_auroc(scored: Sequence[Scored], weights: Weights) -> float:
    found = [auroc(one.wanted.astype(np.int16), two_columns(mixed(one, weights))) for one in scored]
    return float(np.nanmean(found))


def two_columns(values: Floats) -> Floats:
    return np.column_stack([-values, values])


def _standardised(values: Floats) -> Floats:
    spread = float(values.std())
    return np.asarray((values - values.mean()) / spread if spread > 0 else np.zeros(len(values)), np.float64)
