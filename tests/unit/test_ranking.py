"""Rankings by judges whose ways are known."""

import datetime as dt
from collections.abc import Mapping, Sequence

import pytest
from pydantic import ValidationError

from assayer.errors import BudgetExhausted, InputError, MalformedAnswer
from assayer.models import Idea, IdeaId
from assayer.ranking.comparison import PairQuestion, build_comparison_task
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import CompletedRanking, rank_ideas
from assayer.reports.ranking_page import RankingPage
from assayer_client.comparisons import Comparison
from tests.unit.judges import JudgeLlm, ideas_of_worth, ranking_run, right
from workers.llm.answer_schema import build_answer_schema


async def ranked(
    ideas: int | list[Idea],
    llm: JudgeLlm | None = None,
    known: Sequence[Comparison] = (),
    scores: Mapping[IdeaId, float] | None = None,
    cut: int | None = None,
    **options: float,
) -> CompletedRanking:
    """Rank ideas by a judge who is always right, unless another is given."""
    given = ideas_of_worth(ideas) if isinstance(ideas, int) else ideas
    judge, chosen = llm or JudgeLlm(right), RankingOptions.model_validate(options)
    return await rank_ideas(given, judge, ranking_run(), chosen, cut=cut, scores=scores, known_comparisons=known)


async def test_correct_judge_ranks_ideas_in_true_order() -> None:
    made = await ranked(12, comparisons_per_idea=12, cut=4)
    order = [idea.id for idea in made.ranking.ideas]
    assert order[:3] == ["i11", "i10", "i9"]
    assert order[-2:] == ["i1", "i0"]
    assert made.ranking.ideas[0].band == "in"
    assert made.ranking.ideas[-1].band == "out"
    assert made.ranking.judge.cycles == 0
    assert made.ranking.judge.contradictions == 0
    assert made.ranking.judge.pairs_in_both_orders > 0
    assert made.ranking.cost_usd == pytest.approx(0.132)


async def test_judge_always_preferring_first_leaves_all_ideas_for_human_review() -> None:
    made = await ranked(20, JudgeLlm(lambda *_: "A"), cut=5)
    assert {idea.band for idea in made.ranking.ideas} == {"human"}
    assert made.ranking.judge.bias_interval.low > 1.0
    assert made.ranking.judge.contradictions == made.ranking.judge.pairs_in_both_orders > 0


async def test_judge_with_only_ties_gives_wide_rank_intervals() -> None:
    made = await ranked(20, JudgeLlm(lambda *_: "tie"), cut=5)
    assert made.ranking.judge.ties == made.ranking.judge.comparisons
    assert all(idea.ranks.high - idea.ranks.low >= 15 for idea in made.ranking.ideas)


async def test_failed_judge_requests_are_counted_and_leave_ranking_undecided() -> None:
    llm = JudgeLlm(right, fails=MalformedAnswer("no valid answer"))
    made = await ranked(6, llm, comparisons_per_idea=4, cut=2)
    assert made.ranking.judge.comparisons == 0
    assert made.ranking.judge.failed == 12, "four for each idea"
    assert made.ranking.dropped[0].count == 12
    assert {idea.band for idea in made.ranking.ideas} == {"human"}
    assert {idea.strength for idea in made.ranking.ideas} == {0.0}


async def test_exhausted_budget_stops_comparisons_and_is_reported() -> None:
    llm = JudgeLlm(right, fails=BudgetExhausted("The budget of 1 dollar is spent."), calls_before=20)
    made = await ranked(10, llm, comparisons_per_idea=10)
    assert made.ranking.stopped_early is not None
    assert "budget" in made.ranking.stopped_early.reason
    assert made.ranking.judge.comparisons == 20


async def test_known_comparisons_are_kept_when_ideas_are_added() -> None:
    before = await ranked(8, comparisons_per_idea=6)
    llm = JudgeLlm(right)
    after = await ranked(10, llm, before.comparisons, comparisons_per_idea=6)
    assert llm.calls == 60 - 48
    assert after.comparisons[: len(before.comparisons)] == before.comparisons


