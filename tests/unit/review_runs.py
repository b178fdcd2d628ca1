"""Reviews in memory: every question is answered by the simulator, or by what a test scripted for its task."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from assayer.backends import Backends
from assayer.claim_support.schemas import SupportAnswer, SupportQuestion, SupportVerdict
from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.llm import Task
from assayer.methods.review import ReviewOptions
from assayer.methods.review.pipeline import evaluate
from assayer.models import Report
from assayer.run.run import Run
from simulator.answers import compose, node_for
from simulator.prompt import read
from tests.unit.scholareval_questions import IDEA
from tests.unit.scholareval_runs import twin_backends
from tests.unit.twins import Answerer, TwinLlm, a_run
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.llm.answer_schema import answer_schema

__all__ = ["OPTIONS", "review_backends", "reviewed", "supported"]

OPTIONS = ReviewOptions()
In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)


class SimulatedLlm(TwinLlm):
    """Answers whatever is not scripted as the simulator does."""

    async def _answer(self, task: Task[In, Out], data: In) -> BaseModel:
        if task.name in self._scripted:
            return self._scripted[task.name](data)
        messages = [message.content for message in task.messages(data)]
        content = compose(node_for(answer_schema(task.output).schema, strict=True), read(messages), 1).content
        assert content is not None
        return task.output.model_validate_json(content)


def review_backends(scripted: Mapping[str, Answerer] | None = None) -> tuple[Backends, SimulatedLlm]:
    """Return backends with a corpus of 24 papers near the idea."""
    backends, _ = twin_backends()
    llm = SimulatedLlm(HashingEmbedder(), scripted)
    return replace(backends, llm=llm), llm


async def reviewed(backends: Backends, run: Run | None = None, options: ReviewOptions = OPTIONS) -> Report:
    """Review the idea of the tests."""
    idea = parse_idea(IDEA, source="idea.md")
    return (await evaluate(EvaluationContext.open(idea, backends, run or a_run(), options))).report


def supported(outcome: str) -> Answerer:
    def answer(question: BaseModel) -> SupportAnswer:
        assert isinstance(question, SupportQuestion)
        return SupportAnswer(
            verdicts=[
                SupportVerdict.model_validate(
                    {"label": item.label, "carried": item.passage, "missing": "", "outcome": outcome}
                )
                for item in question.items
            ]
        )

    return answer
