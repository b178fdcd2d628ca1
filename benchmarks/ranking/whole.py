"""`python -m benchmarks.ranking.whole`: CPU time of a whole ranking besides its judge, pages included.

The judge answers at once; what making its answers costs is measured apart and taken off.
"""

import argparse
import asyncio
import time
from typing import TypeVar

import numpy as np
from pydantic import BaseModel

from assayer.llm import Answer as Answered
from assayer.llm import Task
from assayer.models import CallRecord, EvaluationId, Idea, IdeaId
from assayer.ports import ProgressEvent
from assayer.ranking import RankingOptions
from assayer.ranking.comparison import PairAnswer, PairAnswerEntry, PairQuestion
from assayer.ranking.pipeline import rank_ideas
from assayer.reports.json_and_csv import as_csv, as_ranking_json
from assayer.reports.ranking_page import as_ranking_html, as_ranking_markdown
from assayer.run.run import Run
from benchmarks.index.machine import machine
from benchmarks.ranking.worlds import World
from cluster.clock import SystemClock

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_IDEA = "Idea {row}: we draw plots by lot, count survival weekly and write the analysis down before the first count."


class WorldLlm:
    """The judge of a world, as a language model; counts its own CPU time."""

    models = ("world",)

    def __init__(self, world: World) -> None:
        self._world = world
        self.seconds = 0.0

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answered[Out]:
        began = time.process_time()
        question = PairQuestion.model_validate(data.model_dump())
        first, second = (np.array([_row(text)]) for text in (question.first, question.second))
        entries = tuple(
            PairAnswerEntry(
                label=f"D{number}",
                in_a="plots drawn by lot",
                in_b="plots drawn by lot",
                reason="The first says how many plots it needs, the second does not.",
                better="A" if self._world.judge(first, second)[0] else "B",
            )
            for number, _ in enumerate(question.dimensions, start=1)
        )
        answer = task.output.model_validate(PairAnswer(entries=entries).model_dump())
        record = CallRecord(
            task=task.name,
            version=task.version,
            model="world",
            prompt_tokens=1,
            completion_tokens=1,
            cost_usd=0.0,
            latency_seconds=0.0,
            attempts=1,
        )
        self.seconds += time.process_time() - began
        return Answered(answer, record)


class _Nobody:
    def report(self, event: ProgressEvent) -> None:
        pass


def _row(text: str) -> int:
    return int(text.removeprefix("Idea ").partition(":")[0])


async def measure(count: int, per_idea: float) -> None:
    world = World.drawn(count, 0.70, 0)
    ideas = [
        Idea(
            id=IdeaId(f"i{row}"), title=f"Plan {row}", text=_IDEA.format(row=row), sections=(), source=f"i.jsonl:{row}"
        )
        for row in range(count)
    ]
    llm = WorldLlm(world)
    run = Run(EvaluationId("rk_whole"), None, SystemClock(), _Nobody())
    began = time.process_time()
    ranked = await rank_ideas(ideas, llm, run, RankingOptions(calls_per_idea=per_idea), cut=count // 10)
    ranking = time.process_time() - began - llm.seconds
    began = time.process_time()
    pages = [as_ranking_html(ranked.ranking, ranked.comparisons), as_ranking_markdown(ranked.ranking, ())]
    pages += [as_csv(ranked.ranking), as_ranking_json(ranked.ranking)]
    rendering = time.process_time() - began
    bands = {band: sum(idea.band == band for idea in ranked.ranking.ideas) for band in ("in", "human", "out")}
    best = set(np.argsort(-world.strengths)[: count // 10].tolist())
    right = sum((int(one.id[1:]) in best) == (one.band == "in") for one in ranked.ranking.ideas if one.band != "human")
    print(f"{count} ideas, {len(ranked.comparisons)} comparisons, on {machine()}")
    print(f"CPU: ranking {ranking:.1f} s, judge {llm.seconds:.1f} s (not counted), pages {rendering:.1f} s")
    print(f"pages: {', '.join(f'{len(page) / 1e6:.1f} MB' for page in pages)} (HTML, Markdown, CSV, JSON)")
    print(f"bands: {bands}; of those in and out {100 * right / max(1, bands['in'] + bands['out']):.1f} % right")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ideas", type=int, default=5_000)
    parser.add_argument("--calls-per-idea", type=float, default=10.0)
    options = parser.parse_args()
    asyncio.run(measure(options.ideas, options.calls_per_idea))


if __name__ == "__main__":
    main()
