"""Shared state of the steps of one evaluation."""

from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from pydantic import BaseModel

from assayer.backends import Backends
from assayer.literature.library import Library
from assayer.llm import Llm, Task, ask
from assayer.models import Idea, ReleaseMinima
from assayer.run.accounting import Started
from assayer.run.concurrency import Failed, as_result
from assayer.run.run import Run

Question = TypeVar("Question", bound=BaseModel)
Answer = TypeVar("Answer", bound=BaseModel)


class MethodOptions(Protocol):
    """Options common to all methods."""

    @property
    def idea_chars(self) -> int:
        """Return the number of characters of an idea that prompts show. Longer ideas are cut, and the report states
        this."""
        ...


Options = TypeVar("Options", bound=MethodOptions)


@dataclass(frozen=True)
class EvaluationContext(Generic[Options]):
    """Idea under evaluation, the services used, and the run that journals it. `open` creates it once per evaluation."""

    idea: Idea
    text: str
    """Text of the idea as prompts show it, cut to `options.idea_chars`."""
    backends: Backends
    library: Library
    """Literature within the evaluation's cutoff, without the idea's own paper."""
    run: Run
    options: Options
    started: Started
    minima: ReleaseMinima | None = None
    """Minima below which the report has no total score, or None if no minima apply."""

    @classmethod
    def open(
        cls, idea: Idea, backends: Backends, run: Run, options: Options, minima: ReleaseMinima | None = None
    ) -> Self:
        """Start an evaluation: record the time, and the number of characters left out if the idea is too long."""
        text = idea.text[: options.idea_chars]
        run.unread_characters = max(run.unread_characters, len(idea.text) - len(text))
        library = Library(backends.literature, backends.full_texts, run, idea)
        return cls(idea, text, backends, library, run, options, Started.now(run.clock), minima)

    @property
    def llm(self) -> Llm:
        """Language model of the evaluation."""
        return self.backends.llm

    @property
    def has_model(self) -> bool:
        """True if a language model is configured."""
        return bool(self.backends.llm.models)

    async def ask(self, task: Task[Question, Answer], question: Question) -> Answer:
        """Ask the language model. Raises the errors of `assayer.llm.ask`."""
        return await ask(self.backends.llm, task, question, self.run)

    async def try_to_ask(self, task: Task[Question, Answer], question: Question, what: str) -> Answer | Failed:
        """Ask the language model. If there is no answer, journal the loss of `what` and return the failure. Raises only
        errors that would affect every request."""
        answer = await as_result(self.ask(task, question))
        if isinstance(answer, Failed):
            self.run.journal.record_failure(what, answer.error)
        return answer
