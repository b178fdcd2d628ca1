"""The weights of `assayer.methods.debate.guard_sentences`: one logistic regression each for orders and for nothing."""

import random
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from assayer.methods.debate.guard_sentences import BUCKETS, longer, places, sentences_of, signs
from benchmarks.guards.texts import HONEST, about_judges, abstracts, families, honest_ideas, wordings

__all__ = ["SEEN", "WEIGHTS", "Examples", "Model", "calibrated", "examples", "fit", "write"]

WEIGHTS = Path(str(files("assayer.methods.debate"))) / "guard_weights.npz"
_FITTED_ON = 9_000
"""Abstracts, the first of `abstracts()`."""
_A_FAMILY = 2_000
_STEPS = 16
_LOOSENESS = 2.0
"""Inverse strength of the penalty: the higher of those tried, by what was found of families left out."""
_CHOSEN_ON = 5_000
"""Abstracts after those learned from, on which the thresholds are set."""
_FALSE_ORDERS = 0.0015
"""Share of these abstracts in which a sentence may be taken for an order."""
_FALSE_NOTHINGS = 0.004
"""Share of their titles that may be taken for nothing."""
SEEN = _FITTED_ON + _CHOSEN_ON
"""Abstracts, the first of `abstracts()`, that had a part in the weights; figures are of the others."""


class Examples(NamedTuple):
    rows: csr_matrix
    kind: NDArray[np.str_]
    """`honest`, `orders` or `nothings`."""
    family: NDArray[np.str_]


class Model(NamedTuple):
    weights: NDArray[np.float64]
    """Orders and nothing, times buckets."""
    bias: NDArray[np.float64]


def examples(seed: int = 3) -> Examples:
    rng = random.Random(seed)
    listed: list[tuple[str, str, str]] = []
    for kind in ("orders", "nothings"):
        slots, found = families(kind)
        for family, templates in found.items():
            listed += [(kind, family, one) for one in wordings(templates, slots, _A_FAMILY, rng)]
    texts = abstracts()[:_FITTED_ON]
    honest = [one for _, text in texts for one in sentences_of(text)]
    rng.shuffle(honest)
    hard = [one for text in about_judges(texts) for one in sentences_of(text)]
    proposals = [one for text in honest_ideas()["proposals of Si et al."][::2] for one in sentences_of(text)]
    own = [one for text in HONEST["foreign"] + HONEST["about_judges"] for one in sentences_of(text)] * 40
    listed += [("honest", "honest", one) for one in honest[:54_000] + hard + proposals + own]
    listed += [("honest", "titles", title) for title, _ in texts[:4_000]]
    return Examples(
        _rows([one for _, _, one in listed]), np.array([one[0] for one in listed]), np.array([one[1] for one in listed])
    )


def fit(given: Examples, without: str = "") -> Model:
    """Leaves out one family, to see how it fares unseen."""
    weights, bias = [], []
    for kind in ("orders", "nothings"):
        used = (given.family != without) & ((given.kind == kind) | (given.kind == "honest"))
        if kind == "orders":
            used = given.family != without
        model = LogisticRegression(C=_LOOSENESS, solver="liblinear", max_iter=60)
        model.fit(given.rows[used], given.kind[used] == kind)
        weights.append(model.coef_[0])
        bias.append(model.intercept_[0])
    return Model(np.array(weights), np.array(bias))


def calibrated(model: Model) -> Model:
    """The same with its thresholds at zero."""
    papers = abstracts()[_FITTED_ON:SEEN]
    parts = [list(sentences_of(text)) for _, text in papers]
    rows = _rows([one for sentences in parts for one in sentences])
    scores = rows @ model.weights[0] - np.repeat([longer(len(one)) for one in parts], [len(one) for one in parts])
    highest = np.maximum.reduceat(scores, np.cumsum([0, *map(len, parts)])[:-1])
    titles = _rows([title for title, _ in papers]) @ model.weights[1]
    bias = -np.array([np.quantile(highest, 1 - _FALSE_ORDERS), np.quantile(titles, 1 - _FALSE_NOTHINGS)])
    return model._replace(bias=bias)


def _rows(sentences: list[str]) -> csr_matrix:
    found = [sorted(places(signs(one))) for one in sentences]
    columns = np.concatenate([np.array(one, np.int32) for one in found])
    ends = np.cumsum([0, *map(len, found)])
    return csr_matrix((np.ones(len(columns), np.float32), columns, ends), shape=(len(sentences), BUCKETS))


def write(model: Model, path: Path = WEIGHTS) -> None:
    rounded = np.clip(np.round(model.weights * _STEPS), -127, 127).astype(np.int8)
    np.savez_compressed(path, weights=rounded, bias=model.bias.astype(np.float32))
