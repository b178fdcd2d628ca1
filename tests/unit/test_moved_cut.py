"""A ranking that is cut somewhere else."""

import pytest

from assayer.ranking import RankingOptions
from assayer.ranking.moved_cut import at_cut
from assayer.ranking.pipeline import rank_ideas
from tests.unit.judges import JudgeLlm, ideas_of_worth, ranking_run, right


async def test_chances_add_up_to_the_places_and_fall_with_the_ranks() -> None:
    ranking = (await rank_ideas(ideas_of_worth(30), JudgeLlm(right), ranking_run(), RankingOptions(), cut=10)).ranking
    for cut in (1, 7, 10, 29):
        moved = at_cut(ranking, cut)
        assert sum(one.chance_in for one in moved.ideas) == pytest.approx(cut, abs=0.8)
        assert moved.approximate == (cut != 10)
        assert [one.idea.id for one in moved.ideas] == [one.id for one in ranking.ideas]
        assert 0 <= moved.lost_by_bands <= moved.lost_by_order + 1e-9
        assert sum(len(moved.of_band(band)) for band in ("in", "human", "out")) == 30
    assert [one.band for one in at_cut(ranking, 10).ideas] == [one.band for one in ranking.ideas]


async def test_near_its_own_cut_the_approximation_is_near_what_the_ranking_states() -> None:
    ranking = (await rank_ideas(ideas_of_worth(30), JudgeLlm(right), ranking_run(), RankingOptions(), cut=10)).ranking
    drawn = at_cut(ranking.model_copy(update={"cut": None}), 10)
    stated = at_cut(ranking, 10)
    assert drawn.approximate
    for one, other in zip(drawn.ideas, stated.ideas, strict=True):
        assert one.chance_in == pytest.approx(other.chance_in, abs=0.15)


async def test_where_nothing_is_known_every_chance_is_alike() -> None:
    ranking = (
        await rank_ideas(ideas_of_worth(12), JudgeLlm(lambda *_: "tie"), ranking_run(), RankingOptions())
    ).ranking
    moved = at_cut(ranking, 3)
    assert {one.band for one in moved.ideas} == {"human"}
    assert moved.lost_by_bands == 0
    assert moved.lost_by_order > 1
