"""Pairs are shown in an order drawn by lot, judged through the comparison of rankings, and counted as stated."""

import datetime as dt
from pathlib import Path

import pytest

from assayer.models import IdeaId
from assayer.ranking.options import RankingOptions
from benchmarks.quality.grapheval.data import InnoEval, LabelledPaper, Pair
from benchmarks.quality.outcome_file import OutcomeFile
from benchmarks.quality.pair_tables import compute_gaps, score_gaps
from benchmarks.quality.pairs import Better, PairOutcome, ask_pairs, draw_shown_pairs, score_outcome
from benchmarks.quality.scripted import Way
from tests.unit.scripted_comparisons import ScriptedLlm

_PAIR = Pair(IdeaId("good"), IdeaId("bad"), "g")


def make_data(count: int) -> InnoEval:
    """Return pairs of papers n and count + n, of which the first is better."""
    text = "Paper {n}\n\nWe study problem {n} with plots drawn by lot, a plan that was written down before the first "
    text += "count, and a report of every outcome."
    papers = [
        LabelledPaper(IdeaId(str(n)), text.format(n=n), 3 if n < count else 0, dt.date(2025, 1, 1))
        for n in range(2 * count)
    ]
    pairs = [Pair(IdeaId(str(n)), IdeaId(str(n + count)), str(n)) for n in range(count)]
    groups = {str(n): {IdeaId(str(n)), IdeaId(str(n + count))} for n in range(count)}
    return InnoEval([], papers, groups, {"easy": pairs})


async def judge_pairs(tmp_path: Path, ranking_way: Way) -> list[float]:
    data = make_data(60)
    shown_pairs = draw_shown_pairs(data, 0)
    grades = {
        idea.text: int(idea.source == item.pair.better) for item in shown_pairs for idea in (item.first, item.second)
    }
    outcome_file = OutcomeFile(tmp_path / f"{ranking_way}.jsonl", PairOutcome, {})
    await ask_pairs(ScriptedLlm(ranking_way, grades), RankingOptions(), shown_pairs, 0, outcome_file)
    return [score_outcome(outcome_file.get_outcome(item.name, 0), item.pair) for item in shown_pairs]


@pytest.mark.parametrize(("ranking_way", "share"), [("first", 0.5), ("nothing", 0.0), ("truth", 1.0)])
async def test_scripted_judge_scores_exactly_its_expected_share(tmp_path: Path, ranking_way: Way, share: float) -> None:
    assert set(await judge_pairs(tmp_path, ranking_way)) == {share}


def test_pair_order_is_random_but_reproducible_by_seed(tmp_path: Path) -> None:
    data = make_data(60)
    first = [shown_pair.better_is_first for shown_pair in draw_shown_pairs(data, 0)]
    assert first == [shown_pair.better_is_first for shown_pair in draw_shown_pairs(data, 0)]
    assert first != [shown_pair.better_is_first for shown_pair in draw_shown_pairs(data, 1)]
    assert 15 < sum(first) < 45


@pytest.mark.parametrize(
    ("first", "better", "swapped_better", "expected"),
    [
        ("bad", "second", "first", 1.0),
        ("good", "tie", "tie", 0.5),
        ("good", None, None, 0.0),
        ("good", "first", "second", 1.0),
        ("good", "first", "first", 0.5),
        ("bad", "first", "tie", 0.25),
    ],
)
def test_verdict_score_matches_hand_computed_value(
    first: str, better: Better | None, swapped_better: Better | None, expected: float
) -> None:
    outcome = PairOutcome(item="i", seed=0, first=IdeaId(first), better=better, reversed=swapped_better)
    assert score_outcome(outcome, _PAIR) == expected


def test_pair_score_is_half_for_tie_and_zero_for_missing_value() -> None:
    pairs = [
        Pair(IdeaId("a"), IdeaId("b"), "g"),
        Pair(IdeaId("b"), IdeaId("c"), "g"),
        Pair(IdeaId("c"), IdeaId("d"), "g"),
    ]
    pairs.append(Pair(IdeaId("b"), IdeaId("a"), "g"))
    values = {("g", IdeaId(name)): value for name, value in zip("abcd", (2.0, 1.0, 1.0, float("nan")), strict=True)}
    assert score_gaps(compute_gaps(values, pairs)).tolist() == [1.0, 0.5, 0.0, 0.0]
