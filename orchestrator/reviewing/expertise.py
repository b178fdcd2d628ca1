"""Similarity of proposals to reviewers' expertise, and the reasons for it in words.
Texts are compared by TF-IDF. In a measurement with authors' own papers, it ranked the authors as well as the packaged
embedding model did (`docs/evidence/assignment.md`). It takes seconds for thousands of proposals, and its weights show
which words a proposal and papers share."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MAX_COMPARED_CHARS = 6_000
"""Number of characters of a proposal that are compared: title, summary and introduction."""
_MIN_CLOSE_SIMILARITY = 0.1
"""Cosine similarity from which a paper counts as close to a proposal."""
_MAX_NAMED_PAPERS, _MAX_NAMED_WORDS = 3, 5
_MAX_TITLE_CHARS = 90


class KnownExpertise(NamedTuple):
    """Known expertise of a reviewer."""

    keywords: Sequence[str] = ()
    papers: Sequence[tuple[str, str]] = ()
    """Papers, each as title and abstract; the abstract may be empty."""


def get_compared_text(title: str, text: str) -> str:
    """Return the part of a proposal that is compared."""
    return f"{title}\n{text}"[:_MAX_COMPARED_CHARS]


def build_profile_text(expertise: KnownExpertise) -> str:
    """Return everything known about a reviewer's expertise as one text."""
    return "\n".join([*expertise.keywords, *(part for paper in expertise.papers for part in paper)])


class ExpertiseMatch:
    """Comparison of proposals with reviewers; both are numbered in the order in which they are passed."""

    def __init__(self, proposals: Sequence[tuple[str, str]], reviewers: Sequence[KnownExpertise]) -> None:
        """Compare proposals, each given as title and text, with reviewers."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = [get_compared_text(title, text) for title, text in proposals]
        self._reviewers = reviewers
        papers = [f"{title}\n{abstract}" for reviewer in reviewers for title, abstract in reviewer.papers]
        keywords = [" \n ".join(reviewer.keywords) for reviewer in reviewers]
        self._vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english", dtype=np.float32)
        try:
            fitted = self._vectorizer.fit_transform([*texts, *papers, *filter(None, keywords)])
        except ValueError:  # no text has a word
            self._vectorizer.fit(["proposal"])
            fitted = self._vectorizer.transform([*texts, *papers])
        self._words = self._vectorizer.get_feature_names_out()
        self._proposals: csr_array[Any] = fitted[: len(texts)]
        self._papers: csr_array[Any] = fitted[len(texts) : len(texts) + len(papers)]
        self._keywords: csr_array[Any] = self._vectorizer.transform(keywords or [""])
        self._paper_offsets = np.cumsum([0, *(len(reviewer.papers) for reviewer in reviewers)])
        profile_vectors = self._vectorizer.transform(list(map(build_profile_text, reviewers)) or [""])
        self.similarity: NDArray[np.float32] = (self._proposals @ profile_vectors.T).toarray()[:, : len(reviewers)]
        """Cosine similarity, one row for each proposal and one column for each reviewer."""

    def explain_pair(self, proposal: int, reviewer: int) -> str:
        """Return sentences that state why a reviewer fits a proposal, or that they do not."""
        reviewer_profile = self._reviewers[reviewer]
        if not reviewer_profile.papers and not reviewer_profile.keywords:
            return "Nothing is known about this reviewer's expertise."
        row = self._proposals[[proposal]]
        papers = slice(self._paper_offsets[reviewer], self._paper_offsets[reviewer + 1])
        cosines = (self._papers[papers] @ row.T).toarray().ravel() if reviewer_profile.papers else np.zeros(0)
        sentences = [self._describe_papers(reviewer_profile, cosines)] if reviewer_profile.papers else []
        shared = self._find_shared_words(row, papers, cosines, reviewer)
        if shared:
            sentences.append(f"Shared words: {', '.join(shared)}.")
        elif not reviewer_profile.papers:
            sentences.append("None of the reviewer's keywords occurs in the proposal.")
        return " ".join(sentences)

    def _describe_papers(self, expertise: KnownExpertise, cosines: NDArray[Any]) -> str:
        order = np.argsort(-cosines, kind="stable")
        close_count = int((cosines >= _MIN_CLOSE_SIMILARITY).sum())
        total = len(expertise.papers)
        titles = [
            _shorten(expertise.papers[index][0]) for index in order[: max(1, min(close_count, _MAX_NAMED_PAPERS))]
        ]
        titles_text = "; ".join(f"“{title}”" for title in titles)
        if total == 1:
            return f"The reviewer's only known paper is {'close' if close_count else 'not close'}: {titles_text}."
        if not close_count:
            return f"None of the reviewer's {total} papers is close; the nearest is {titles_text}."
        verb = "is" if close_count == 1 else "are"
        return f"{close_count} of the reviewer's {total} papers {verb} close: {titles_text}."

    def _find_shared_words(
        self, row: "csr_array[Any]", papers: slice, cosines: NDArray[Any], reviewer: int
    ) -> list[str]:
        """Return the words that contribute most to the similarity with the keywords and the nearest papers."""
        nearest = np.argsort(-cosines, kind="stable")[:_MAX_NAMED_PAPERS] + papers.start
        weights = self._keywords[[reviewer]].multiply(row)
        for index in nearest:
            weights = weights + self._papers[[index]].multiply(row)
        weights = weights.tocsr()
        order = np.argsort(-weights.data, kind="stable")[:_MAX_NAMED_WORDS]
        return [str(self._words[weights.indices[index]]) for index in order if weights.data[index] > 0]


def _shorten(title: str) -> str:
    return title if len(title) <= _MAX_TITLE_CHARS else f"{title[:_MAX_TITLE_CHARS].rsplit(' ', 1)[0]} …"


BID_VALUES: Mapping[str, float] = {"eager": 0.3, "willing": 0.15, "unwilling": -5.0}
"""Amount that a bid adds to the value of an assignment, which is between 0 and 1 without a bid. An unwilling reviewer
gets a proposal only if there would otherwise be too few reviewers."""
_BEST_PERCENTILE = 99.0
"""Percentile of the similarities above 0 that counts as the best possible match."""


def compute_assignment_values(
    similarity: NDArray[np.float32], bids: Mapping[tuple[int, int], str]
) -> NDArray[np.float64]:
    """Return the value of assigning each proposal (row) to each reviewer (column), computed from the similarities
    and from `bids`, whose keys are (row, column)."""
    positive = similarity[similarity > 0]
    best = float(np.percentile(positive, _BEST_PERCENTILE)) if positive.size else 1.0
    values = np.clip(similarity.astype(np.float64) / best, 0.0, 1.0)
    for position, bid in bids.items():
        values[position] += BID_VALUES.get(bid, 0.0)
    return values
