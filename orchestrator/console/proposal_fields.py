"""Fields of a call's proposals: groups that use the same words, named by them. Nobody assigns proposals to fields, and
a corpus that does not cover a field could not name it; so the proposals' own words do."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from orchestrator.store.call_series import WordSeries

__all__ = ["FieldCoverage", "ProposalFields", "coverage_by_field", "fields_of", "runs_of_field"]

_MOST_FIELDS = 12
_LEAST_EACH = 8
"""Proposals for which there is a field more."""
_LEAST_SHARED, _MOST_SHARED = 2, 1.3
"""A word tells fields apart that so many proposals share, and not many more than one field has."""
_MOST_WORDS = 2_000
_NAMING = 3
_ROUNDS = 20
_MOST_LEARNT_FROM = 2_000
"""Proposals, evenly spread over the call, from which the fields are learnt; then all are told to which they belong."""


class ProposalFields(NamedTuple):
    names: tuple[str, ...]
    """The words that most set each apart; the largest field first."""
    of: tuple[int | None, ...]
    """Which of them each proposal falls into; None: it shares no telling word with others."""


class FieldCoverage(NamedTuple):
    """How well the corpus covers one field, by the reports of its proposals."""

    name: str
    """Empty: the proposals that fall into none."""
    proposals: int
    good: int
    partial: int
    poor: int
    unknown: int


def coverage_by_field(series: WordSeries) -> list[FieldCoverage]:
    """The largest field first, what falls into none last. Empty: there are too few proposals to tell fields apart."""
    fields = fields_of(series.words)
    if not fields.names:
        return []
    found = []
    for place, name in (*enumerate(fields.names), (None, "")):
        fits = Counter(fit for fit, of in zip(series.fits, fields.of, strict=True) if of == place)
        if fits:
            found.append(FieldCoverage(name, fits.total(), fits["good"], fits["partial"], fits["poor"], fits[None]))
    return found


def runs_of_field(series: WordSeries, name: str) -> list[str]:
    """Empty: no field has that name (now: fields follow the reports that there are)."""
    fields = fields_of(series.words)
    return [run for run, of in zip(series.runs, fields.of, strict=True) if of is not None and fields.names[of] == name]


def fields_of(words: Sequence[Sequence[str]]) -> ProposalFields:
    """`words`: of each proposal, each once, the most frequent first. The same words give the same fields (spherical
    k-means with tf-idf weights, begun from the proposals that are farthest apart)."""
    count = min(_MOST_FIELDS, sum(map(bool, words)) // _LEAST_EACH)
    vocabulary = _telling(words, count) if count > 1 else []
    matrix, known = _weights(words, vocabulary)
    if known.sum() < count * _LEAST_EACH / 2 or not vocabulary:
        return ProposalFields((), (None,) * len(words))
    step = -(-len(words) // _MOST_LEARNT_FROM)
    centres = _learnt(matrix[::step], known[::step], count)
    return _named(_nearest(matrix, centres), known, centres, vocabulary)


def _telling(words: Sequence[Sequence[str]], fields: int) -> list[str]:
    shared = Counter(chain.from_iterable(words))
    most = max(_LEAST_SHARED, _MOST_SHARED * len(words) / fields)
    ordered = sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))
    return [word for word, times in ordered if _LEAST_SHARED <= times <= most][:_MOST_WORDS]


def _weights(words: Sequence[Sequence[str]], vocabulary: list[str]) -> tuple[sparse.csr_matrix, NDArray[np.bool_]]:
    """A row of length 1 for each proposal, and which have one: rarer words weigh more, and more frequent ones of it."""
    places = {word: place for place, word in enumerate(vocabulary)}
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    columns = np.fromiter((places.get(word, -1) for word in chain.from_iterable(words)), np.int64, int(lengths.sum()))
    rows = np.repeat(np.arange(len(words)), lengths)
    order = np.arange(len(columns)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows, columns, order = rows[columns >= 0], columns[columns >= 0], order[columns >= 0]
    shared = np.bincount(columns, minlength=len(vocabulary))
    values = np.log(len(words) / shared[columns]) / np.sqrt(1 + order)
    norms = np.sqrt(np.bincount(rows, values**2, minlength=len(words)))
    matrix = sparse.csr_matrix(
        (values / np.maximum(norms, 1e-12)[rows], (rows, columns)), shape=(len(words), len(vocabulary))
    )
    return matrix, norms > 0


def _learnt(matrix: sparse.csr_matrix, known: NDArray[np.bool_], count: int) -> NDArray[np.float64]:
    centres = _farthest_apart(matrix, known, count)
    nearest = _nearest(matrix, centres)
    for _ in range(_ROUNDS):
        centres = _centres(matrix, nearest, count)
        before, nearest = nearest, _nearest(matrix, centres)
        if np.array_equal(before, nearest):
            break
    return centres


def _farthest_apart(matrix: sparse.csr_matrix, known: NDArray[np.bool_], count: int) -> NDArray[np.float64]:
    """From the most typical proposal on, each time the one that is nearest to many that no centre is near to."""
    pull = np.asarray(matrix @ np.asarray(matrix.sum(axis=0)).ravel())
    alone, centres = known.astype(float), []
    for _ in range(count):
        centres.append(matrix[int(np.argmax(pull * alone))].toarray().ravel())
        alone = np.minimum(alone, np.clip(1 - np.asarray(matrix @ centres[-1]), 0, 1) * known)
    return np.array(centres)


def _nearest(matrix: sparse.csr_matrix, centres: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.asarray(np.argmax(np.asarray(matrix @ centres.T), axis=1), dtype=np.int64)


def _centres(matrix: sparse.csr_matrix, nearest: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    rows = len(nearest)
    members = sparse.csr_matrix((np.ones(rows), (nearest, np.arange(rows))), shape=(count, rows))
    sums = (members @ matrix).toarray()
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12))


def _named(
    nearest: NDArray[np.int64], known: NDArray[np.bool_], centres: NDArray[np.float64], vocabulary: list[str]
) -> ProposalFields:
    sizes = np.bincount(nearest[known], minlength=len(centres))
    order = [int(one) for one in np.argsort(-sizes, kind="stable") if sizes[one]]
    names = []
    for one in order:
        first = np.argsort(-centres[one], kind="stable")[:_NAMING]
        names.append(", ".join(vocabulary[place] for place in first if centres[one][place] > 0))
    places = {one: place for place, one in enumerate(order)}
    found = (places[int(one)] if there else None for one, there in zip(nearest, known, strict=True))
    return ProposalFields(tuple(names), tuple(found))
