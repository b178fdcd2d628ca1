"""Index of the words of a call's proposals. Without reading their texts again, it finds proposals with which a reviewer
may have a conflict of interest, and compares proposals with a reviewer's expertise."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from orchestrator.jobs.models import JobId
from orchestrator.reviewing.conflict_search import ConflictSearch, extract_words
from orchestrator.reviewing.expertise import KnownExpertise, build_profile_text, get_compared_text

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

_HASH_COUNT = 2**20
"""Number of possible hashes of words. A hash collision causes an unnecessary search of a proposal."""


class IndexedProposal(NamedTuple):
    title: str
    text: str
    other_texts: Sequence[str] = ()
    """Further texts that may name people."""


class _WordCounts(NamedTuple):
    """One row for each proposal, one column for each hash of a word."""

    words: "csr_array[Any]"
    """Words of the whole document."""
    counts: "csr_array[Any]"
    """Frequencies of words in the part that is compared with reviewers."""


class ProposalIndex:
    """Immutable index that several threads can share."""

    def __init__(self, versions: Mapping[JobId, str] | None = None, rows: _WordCounts | None = None) -> None:
        """Create an index; `versions` holds the version of each proposal's text, in row order."""
        self.versions = versions or {}
        self._rows = rows or _count_words(())
        self._ids = np.array(list(self.versions), dtype=object)

    def copy_with_texts(self, texts: Mapping[JobId, IndexedProposal], versions: Mapping[JobId, str]) -> "ProposalIndex":
        """Return an index with `texts` added, and without proposals whose version differs from `versions`."""
        from scipy.sparse import vstack

        kept_rows = [
            row for row, proposal_id in enumerate(self._ids) if versions.get(proposal_id) == self.versions[proposal_id]
        ]
        pairs = zip(self._rows, _count_words(texts.values()), strict=True)
        rows = _WordCounts(*(vstack([previous[kept_rows], added], format="csr") for previous, added in pairs))
        kept_versions = {proposal_id: self.versions[proposal_id] for proposal_id in self._ids[kept_rows]}
        return ProposalIndex(kept_versions | {proposal_id: versions[proposal_id] for proposal_id in texts}, rows)

    def find_possible_conflicts(self, search: ConflictSearch) -> list[JobId]:
        """Return the proposals in which `search` may find a conflict; it finds none in the others."""
        sets = [sorted(words) for words in search.list_word_sets()]
        positions = {word: position for position, word in enumerate(sorted({word for words in sets for word in words}))}
        if not positions or not self.versions:
            return []
        hashes = _build_vectorizer(analyzer=_wrap_word).transform(positions).indices
        occurs = self._occurrences[:, hashes].toarray()
        possible = np.zeros(len(self._ids), dtype=bool)
        for words in sets:
            possible |= occurs[:, [positions[word] for word in words]].all(axis=1)
        return list(self._ids[possible])

    def compute_similarities(self, expertise: KnownExpertise) -> dict[JobId, float]:
        """Return the cosine similarity of each proposal to a reviewer's expertise."""
        if not self.versions:
            return {}
        weights, proposals = self._weighted_counts
        profile = weights.transform(_build_vectorizer(stop_words="english").transform([build_profile_text(expertise)]))
        return dict(zip(self.versions, (proposals @ profile.toarray()[0]).tolist(), strict=True))

    def prepare(self) -> None:
        """Compute the weights in advance, so that the first search does not wait for them."""
        if self.versions:
            _ = self._occurrences, self._weighted_counts

    @cached_property
    def _occurrences(self) -> "csc_array[Any]":
        return self._rows.words.tocsc()

    @cached_property
    def _weighted_counts(self) -> "tuple[TfidfTransformer, csr_array[Any]]":
        from sklearn.feature_extraction.text import TfidfTransformer

        weights = TfidfTransformer(sublinear_tf=True)
        return weights, weights.fit_transform(self._rows.counts)


def _count_words(texts: Iterable[IndexedProposal]) -> _WordCounts:
    from scipy.sparse import csr_array

    proposal_texts = list(texts)
    if not proposal_texts:
        return _WordCounts(
            csr_array(np.zeros((0, _HASH_COUNT), bool)), csr_array(np.zeros((0, _HASH_COUNT), np.float32))
        )
    full_texts = ["\n".join((proposal.title, proposal.text, *proposal.other_texts)) for proposal in proposal_texts]
    compared_texts = [get_compared_text(proposal.title, proposal.text) for proposal in proposal_texts]
    words = _build_vectorizer(analyzer=extract_words, binary=True, dtype=bool).transform(full_texts)
    return _WordCounts(words, _build_vectorizer(stop_words="english").transform(compared_texts))


def _build_vectorizer(**options: Any) -> "HashingVectorizer":
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        **{"n_features": _HASH_COUNT, "alternate_sign": False, "norm": None, "dtype": np.float32, **options}
    )


def _wrap_word(word: str) -> list[str]:
    return [word]
