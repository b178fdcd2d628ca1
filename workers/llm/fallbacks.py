"""The port of the LLM without any LLM: every task's deterministic substitute."""

from typing import TypeVar

from pydantic import BaseModel

from assayer.errors import MalformedAnswer, NoFallback
from assayer.models import CallRecord
from assayer.ports import Answer, Embedder
from assayer.run import Run
from assayer.tasks import Task

__all__ = ["Fallbacks"]

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)


class Fallbacks:
    """Answers are free and repeatable, so they are neither cached nor written to the ledger."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def models(self) -> tuple[str, ...]:
        return ()

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """Raises NoFallback, RunCancelled, or MalformedAnswer when the substitute breaks its own task's rules."""
        run.check()
        if task.fallback is None:
            raise NoFallback(
                f"Task {task.name} needs a language model; there is no honest substitute for it.",
                "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__API_KEY if the endpoint "
                "asks for a key.",
            )
        started = run.clock.monotonic()
        value = await task.fallback(data, self._embedder)
        complaints = task.check(data, value)
        if complaints:
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
        return Answer(value, record)
