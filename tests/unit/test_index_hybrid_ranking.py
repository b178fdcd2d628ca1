import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.search.hybrid_ranking import fuse_scores
from index.segments.bm25_index import Bm25Matches

COSINES = st.dictionaries(st.integers(0, 20), st.floats(-1, 1), min_size=1)


def make_matches(*scored: tuple[int, float]) -> Bm25Matches:
    return Bm25Matches(np.array([item for item, _ in scored], np.int64), np.array([score for _, score in scored]))


def test_fused_score_combines_cosine_and_relative_word_score() -> None:
    fused = fuse_scores({1: 0.5, 2: 0.8, 3: 0.1}, [make_matches((3, 20.0), (1, 10.0))])
    assert fused == pytest.approx({1: 0.6 * 0.5 + 0.4 * 0.5, 2: 0.6 * 0.8, 3: 0.6 * 0.1 + 0.4})


def test_each_word_ranking_is_normalised_by_its_best_score() -> None:
    fused = fuse_scores({1: 0.5, 2: 0.5}, [make_matches((1, 40.0)), make_matches((2, 2.0))])
    assert fused[1] == fused[2]


@given(COSINES)
def test_order_follows_cosines_without_word_matches(cosines: dict[int, float]) -> None:
    fused = fuse_scores(cosines, [make_matches()])
    assert sorted(fused, key=lambda item: (fused[item], item)) == sorted(
        cosines, key=lambda cosine: (0.6 * cosines[cosine], cosine)
    )


@given(COSINES, st.floats(0.1, 100), st.floats(0.1, 10))
def test_scale_of_word_scores_does_not_change_fused_scores(cosines: dict[int, float], best: float, unit: float) -> None:
    items = list(cosines)
    scores = [best / (1 + place) for place in range(len(items))]
    first = fuse_scores(cosines, [make_matches(*zip(items, scores, strict=True))])
    second = fuse_scores(
        cosines, [make_matches(*((item, unit * score) for item, score in zip(items, scores, strict=True)))]
    )
    assert first == pytest.approx(second)