async def test_known_comparisons_of_other_ideas_or_another_dimension_are_left_out() -> None:
    before = await ranked(8, comparisons_per_idea=3)
    others = [
        comparison
        for comparison in before.comparisons
        if {comparison.first, comparison.second} <= {"i0", "i1", "i2", "i3"}
    ]
    after = await ranked(4, known=before.comparisons * 2, comparisons_per_idea=3)
    assert after.ranking.judge.submitted_comparisons == len(others)
    blind = [comparison.model_copy(update={"verdicts": comparison.verdicts[:1]}) for comparison in before.comparisons]
    anew = await ranked(8, known=blind, comparisons_per_idea=3)
    assert anew.ranking.judge.submitted_comparisons == 0


async def test_initial_scores_set_the_order_until_comparisons_override_them() -> None:
    ideas = ideas_of_worth(6)
    scores = {idea.id: float(-number) for number, idea in enumerate(ideas)}
    few = await ranked(ideas, JudgeLlm(right, fails=MalformedAnswer("none")), scores=scores)
    assert [idea.id for idea in few.ranking.ideas] == ["i0", "i1", "i2", "i3", "i4", "i5"]
    many = await ranked(ideas, scores=scores, comparisons_per_idea=15)
    assert many.ranking.ideas[0].id == "i5"
    assert many.ranking.has_starting_scores


async def test_the_same_seed_gives_the_same_ranking() -> None:
    first, second = await ranked(9, seed=4, cut=3), await ranked(9, seed=4, cut=3)
    assert first == second
    assert first.ranking.usage.started_at == dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("ideas", "cut", "said"),
    [
        (ideas_of_worth(1), None, "at least two ideas"),
        ([], None, "at least two ideas"),
        ([*ideas_of_worth(3), ideas_of_worth(1)[0]], None, "more than once: ideas.jsonl:0, ideas.jsonl:0"),
        (ideas_of_worth(3), 3, "leaves nothing to decide"),
        (ideas_of_worth(3), 0, "leaves nothing to decide"),
    ],
)
async def test_ideas_that_cannot_be_ranked_are_refused(ideas: list[Idea], cut: int | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        await ranked(ideas, cut=cut)


def test_answer_must_hold_a_single_verdict_per_dimension() -> None:
    question = PairQuestion(dimensions=RankingOptions().dimensions, first="Count bees.", second="Count birds.")
    task = build_comparison_task(4)
    entries = [
        {"label": f"D{number}", "in_a": "bees", "in_b": "birds", "reason": "Size.", "better": "A"}
        for number in (1, 2, 3, 3)
    ]
    schema = build_answer_schema(task.output).schema["properties"]["entries"]
    assert (schema["minItems"], schema["maxItems"]) == (4, 4)
    for wrong in ([], entries[:3], [*entries, entries[0]]):
        with pytest.raises(ValidationError, match="4 items"):
            task.output.model_validate({"entries": wrong})
    (complaint,) = task.check(question, task.output.model_validate({"entries": entries}))
    assert complaint == "`entries` must hold one entry for each of D1, D2, D3, D4."


async def test_overlong_ideas_are_cut_at_word_boundary_and_cut_is_reported() -> None:
    ideas = ideas_of_worth(4)
    long = ideas[0].model_copy(update={"text": f"{ideas[0].text} " + "and more " * 200})
    judge = JudgeLlm(right)
    ranking = (await ranked([long, *ideas[1:]], judge, comparisons_per_idea=3, idea_chars=500)).ranking
    assert ranking.truncated_ideas is not None
    assert (ranking.truncated_ideas.ideas, ranking.truncated_ideas.characters) == (1, len(long.text) - 500)
    shown = {text for item in judge.asked for text in (item.first, item.second) if text.endswith("[…]")}
    assert len(shown) == 1
    assert long.text.startswith(shown.pop().removesuffix(" […]"))
    (caution,) = [item for item in RankingPage(ranking, ()).cautions if item.title == "Long ideas truncated"]
    assert "1 of 4 ideas are longer" in caution.text
    whole = await ranked(ideas, comparisons_per_idea=3)
    assert whole.ranking.truncated_ideas is None
