"""Research fields in a call: groups of proposals that use similar words. Each field is named after its most distinctive
words. The words come from the proposals, because nobody assigns fields by hand and a corpus that does not cover a field
could not name it."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from orchestrator.store.call_series import WordSeries

_MAX_FIELDS = 12
_MIN_PROPOSALS_PER_FIELD = 8
"""Minimum number of proposals per field, which limits the number of fields."""
_MIN_WORD_PROPOSALS, _MAX_FIELD_SIZES = 2, 1.3
"""A word is used to distinguish fields if at least `_MIN_WORD_PROPOSALS` proposals contain it, and at most
`_MAX_FIELD_SIZES` times the average field size."""
_MAX_WORDS = 2_000
_WORDS_PER_NAME = 3
_MAX_TRAINING_PROPOSALS = 2_000
"""Maximum number of proposals on which k-means is fitted; they are sampled evenly from the call. Every proposal is then
assigned to the nearest field."""


class ProposalFields(NamedTuple):
    names: tuple[str, ...]
    """Each field's most distinctive words; the largest field comes first."""
    field_indexes: tuple[int | None, ...]
    """Index of each proposal's field; None if the proposal shares no distinctive word with others."""


class FieldCoverage(NamedTuple):
    """Corpus coverage of one field, according to its proposals' reports."""

    name: str
    """The field's name; empty for proposals that belong to no field."""
    proposals: int
    good: int
    partial: int
    poor: int
    unknown: int


def count_coverage_by_field(series: WordSeries) -> list[FieldCoverage]:
    """Return how well the corpus covers each field. The largest field comes first, proposals without a field last.
    Empty if there are too few proposals to distinguish fields."""
    fields = cluster_proposals(series.words)
    if not fields.names:
        return []
    rows = []
    for field, name in (*enumerate(fields.names), (None, "")):
        counts = Counter(fit for fit, index in zip(series.fits, fields.field_indexes, strict=True) if index == field)
        if counts:
            rows.append(
                FieldCoverage(name, counts.total(), counts["good"], counts["partial"], counts["poor"], counts[None])
            )
    return rows


def find_runs_of_field(series: WordSeries, name: str) -> list[str]:
    """Return the run ids of a field's proposals. Empty if no field has this name any longer, because fields change as
    reports are added."""
    fields = cluster_proposals(series.words)
    return [
        run
        for run, index in zip(series.runs, fields.field_indexes, strict=True)
        if index is not None and fields.names[index] == name
    ]


def cluster_proposals(words: Sequence[Sequence[str]]) -> ProposalFields:
    """Group proposals into fields by k-means clustering of their words, weighted by tf-idf. `words` holds each
    proposal's distinct words. The result is deterministic."""
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer

    no_fields = ProposalFields((), (None,) * len(words))
    count = min(_MAX_FIELDS, sum(map(bool, words)) // _MIN_PROPOSALS_PER_FIELD)
    if count < 2:
        return no_fields
    max_shared = max(_MIN_WORD_PROPOSALS, int(_MAX_FIELD_SIZES * len(words) / count))
    weights = TfidfVectorizer(analyzer=list, min_df=_MIN_WORD_PROPOSALS, max_df=max_shared, max_features=_MAX_WORDS)
    try:
        matrix = weights.fit_transform(words).tocsr()
    except ValueError:  # no word lies within the bounds
        return no_fields
    has_words = np.diff(matrix.indptr) > 0
    if has_words.sum() < count * _MIN_PROPOSALS_PER_FIELD / 2:
        return no_fields
    sample = matrix[has_words][:: -(-int(has_words.sum()) // _MAX_TRAINING_PROPOSALS)]
    count = min(count, len({row.indices.tobytes() for row in sample}))
    model = KMeans(count, n_init=5, random_state=0).fit(sample)
    nearest = model.predict(matrix)
    sizes = np.bincount(nearest[has_words], minlength=count)
    order = [int(cluster) for cluster in np.argsort(-sizes, kind="stable") if sizes[cluster]]
    vocabulary, centres = weights.get_feature_names_out(), model.cluster_centers_
    names = [
        ", ".join(
            vocabulary[index]
            for index in np.argsort(-centres[cluster])[:_WORDS_PER_NAME]
            if centres[cluster][index] > 0
        )
        for cluster in order
    ]
    field_indexes = (
        order.index(cluster) if has_field else None for cluster, has_field in zip(nearest, has_words, strict=True)
    )
    return ProposalFields(tuple(names), tuple(field_indexes))
