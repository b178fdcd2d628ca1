"""Judges whose ways are known, and ideas whose worth is."""

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from assayer.errors import MalformedAnswer
from assayer.llm import Answer as Answered
from assayer.llm import Task
from assayer.models import EvaluationId, Idea, IdeaId
from assayer.ranking.comparison import PairQuestion
from assayer.run.budget import Budget
from assayer.run.run import Run
from tests.unit.twins import FixedClock, Watcher, call_record

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)
Judge = Callable[[int, int], str]
"""Function that returns which of two ideas is better, given their worth: A, B or tie."""


def make_ideas_of_worth(count: int) -> list[Idea]:
    return [
        Idea(id=IdeaId(f"i{n}"), title=f"Idea {n}", text=f"Idea of worth {n}.", sections=(), source=f"ideas.jsonl:{n}")
        for n in range(count)
    ]


def _parse_worth(text: str) -> int:
    return int(text.removeprefix("Idea of worth ").partition(".")[0])


class JudgeLlm:
    """Language model that answers comparisons as a judge would, and fails from call `fails` on."""

    models = ("judge",)

    def __init__(
        self, judge: Judge, fails: Exception | None = None, calls_before: int = 0, reason: str = "worth"
    ) -> None:
        self._judge, self._fails, self._after, self._reason = judge, fails, calls_before, reason
        self.calls = 0
        self.questions: list[PairQuestion] = []

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answered[Out]:
        if not isinstance(data, PairQuestion):
            raise MalformedAnswer("This judge only compares.")
        self.calls += 1
        self.questions.append(data)
        if self._fails is not None and self.calls > self._after:
            raise self._fails
        better_letter = self._judge(_parse_worth(data.first), _parse_worth(data.second))
        entries = [
            {
                "label": f"D{number}",
                "in_a": "its plan",
                "in_b": "its plan",
                "reason": self._reason,
                "better": better_letter,
            }
            for number, _ in enumerate(data.dimensions, start=1)
        ]
        answer = task.output.model_validate({"entries": entries})
        assert list(task.check(data, answer)) == []
        return Answered(answer, call_record(task, "judge"))


def judge_correctly(first: int, second: int) -> str:
    return "A" if first > second else "B"


def make_ranking_run() -> Run:
    return Run(id=EvaluationId("rk_test"), cutoff=None, clock=FixedClock(), progress=Watcher(), budget=Budget())
