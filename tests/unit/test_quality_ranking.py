"""The harness that puts groups of labelled papers in order measures what it says."""

import gzip
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.quality.ranking import CHANCE, Group, Measures, Scripted, Way, measured, order_of, read_groups

_ABSTRACT = (
    "We study problem {n} of group {group} with plots drawn by lot and a plan that was written down before the first "
    "count, and we report every outcome that was measured."
)


def _record(group: int) -> dict[str, Any]:
    def paper(n: int) -> dict[str, str]:
        return {"title": f"Paper {group}.{n}", "abstract": _ABSTRACT.format(n=n, group=group)}

    names = ("reject", "poster", "spotlight")
    return {
        "query": paper(3),
        "query_category": "oral",
        "matches": {name: {"category": name, "paper": paper(n)} for n, name in enumerate(names)},
    }


def _groups(tmp_path: Path, count: int) -> list[Group]:
    path = tmp_path / "groups.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.write("\n\n".join(json.dumps(_record(group)) for group in range(count)))
    return read_groups(path, seed=0)


async def _means(groups: list[Group], way: Way) -> Measures:
    grades = {idea.text: group.grades[idea.id] for group in groups for idea in group.ideas}
    judge = Scripted(way, grades)
    return Measures(*np.mean([measured(await order_of(group, judge, 0)) for group in groups], axis=0))


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
def test_measures_of_an_order_are_those_computed_by_hand(
    grades: list[int] | None, expected: tuple[float, float, float]
) -> None:
    assert measured(grades) == Measures(*expected)


def test_chance_is_the_mean_over_all_orders() -> None:
    means = np.mean([measured(order) for order in permutations(range(4))], axis=0)
    assert means == pytest.approx(CHANCE)


async def test_a_judge_that_knows_the_truth_is_right_throughout(tmp_path: Path) -> None:
    assert await _means(_groups(tmp_path, 6), "truth") == Measures(1.0, 1.0, 1.0)


async def test_a_judge_that_answers_nothing_scores_nothing(tmp_path: Path) -> None:
    assert await _means(_groups(tmp_path, 6), "nothing") == Measures(0.0, 0.0, 0.0)


async def test_a_judge_that_always_says_first_scores_at_chance(tmp_path: Path) -> None:
    found = await _means(_groups(tmp_path, 60), "first")
    # Three standard errors of 60 groups.
    assert found.best == pytest.approx(CHANCE.best, abs=0.17)
    assert found.in_order == pytest.approx(CHANCE.in_order, abs=0.07)


def test_papers_of_a_group_are_shuffled(tmp_path: Path) -> None:
    places = {tuple(group.grades[idea.id] for idea in group.ideas) for group in _groups(tmp_path, 12)}
    assert len(places) > 4
