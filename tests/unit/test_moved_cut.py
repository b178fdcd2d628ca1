"""A ranking that is cut somewhere else."""

import pytest

from assayer.ranking.moved_cut import StrengthIntervals, apply_cut
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import rank_ideas
from assayer_client.rankings import Ranking
from tests.unit.judges import JudgeLlm, judge_correctly, make_ideas_of_worth, make_ranking_run


def get_strengths(ranking: Ranking) -> StrengthIntervals:
    ideas = ranking.ideas
    return StrengthIntervals(
        [idea.strength for idea in ideas],
        [idea.strengths.low for idea in ideas],
        [idea.strengths.high for idea in ideas],
        [idea.shortlist_probability for idea in ideas],
        ranking.shortlist_size,
        ranking.confidence,
    )


async def test_selection_probabilities_sum_to_the_cut_and_bands_include_every_idea() -> None:
    ranking = (
        await rank_ideas(
            make_ideas_of_worth(30), JudgeLlm(judge_correctly), make_ranking_run(), RankingOptions(), cut=10
        )
    ).ranking
    ranked = get_strengths(ranking)
    for cut in (1, 7, 10, 29):
        new_cut = apply_cut(ranked, cut)
        assert sum(new_cut.chances) == pytest.approx(cut, abs=0.8)
        assert new_cut.approximate == (cut != 10)
        assert len(new_cut.chances) == len(new_cut.bands) == 30
        assert 0 <= new_cut.lost_by_bands <= new_cut.lost_by_order + 1e-9
        assert sorted(place for band in ("in", "human", "out") for place in new_cut.list_indexes_in_band(band)) == [
            *range(30)
        ]
    assert list(apply_cut(ranked, 10).bands) == [idea.band for idea in ranking.ideas]
    assert list(apply_cut(ranked, 10).chances) == [idea.shortlist_probability for idea in ranking.ideas]


async def test_approximation_at_the_original_cut_is_near_stated_chances() -> None:
    ranking = (
        await rank_ideas(
            make_ideas_of_worth(30), JudgeLlm(judge_correctly), make_ranking_run(), RankingOptions(), cut=10
        )
    ).ranking
    approximated = apply_cut(get_strengths(ranking.model_copy(update={"shortlist_size": None})), 10)
    stated = apply_cut(get_strengths(ranking), 10)
    assert approximated.approximate
    assert approximated.chances == pytest.approx(stated.chances, abs=0.15)


async def test_ties_throughout_put_every_idea_in_the_human_band() -> None:
    ranking = (
        await rank_ideas(make_ideas_of_worth(12), JudgeLlm(lambda *_: "tie"), make_ranking_run(), RankingOptions())
    ).ranking
    new_cut = apply_cut(get_strengths(ranking), 3)
    assert set(new_cut.bands) == {"human"}
    assert new_cut.lost_by_bands == 0
    assert new_cut.lost_by_order > 1
