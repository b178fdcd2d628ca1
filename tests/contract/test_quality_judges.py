"""Judges whose score is known beforehand, asked over HTTP by the gateway that asks every model."""

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pytest

from assayer.models import IdeaId
from assayer.ranking.options import RankingOptions
from benchmarks.quality.grapheval.data import InnoEval, LabelledPaper, Pair
from benchmarks.quality.groups import CHANCE, Group, GroupOutcome, ask_groups, measure_order
from benchmarks.quality.outcome_file import OutcomeFile
from benchmarks.quality.pairs import PairOutcome, ask_pairs, draw_shown_pairs, score_outcome
from benchmarks.quality.papers import build_idea
from benchmarks.quality.scripted import ScriptedJudge, Way
from cluster.clock import SystemClock
from workers.llm import LlmSettings
from workers.llm.gateway import LlmGateway
from workers.outbound.store import InMemoryAnswerStore

_TEXT = "Paper {n}\n\nWe study problem {n} with plots drawn by lot, a plan written down before the first count, and a "
_TEXT += "report of every outcome that was measured."
_GROUPS = 12


def _build_papers() -> list[LabelledPaper]:
    """Four a group, graded 0 to 3."""
    day = dt.date(2025, 1, 1)
    return [LabelledPaper(IdeaId(str(n)), _TEXT.format(n=n), n % 4, day) for n in range(4 * _GROUPS)]


def _build_data() -> InnoEval:
    pairs = [Pair(IdeaId(str(4 * n + 3)), IdeaId(str(4 * n)), str(n)) for n in range(_GROUPS)]
    return InnoEval([], _build_papers(), {}, {"easy": pairs})


def _build_groups() -> list[Group]:
    ideas = [(build_idea(paper), paper.label) for paper in _build_papers()]
    fours = [ideas[start : start + 4] for start in range(0, len(ideas), 4)]
    shuffled = [[some[place] for place in np.random.default_rng(n).permutation(4)] for n, some in enumerate(fours)]
    return [
        Group(str(n), "", tuple(idea for idea, _ in some), {idea.id: grade for idea, grade in some})
        for n, some in enumerate(shuffled)
    ]


def _create_gateway(judge: ScriptedJudge) -> LlmGateway:
    settings = {"base_url": judge.base_url, "api_key": "sk-test", "model": "simulated"}
    return LlmGateway(LlmSettings.model_validate(settings), InMemoryAnswerStore(), SystemClock())


def _judge(way: Way, tmp_path: Path) -> ScriptedJudge:
    grades = tmp_path / "grades.json"
    grades.write_text(json.dumps({build_idea(paper).text: paper.label for paper in _build_papers()}), "utf-8")
    return ScriptedJudge(way, grades)


@pytest.mark.parametrize(
    ("way", "pairs", "best", "within"),
    [
        pytest.param("first", 0.5, CHANCE.best, 0.375, marks=pytest.mark.slow),
        pytest.param("nothing", 0.0, 0.0, 0.0, marks=pytest.mark.slow),
        ("truth", 1.0, 1.0, 0.0),
    ],
)
async def test_scripted_judges_get_expected_pair_and_group_scores(
    way: Way, pairs: float, best: float, within: float, tmp_path: Path
) -> None:
    """`first` orders groups by lot: within three standard errors of it."""
    of_pairs = OutcomeFile(tmp_path / "pairs.jsonl", PairOutcome, {})
    of_groups = OutcomeFile(tmp_path / "groups.jsonl", GroupOutcome, {})
    shown_pairs = draw_shown_pairs(_build_data(), 0)
    with _judge(way, tmp_path) as judge:
        async with _create_gateway(judge) as gateway:
            await ask_pairs(gateway, RankingOptions(), shown_pairs, 0, of_pairs)
            await ask_groups(gateway, RankingOptions(), _build_groups(), 0, of_groups)
    assert [score_outcome(of_pairs.get_outcome(item.name, 0), item.pair) for item in shown_pairs] == [pairs] * _GROUPS
    assert len(of_groups.outcomes) == _GROUPS
    assert np.mean([measure_order(outcome.grades).best for outcome in of_groups.outcomes]) == pytest.approx(
        best, abs=within
    )
    failed = {bool(outcome.failure) for outcome in [*of_pairs.outcomes, *of_groups.outcomes]}
    assert failed == {way == "nothing"}
