"""The port of the LLM without any LLM: every task's deterministic substitute."""

from typing import TypeVar

from pydantic import BaseModel

from assayer.citing.answer_texts import Given, without_foreign_citations
from assayer.errors import MalformedAnswer, NoFallback
from assayer.llm import Answer, Task
from assayer.models import CallRecord
from assayer.ports import Embedder
from assayer.run.run import Run

__all__ = ["FallbackLlm"]

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)


class FallbackLlm:
    """Answers are free and repeatable, so they are neither cached nor written to the ledger."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def models(self) -> tuple[str, ...]:
        return ()

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """Raises NoFallback, or MalformedAnswer when the substitute breaks its own task's rules."""
        if task.fallback is None:
            raise NoFallback(
                f"Task {task.name} needs a language model; there is no honest substitute for it.",
                "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__API_KEY if the endpoint "
                "asks for a key.",
            )
        started = run.clock.monotonic()
        value = await task.fallback(data, self._embedder)
        readable = without_foreign_citations(value, Given(data))
        complaints = ["nothing can be seen of it"] if readable is None else task.complaints(data, readable)
        if readable is None or complaints:
            raise MalformedAnswer(
                f"The fallback of task {task.name} breaks the task's own rules: {'; '.join(complaints)}"
            )
        record = CallRecord(
            task=task.name,
            version=task.version,
            model="none",
            prompt_tokens=0,
            completion_tokens=0,
            cost_usd=0.0,
            latency_seconds=run.clock.monotonic() - started,
            attempts=0,
        )
        return Answer(readable, record)
