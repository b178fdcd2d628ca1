"""In-memory implementations of the ports of methods, for tests of the domain."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from assayer.claim_support.task import SUPPORT, SupportAnswer, SupportQuestion, SupportVerdict
from assayer.errors import AssayerError
from assayer.llm import Answer, Task
from assayer.models import Absent, CallRecord, EvaluationId, FullText, Paper, PaperId, Window
from assayer.plan_review.task import FLAWS, FoundFlaws
from assayer.ports import ProgressEvent
from assayer.run.run import Run
from simulator.answers import compose, get_node
from simulator.prompt import parse_prompt
from workers.llm.answer_schema import build_answer_schema

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

Answerer = Callable[[BaseModel], BaseModel]


class TwinLlm:
    """Model called `twin` that answers as the simulator does, or with the test's script for a task;
    it doubts no plan unless told to."""

    models = ("twin",)

    def __init__(
        self,
        scripted: Mapping[str, Answerer] | None = None,
        failing: Mapping[str, AssayerError] | None = None,
    ) -> None:
        self._scripted = {FLAWS.name: _answer_no_flaws, SUPPORT.name: _answer_all_supported, **(scripted or {})}
        self._failing = failing or {}
        self.requests: list[tuple[str, BaseModel]] = []
        self.requested_models: list[str | None] = []
        """The model that each task named, in the order of `asked`."""

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        self.requests.append((task.name, data))
        self.requested_models.append(task.model)
        if task.name in self._failing:
            raise self._failing[task.name]
        value = self._answer(task, data)
        assert isinstance(value, task.output)
        assert list(task.check(data, value)) == []
        return Answer(value, call_record(task, "twin"))

    def list_questions(self, kind: type[In]) -> list[In]:
        """Return the questions of one type, in order."""
        return [data for _, data in self.requests if isinstance(data, kind)]

    def _answer(self, task: Task[In, Out], data: In) -> BaseModel:
        if task.name in self._scripted:
            return self._scripted[task.name](data)
        messages = [message.content for message in task.messages(data)]
        generated = compose(get_node(build_answer_schema(task.output).schema, strict=True), parse_prompt(messages), 1)
        return task.output.model_validate_json(generated.text)


def _answer_no_flaws(_: BaseModel) -> FoundFlaws:
    """Return the answer of a reader who finds no flaws."""
    return FoundFlaws(flaws=[], comparators=[])


def _answer_all_supported(question: BaseModel) -> SupportAnswer:
    """Return an answer in which every quote supports its claim."""
    assert isinstance(question, SupportQuestion)
    return SupportAnswer(
        verdicts=[
            SupportVerdict(label=item.label, carried=item.passage, missing="", outcome="supports")
            for item in question.items
        ]
    )


def call_record(task: Task[In, Out], model: str) -> CallRecord:
    """Return the record of a call that a scripted model answered."""
    return CallRecord(
        task=task.name,
        version=task.version,
        model=model,
        prompt_tokens=100,
        completion_tokens=10,
        cost_usd=0.001,
        latency_seconds=0.0,
        attempts=1,
    )


class NoFullTexts:
    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        return {paper.id: Absent(reason="this test has none") for paper in papers}


class FixedClock:
    def now(self) -> dt.datetime:
        return dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)

    def monotonic(self) -> float:
        return 0.0


class Watcher:
    def __init__(self) -> None:
        self.events: list[ProgressEvent] = []

    def report(self, event: ProgressEvent) -> None:
        self.events.append(event)


def make_run(cutoff: dt.date | None = None) -> Run:
    return Run(id=EvaluationId("ev_test"), cutoff=cutoff, clock=FixedClock(), progress=Watcher())
