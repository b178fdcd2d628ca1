"""The script of the benchmark's judges without a server between: the same answers to the same questions."""

from typing import TypeVar

from pydantic import BaseModel

from assayer.errors import MalformedAnswer
from assayer.llm import Answer as Answered
from assayer.llm import Task
from assayer.run.run import Run
from benchmarks.quality.scripted import Way, answer_question
from tests.unit.twins import call_record

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)


class ScriptedLlm:
    """Model that answers from the rendered prompt, as the scripted endpoint does; an empty answer is malformed."""

    models = ("scripted",)

    def __init__(self, way: Way, grades: dict[str, int] | None = None, fails: Exception | None = None) -> None:
        self._way, self._grades, self._fails = way, grades or {}, fails
        self.calls = 0

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answered[Out]:
        self.calls += 1
        if self._fails is not None:
            raise self._fails
        answer_text = answer_question(
            self._way, "\n".join(message.content for message in task.messages(data)), self._grades
        )
        if not answer_text:
            raise MalformedAnswer("The answer is empty.")
        parsed_answer = task.output.model_validate_json(answer_text)
        assert list(task.check(data, parsed_answer)) == []
        return Answered(parsed_answer, call_record(task, "scripted"))
