"""`python -m benchmarks.quality.ranking`: InnoEval's 88 groups of four papers, put in order by a judge.

One paper of each group was rejected, the others were a poster, a spotlight and an oral. A group that gets no order
counts as wrong in every measure. Judges: any endpoint as the settings name it, the simulator, and three whose result is
known beforehand. The simulator's answers are invented: what it scores says that the way is passable, and nothing else.
"""

import argparse
import asyncio
import gzip
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from pydantic import BaseModel

from assayer.errors import AssayerError, MalformedAnswer
from assayer.flow import together
from assayer.ideas import parse_idea
from assayer.models import CallRecord, EvaluationId, Idea, IdeaId
from assayer.ports import Answer as Answered
from assayer.ports import Llm, ProgressEvent
from assayer.ranking import Options
from assayer.ranking.pipeline import rank
from assayer.ranking.tasks import Answer, Entry, Question
from assayer.run import Run
from assayer.tasks import Task
from benchmarks.quality.grapheval.data import CATEGORIES, DATA
from benchmarks.simulator.process import Simulator
from cluster.engine import SystemClock
from cluster.ranking import open_ranker
from cluster.settings import load_settings

__all__ = ["CHANCE", "Group", "Measures", "Scripted", "measured", "order_of", "read_groups"]

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)
Way = Literal["first", "nothing", "truth"]

_SCRIPTED: dict[str, Way] = {"first": "first", "nothing": "nothing", "truth": "truth"}
_ROUNDS = 1_000


class Group(NamedTuple):
    ideas: tuple[Idea, ...]
    """Shuffled."""
    grades: dict[IdeaId, int]
    """Rows in CATEGORIES."""


class Measures(NamedTuple):
    best: float
    """Share of groups whose best paper stands first."""
    in_order: float
    """Longest run of papers that stand in the right order, over the size of the group; mean."""
    exact: float
    """Share of groups that are in the right order from first to last."""


CHANCE = Measures(1 / 4, 58 / 96, 1 / 24)
"""Of an order drawn by lot: of the 24 orders of four, 1, 13, 9 and 1 have a longest run of 1, 2, 3 and 4."""


def measured(grades: Sequence[int] | None) -> Measures:
    """Of one group: its grades in the order given, first first; None where there is no order."""
    if grades is None:
        return Measures(0.0, 0.0, 0.0)
    longest = [1] * len(grades)
    for here, grade in enumerate(grades):
        longest[here] += max((longest[before] for before in range(here) if grades[before] > grade), default=0)
    return Measures(float(grades[0] == max(grades)), max(longest) / len(grades), float(max(longest) == len(grades)))


async def order_of(group: Group, llm: Llm, seed: int) -> list[int] | None:
    """Grades, best first, by every pair in both orders; None where the judge gave no usable answer. Equals stay as
    they were shuffled."""
    run = Run(EvaluationId(f"rk_{group.ideas[0].id}_{seed}"), None, SystemClock(), _Nobody())
    options = Options(calls_per_idea=len(group.ideas) - 1, seed=seed)
    try:
        ranking = (await rank(group.ideas, llm, run, options)).ranking
    except AssayerError:
        return None
    if not ranking.judge.comparisons:
        return None
    strengths = {idea.id: round(idea.strength, 6) for idea in ranking.ideas}
    return [group.grades[idea.id] for idea in sorted(group.ideas, key=lambda idea: -strengths[idea.id])]


class Scripted:
    """Judges whose result is known beforehand."""

    models = ("scripted",)

    def __init__(self, way: Way, grades: dict[str, int]) -> None:
        self._way, self._grades = way, grades

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answered[Out]:
        question = Question.model_validate(data.model_dump())
        if self._way == "nothing":
            raise MalformedAnswer("no answer")
        first_is_better = self._way == "first" or self._grades[question.first] > self._grades[question.second]
        better: Literal["A", "B"] = "A" if first_is_better else "B"
        entries = tuple(
            Entry(label=f"D{number}", in_a="-", in_b="-", reason="-", better=better)
            for number, _ in enumerate(question.dimensions, start=1)
        )
        answer = task.output.model_validate(Answer(entries=entries).model_dump())
        record = CallRecord(
            task=task.name,
            version=task.version,
            model="scripted",
            prompt_tokens=0,
            completion_tokens=0,
            cost_usd=0.0,
            latency_seconds=0.0,
            attempts=1,
        )
        return Answered(answer, record)


