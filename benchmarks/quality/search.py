"""What reports rest on: how near it is to the idea, how much of the idea's topic it covers, how much it adds.

After InnoEval's appendix E. The paper lets a language model say which finds are highly relevant. Neither these data
nor the corpus say what an idea's paper cites, so the judge here is a proxy: a paper is near when its cosine with the
idea is at least that of the median corpus paper with its nearest neighbour. The program searches with the same
embedding, so this flatters whoever ranks by it: read the density beside those of the nearest and of a draw by lot.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Idea
from benchmarks.quality.grapheval.reporting import row
from index.segments.segment import Segment

__all__ = ["Found", "SearchMeasures", "Topics", "measure", "near_limit", "nearest", "search_report"]

_WORDS = 20
"""Topic words of one text: those of the highest TF-IDF."""
_SAMPLE = 500


class Found(NamedTuple):
    """What one way of searching returned for one idea."""

    way: str
    idea: Idea
    rows: tuple[int, ...]
    """Of papers in the corpus; may be empty."""


class SearchMeasures(NamedTuple):
    found: float
    """Papers."""
    density: float
    """Share of the papers that are near; NaN where none was found."""
    coverage: float
    """Share of the idea's topic words that the papers have; 0 where none was found."""
    diversity: float
    """Share of the papers' topic words that the idea does not have; NaN where none was found."""


class Topics:
    """Topic words, weighted by how rare they are in the corpus."""

    def __init__(self, texts: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._words = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2)
        self._words.fit(texts)
        self._names = self._words.get_feature_names_out()

    def of(self, text: str) -> set[str]:
        weights = self._words.transform([text])
        best = np.argsort(-weights.data, kind="stable")[:_WORDS]
        return {str(self._names[place]) for place in weights.indices[best]}


def measure(
    idea: set[str], papers: Sequence[set[str]], cosines: NDArray[np.floating[Any]], limit: float
) -> SearchMeasures:
    """From the topic words of an idea and of what was found for it."""
    together = set[str]().union(*papers)
    return SearchMeasures(
        found=float(len(papers)),
        density=float((cosines >= limit).mean()) if len(papers) else float("nan"),
        coverage=len(idea & together) / len(idea) if idea else float("nan"),
        diversity=len(together - idea) / len(together) if together else float("nan"),
    )


def near_limit(vectors: NDArray[np.float32], seed: int) -> float:
    """Median cosine of a paper with its nearest neighbour, over a sample."""
    sample = np.random.default_rng(seed).choice(len(vectors), min(_SAMPLE, len(vectors)), replace=False)
    cosines = vectors[sample] @ vectors.T
    cosines[np.arange(len(sample)), sample] = -1.0
    return float(np.median(cosines.max(axis=1)))


def nearest(vectors: NDArray[np.float32], meaning: NDArray[np.float32], rows: int, count: int) -> tuple[int, ...]:
    """Rows of the papers nearest to an idea among the first `rows`, those before its cutoff."""
    return tuple(np.argsort(-(vectors[:rows] @ meaning), kind="stable")[:count].tolist())


def search_report(
    segment: Segment, found: Sequence[Found], meanings: Mapping[str, NDArray[np.float32]], seed: int
) -> Iterator[str]:
    """`meanings` holds one vector an idea, by its source."""
    vectors = np.asarray(segment.papers.vectors, np.float32)
    texts = [f"{paper.title} {paper.abstract}" for paper in map(segment.store.paper, range(len(vectors)))]
    topics, limit = Topics(texts), near_limit(vectors, seed)
    measured: dict[str, list[SearchMeasures]] = {}
    for one in found:
        papers = [topics.of(texts[place]) for place in one.rows]
        cosines = vectors[list(one.rows)] @ meanings[one.idea.source]
        measured.setdefault(one.way, []).append(measure(topics.of(one.idea.text), papers, cosines, limit))
    yield f"Near means a cosine of at least {limit:.3f}: a proxy, by the embedding that the program searches with."
    yield "Means over ideas; density and diversity over those for which anything was found.\n"
    yield row("papers", "ideas", "found", "relevance density", "topic coverage", "diversity")
    yield row(*["---"] * 6)
    for way, some in measured.items():
        table = np.array(some)
        means = [table[:, 0].mean(), *(_mean(table[:, column]) for column in (1, 2, 3))]
        yield row(way, str(len(some)), f"{means[0]:.1f}", *(f"{mean:.3f}" for mean in means[1:]))


def _mean(values: NDArray[np.float64]) -> float:
    given = values[~np.isnan(values)]
    return float(given.mean()) if len(given) else float("nan")
