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
from tests.unit.judges import JudgeLlm, judge_correctly, make_ideas_of_worth, make_ranking_run
from workers.llm.answer_schema import build_answer_schema


async def rank(
    ideas: int | list[Idea],
    llm: JudgeLlm | None = None,
    known_comparisons: Sequence[Comparison] = (),
    scores: Mapping[IdeaId, float] | None = None,
    cut: int | None = None,
    **options: float,
) -> CompletedRanking:
    """Rank ideas by a judge who is always right, unless another is given."""
    ranked_ideas = make_ideas_of_worth(ideas) if isinstance(ideas, int) else ideas
    judge, chosen = llm or JudgeLlm(judge_correctly), RankingOptions.model_validate(options)
    return await rank_ideas(
        ranked_ideas, judge, make_ranking_run(), chosen, cut=cut, scores=scores, known_comparisons=known_comparisons
    )


async def test_correct_judge_ranks_ideas_in_true_order() -> None:
    completed = await rank(12, comparisons_per_idea=12, cut=4)
    order = [idea.id for idea in completed.ranking.ideas]
    assert order[:3] == ["i11", "i10", "i9"]
    assert order[-2:] == ["i1", "i0"]
    assert completed.ranking.ideas[0].band == "in"
    assert completed.ranking.ideas[-1].band == "out"
    assert completed.ranking.judge.cycles == 0
    assert completed.ranking.judge.contradictions == 0
    assert completed.ranking.judge.pairs_in_both_orders > 0
    assert completed.ranking.cost_usd == pytest.approx(0.132)


async def test_judge_always_preferring_first_leaves_all_ideas_for_human_review() -> None:
    completed = await rank(20, JudgeLlm(lambda *_: "A"), cut=5)
    assert {idea.band for idea in completed.ranking.ideas} == {"human"}
    assert completed.ranking.judge.bias_interval.low > 1.0
    assert completed.ranking.judge.contradictions == completed.ranking.judge.pairs_in_both_orders > 0


async def test_judge_with_only_ties_gives_wide_rank_intervals() -> None:
    completed = await rank(20, JudgeLlm(lambda *_: "tie"), cut=5)
    assert completed.ranking.judge.ties == completed.ranking.judge.comparisons
    assert all(idea.ranks.high - idea.ranks.low >= 15 for idea in completed.ranking.ideas)


async def test_failed_judge_requests_are_counted_and_leave_ranking_undecided() -> None:
    llm = JudgeLlm(judge_correctly, fails=MalformedAnswer("no valid answer"))
    completed = await rank(6, llm, comparisons_per_idea=4, cut=2)
    assert completed.ranking.judge.comparisons == 0
    assert completed.ranking.judge.failed == 12, "four for each idea"
    assert completed.ranking.dropped[0].count == 12
    assert {idea.band for idea in completed.ranking.ideas} == {"human"}
    assert {idea.strength for idea in completed.ranking.ideas} == {0.0}


async def test_exhausted_budget_stops_comparisons_and_is_reported() -> None:
    llm = JudgeLlm(judge_correctly, fails=BudgetExhausted("The budget of 1 dollar is spent."), calls_before=20)
    completed = await rank(10, llm, comparisons_per_idea=10)
    assert completed.ranking.stopped_early is not None
    assert "budget" in completed.ranking.stopped_early.reason
    assert completed.ranking.judge.comparisons == 20


async def test_known_comparisons_are_kept_when_ideas_are_added() -> None:
    before = await rank(8, comparisons_per_idea=6)
    llm = JudgeLlm(judge_correctly)
    after = await rank(10, llm, before.comparisons, comparisons_per_idea=6)
    assert llm.calls == 60 - 48
    assert after.comparisons[: len(before.comparisons)] == before.comparisons


async def test_known_comparisons_of_other_ideas_or_another_dimension_are_ignored() -> None:
    before = await rank(8, comparisons_per_idea=3)
    other_comparisons = [
        comparison
        for comparison in before.comparisons
        if {comparison.first, comparison.second} <= {"i0", "i1", "i2", "i3"}
    ]
    after = await rank(4, known_comparisons=before.comparisons * 2, comparisons_per_idea=3)
    assert after.ranking.judge.submitted_comparisons == len(other_comparisons)
    blind = [comparison.model_copy(update={"verdicts": comparison.verdicts[:1]}) for comparison in before.comparisons]
    anew = await rank(8, known_comparisons=blind, comparisons_per_idea=3)
    assert anew.ranking.judge.submitted_comparisons == 0


async def test_initial_scores_set_the_order_until_comparisons_override_them() -> None:
    ideas = make_ideas_of_worth(6)
    scores = {idea.id: float(-number) for number, idea in enumerate(ideas)}
    ranked_by_scores = await rank(ideas, JudgeLlm(judge_correctly, fails=MalformedAnswer("none")), scores=scores)
    assert [idea.id for idea in ranked_by_scores.ranking.ideas] == ["i0", "i1", "i2", "i3", "i4", "i5"]
    ranked_by_comparisons = await rank(ideas, scores=scores, comparisons_per_idea=15)
    assert ranked_by_comparisons.ranking.ideas[0].id == "i5"
    assert ranked_by_comparisons.ranking.has_starting_scores


async def test_the_same_seed_gives_the_same_ranking() -> None:
    first, second = await rank(9, seed=4, cut=3), await rank(9, seed=4, cut=3)
    assert first == second
    assert first.ranking.usage.started_at == dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("ideas", "cut", "message"),
    [
        (make_ideas_of_worth(1), None, "at least two ideas"),
        ([], None, "at least two ideas"),
        ([*make_ideas_of_worth(3), make_ideas_of_worth(1)[0]], None, "more than once: ideas.jsonl:0, ideas.jsonl:0"),
        (make_ideas_of_worth(3), 3, "leaves nothing to decide"),
        (make_ideas_of_worth(3), 0, "leaves nothing to decide"),
    ],
)
async def test_ideas_that_cannot_be_ranked_are_refused(ideas: list[Idea], cut: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        await rank(ideas, cut=cut)


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
    ideas = make_ideas_of_worth(4)
    long = ideas[0].model_copy(update={"text": f"{ideas[0].text} " + "and more " * 200})
    judge = JudgeLlm(judge_correctly)
    ranking = (await rank([long, *ideas[1:]], judge, comparisons_per_idea=3, idea_chars=500)).ranking
    assert ranking.truncated_ideas is not None
    assert (ranking.truncated_ideas.ideas, ranking.truncated_ideas.characters) == (1, len(long.text) - 500)
    cut_texts = {text for item in judge.questions for text in (item.first, item.second) if text.endswith("[…]")}
    assert len(cut_texts) == 1
    assert long.text.startswith(cut_texts.pop().removesuffix(" […]"))
    (caution,) = [item for item in RankingPage(ranking, ()).cautions if item.title == "Long ideas truncated"]
    assert "1 of 4 ideas are longer" in caution.text
    uncut_ranking = await rank(ideas, comparisons_per_idea=3)
    assert uncut_ranking.ranking.truncated_ideas is None