class _Nobody:
    def report(self, event: ProgressEvent) -> None:
        pass


def read_groups(path: Path, seed: int) -> list[Group]:
    """In the order of the file, the papers of each shuffled."""
    random = Random(seed)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [_group(json.loads(line), random) for line in lines if line.strip()]


def _group(record: dict[str, Any], random: Random) -> Group:
    papers = [(record["query"], record["query_category"])]
    papers += [(one["paper"], one["category"]) for one in record["matches"].values()]
    random.shuffle(papers)
    ideas = tuple(parse_idea(paper["abstract"], "innoeval", paper["title"]) for paper, _ in papers)
    return Group(ideas, {idea.id: CATEGORIES.index(grade) for idea, (_, grade) in zip(ideas, papers, strict=True)})


async def _measure(path: Path, llm: Llm, asked: "_Asked") -> list[Measures]:
    """Of each group, the mean over repeats; each of them shuffles anew."""

    async def one(group: Group, seed: int) -> Measures:
        return measured(await order_of(group, llm, seed))

    found = []
    for seed in range(asked.seed, asked.seed + asked.repeats):
        found.append(await together(one(group, seed) for group in read_groups(path, seed)[: asked.groups]))
    return [Measures(*np.mean(repeats, axis=0)) for repeats in zip(*found, strict=True)]


def _show(name: str, found: Sequence[Measures]) -> None:
    """Means, with 95 % intervals by bootstrap over groups."""
    table = np.array(found)
    drawn = np.random.default_rng(0).integers(0, len(table), (_ROUNDS, len(table)))
    low, high = np.quantile(table[drawn].mean(axis=1), [0.025, 0.975], axis=0)
    figures = (
        f"{mean:.3f} [{one:.3f}, {other:.3f}]" for mean, one, other in zip(table.mean(axis=0), low, high, strict=True)
    )
    print(f"{name:20s}  " + "  ".join(figures))


class _Asked(NamedTuple):
    seed: int
    repeats: int
    groups: int | None


async def _main(path: Path, judges: Sequence[str], asked: _Asked) -> None:
    groups = read_groups(path, asked.seed)[: asked.groups]
    grades = {idea.text: group.grades[idea.id] for group in groups for idea in group.ideas}
    print(f"{len(groups)} groups of four, {asked.repeats} times; chance: best {CHANCE.best:.3f}, ", end="")
    print(f"in order {CHANCE.in_order:.3f}, exact {CHANCE.exact:.3f}")
    print(f"{'judge':20s}  {'best':20s}  {'in order':20s}  exact")
    for judge in judges:
        if judge in _SCRIPTED:
            _show(judge, await _measure(path, Scripted(_SCRIPTED[judge], grades), asked))
            continue
        async with AsyncExitStack() as stack:
            if judge == "simulator":
                _point_at(stack.enter_context(Simulator(latency_mean=0.0)), stack)
            ranker = await stack.enter_async_context(open_ranker(load_settings()))
            _show(judge, await _measure(path, ranker.llm, asked))


def _point_at(simulated: Simulator, stack: AsyncExitStack) -> None:
    """Settings for the simulator, in a data directory of its own."""
    home = stack.enter_context(tempfile.TemporaryDirectory(prefix="assayer-quality-"))
    Path(home).chmod(0o711)
    os.environ["ASSAYER_HOME"] = home
    os.environ["ASSAYER_LLM__BASE_URL"] = simulated.base_url
    os.environ["ASSAYER_LLM__MODEL"] = "simulated"
    os.environ["ASSAYER_LLM__API_KEY"] = "simulated"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judges", nargs="*", default=["first", "nothing", "truth", "simulator"])
    parser.add_argument("--groups", type=int, help="the first so many; all by default")
    parser.add_argument("--seed", type=int, default=0, help="of the shuffling and of the pairs")
    parser.add_argument("--repeats", type=int, default=1, help="with this seed and those after it")
    parser.add_argument("--data", type=Path, default=DATA / "innoeval" / "groups.jsonl.gz")
    options = parser.parse_args()
    known = {*_SCRIPTED, "simulator", "endpoint"}
    if unknown := set(options.judges) - known:
        parser.error(f"no judge {', '.join(sorted(unknown))}; judges: {', '.join(sorted(known))}")
    asyncio.run(_main(options.data, options.judges, _Asked(options.seed, options.repeats, options.groups)))


if __name__ == "__main__":
    main()
