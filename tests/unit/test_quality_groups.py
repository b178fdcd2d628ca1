"""The harness that puts groups of labelled papers in order measures what it says."""

import gzip
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assayer.errors import LlmUnavailable
from assayer.ranking.options import RankingOptions
from benchmarks.quality.groups import CHANCE, Group, GroupOutcome, Measures, ask_groups, measure_order, read_groups
from benchmarks.quality.outcome_file import OutcomeFile
from benchmarks.quality.scripted import Way
from tests.unit.scripted_comparisons import ScriptedLlm

_ABSTRACT = (
    "We study problem {n} of group {group} with plots drawn by lot and a plan that was written down before the first "
    "count, and we report every outcome that was measured."
)


def _record(group: int) -> dict[str, Any]:
    def make_paper(n: int) -> dict[str, str]:
        return {"id": f"{group}.{n}", "title": f"Paper {group}.{n}", "abstract": _ABSTRACT.format(n=n, group=group)}

    names = ("reject", "poster", "spotlight")
    return {
        "query": make_paper(3),
        "query_category": "oral",
        "matches": {name: {"category": name, "paper": make_paper(n)} for n, name in enumerate(names)},
    }


def make_groups(tmp_path: Path, count: int) -> list[Group]:
    path = tmp_path / "groups.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.write("\n\n".join(json.dumps(_record(group)) for group in range(count)))
    return read_groups(path, seed=0)


async def measure_groups(tmp_path: Path, groups: list[Group], ranking_way: Way) -> Measures:
    grades = {idea.text: group.grades[idea.id] for group in groups for idea in group.ideas}
    outcome_file = OutcomeFile(tmp_path / "kept.jsonl", GroupOutcome, {})
    await ask_groups(ScriptedLlm(ranking_way, grades), RankingOptions(), groups, 0, outcome_file)
    assert len(outcome_file.outcomes) == len(groups)
    return Measures(*np.mean([measure_order(outcome.grades) for outcome in outcome_file.outcomes], axis=0))


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ([3, 2, 1, 0], (1.0, 1.0, 1.0)),
        ([0, 1, 2, 3], (0.0, 0.25, 0.0)),
        ([3, 0, 2, 1], (1.0, 0.75, 0.0)),  # 3, 2, 1
        ([2, 3, 0, 1], (0.0, 0.5, 0.0)),  # 2, 0 or 3, 1
        ([2, 3, 1, 0], (0.0, 0.75, 0.0)),  # 3, 1, 0
        (None, (0.0, 0.0, 0.0)),
    ],
)
def test_order_measures_match_hand_computed_values(
    grades: list[int] | None, expected: tuple[float, float, float]
) -> None:
    assert measure_order(grades) == Measures(*expected)


def test_chance_is_the_mean_over_all_orders() -> None:
    means = np.mean([measure_order(order) for order in permutations(range(4))], axis=0)
    assert means == pytest.approx(CHANCE)


async def test_perfect_judge_gets_perfect_scores(tmp_path: Path) -> None:
    assert await measure_groups(tmp_path, make_groups(tmp_path, 6), "truth") == Measures(1.0, 1.0, 1.0)


async def test_judge_without_answers_scores_zero_and_records_group_failures(tmp_path: Path) -> None:
    assert await measure_groups(tmp_path, make_groups(tmp_path, 6), "nothing") == Measures(0.0, 0.0, 0.0)
    lines = (tmp_path / "kept.jsonl").read_text("utf-8").splitlines()[1:]
    assert all("8 comparisons" in json.loads(line)["failure"] for line in lines)


async def test_judge_always_preferring_first_keeps_shuffled_order(tmp_path: Path) -> None:
    groups = make_groups(tmp_path, 6)
    as_shuffled = [measure_order([group.grades[idea.id] for idea in group.ideas]) for group in groups]
    assert await measure_groups(tmp_path, groups, "first") == Measures(*np.mean(as_shuffled, axis=0))


def test_shuffled_paper_order_scores_at_chance_level(tmp_path: Path) -> None:
    groups = make_groups(tmp_path, 300)
    measures = Measures(
        *np.mean([measure_order([group.grades[idea.id] for idea in group.ideas]) for group in groups], axis=0)
    )
    # Three standard errors of 300 groups.
    assert measures.best == pytest.approx(CHANCE.best, abs=0.08)
    assert measures.in_order == pytest.approx(CHANCE.in_order, abs=0.04)


async def test_unavailable_endpoint_aborts_run_without_recording_outcome(tmp_path: Path) -> None:
    outcome_file = OutcomeFile(tmp_path / "kept.jsonl", GroupOutcome, {})
    judge = ScriptedLlm("first", fails=LlmUnavailable("gone"))
    with pytest.raises(LlmUnavailable):
        await ask_groups(judge, RankingOptions(), make_groups(tmp_path, 2), 0, outcome_file)
    assert outcome_file.outcomes == []
