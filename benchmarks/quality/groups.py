"""Ranks InnoEval's 88 groups of four papers by comparing every pair in both orders.

In each group, one paper was rejected and the others were a poster, a spotlight and an oral. A group without a ranking
counts as wrong in every measure.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from assayer.errors import MalformedAnswer
from assayer.ideas.parsing import parse_idea
from assayer.llm import Llm
from assayer.models import EvaluationId, Idea, IdeaId
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import rank_ideas
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from benchmarks.quality.grapheval.data import CATEGORIES, InnoEval
from benchmarks.quality.grapheval.graphs import EmbeddedPapers
from benchmarks.quality.learned import list_scorers, score_groups
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, measure_missing, sum_spending
from benchmarks.records import DATA, read_records
from cluster.clock import SystemClock


class Group(NamedTuple):
    name: str
    query: str
    """Id of the paper around which the group was assembled."""
    ideas: tuple[Idea, ...]
    """Shuffled; `source` is the paper's id."""
    grades: dict[IdeaId, int]
    """Grades as rows in CATEGORIES."""


class GroupOutcome(Outcome):
    grades: tuple[int, ...] | None = None
    """Best first; None if there is no ranking, and `failure` says why."""


class Measures(NamedTuple):
    best: float
    """Share of groups whose best paper is ranked first."""
    in_order: float
    """Mean share of each group's papers in its longest correctly ordered subsequence."""
    exact: float
    """Share of groups ranked in exactly the right order."""


CHANCE = Measures(1 / 4, 58 / 96, 1 / 24)
"""Expected measures of a random order: of the 24 orders of four papers, 1, 13, 9 and 1 have a longest ordered
subsequence of 1, 2, 3 and 4."""


def measure_order(grades: Sequence[int] | None) -> Measures:
    """Return the measures of one group from its grades in ranked order, best first; all 0 without a ranking (None)."""
    if grades is None:
        return Measures(0.0, 0.0, 0.0)
    longest = [1] * len(grades)
    for position, grade in enumerate(grades):
        longest[position] += max(
            (longest[earlier] for earlier in range(position) if grades[earlier] > grade), default=0
        )
    return Measures(float(grades[0] == max(grades)), max(longest) / len(grades), float(max(longest) == len(grades)))


def order_grades(group: Group, values: Mapping[IdeaId, float]) -> tuple[int, ...]:
    """Return the grades, highest value first; equal values keep their shuffled order."""
    return tuple(group.grades[idea.id] for idea in sorted(group.ideas, key=lambda idea: -values[idea.id]))


async def rank_group(group: Group, llm: Llm, options: RankingOptions, seed: int) -> GroupOutcome:
    """Rank a group by comparing every pair in both orders. Raises MalformedAnswer if no answer of the judge is
    usable."""
    run = Run(EvaluationId(f"rk_{group.name}_{seed}"), None, SystemClock(), NoProgress())
    exhaustive_options = options.model_copy(update={"comparisons_per_idea": float(len(group.ideas) - 1), "seed": seed})
    ranking = (await rank_ideas(group.ideas, llm, run, exhaustive_options)).ranking
    if not ranking.judge.comparisons:
        raise MalformedAnswer(f"None of the {ranking.judge.failed} comparisons got a usable answer.")
    strengths = {idea.id: round(idea.strength, 6) for idea in ranking.ideas}
    return GroupOutcome(
        item=group.name, seed=seed, grades=order_grades(group, strengths), spent=sum_spending(run.journal.calls)
    )


def read_groups(path: Path = DATA / "innoeval" / "groups.jsonl.gz", seed: int = 0) -> list[Group]:
    """Read the groups in file order, with the papers of each group shuffled."""
    random = Random(seed)
    return [_build_group(f"{number:02}", record, random) for number, record in enumerate(read_records(path))]


def _build_group(name: str, record: dict[str, Any], random: Random) -> Group:
    papers = [(record["query"], record["query_category"])]
    papers += [(item["paper"], item["category"]) for item in record["matches"].values()]
    random.shuffle(papers)
    ideas = tuple(parse_idea(paper["abstract"], _get_id(paper), paper["title"]) for paper, _ in papers)
    grades = {idea.id: CATEGORIES.index(grade) for idea, (_, grade) in zip(ideas, papers, strict=True)}
    return Group(name, _get_id(record["query"]), ideas, grades)


def _get_id(paper: Mapping[str, Any]) -> str:
    return str(paper.get("paper_id", paper.get("id")))


async def ask_groups(
    llm: Llm,
    options: RankingOptions,
    groups: Sequence[Group],
    seed: int,
    outcome_file: OutcomeFile[GroupOutcome],
) -> None:
    """Rank the groups that have not yet been ranked with this seed."""

    async def rank(group: Group, seed: int) -> GroupOutcome:
        return await rank_group(group, llm, options, seed)

    def build_failure(name: str, seed: int, reason: str) -> GroupOutcome:
        return GroupOutcome(item=name, seed=seed, failure=reason)

    await measure_missing(((group, group.name, seed) for group in groups), outcome_file, rank, build_failure)


def measure_group_scorers(
    data: InnoEval,
    outcomes: Sequence[GroupOutcome],
    scores: Mapping[IdeaId, float],
    embedded_papers: EmbeddedPapers,
    groups: Sequence[Group],
) -> Iterator[tuple[str, list[Measures]]]:
    """Yield each scorer's name with its measures of each group."""
    length = {paper.id: float(len(paper.text)) for paper in data.grouped}
    yield "the longer text first", [_measure_values(group, length) for group in groups]
    for scorer in list_scorers(embedded_papers):
        values = score_groups(scorer, embedded_papers, data.groups, 0)
        values_by_group = [{idea_id: values[group.query, idea_id] for idea_id in _list_ids(group)} for group in groups]
        yield (
            scorer.name,
            [
                _measure_values(group, values_of_group)
                for group, values_of_group in zip(groups, values_by_group, strict=True)
            ],
        )
    scored_groups = [group for group in groups if all(idea_id in scores for idea_id in _list_ids(group))]
    if scored_groups:
        yield (
            f"InnoEval's points, {len(scored_groups)} groups with all four",
            [_measure_values(idea_id, scores) for idea_id in scored_groups],
        )
    if outcomes:
        repeats: dict[str, list[Measures]] = {}
        for outcome in outcomes:
            repeats.setdefault(outcome.item, []).append(measure_order(outcome.grades))
        yield "the judge", [Measures(*np.mean(group_measures, axis=0)) for group_measures in repeats.values()]


def _list_ids(group: Group) -> list[IdeaId]:
    return [IdeaId(idea.source) for idea in group.ideas]


def _measure_values(group: Group, values: Mapping[IdeaId, float]) -> Measures:
    return measure_order(order_grades(group, {idea.id: values[IdeaId(idea.source)] for idea in group.ideas}))
