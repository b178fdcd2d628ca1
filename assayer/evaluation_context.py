"""State shared by the steps of one evaluation."""

from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar

from pydantic import BaseModel

from assayer.backends import Backends
from assayer.literature.library import Library
from assayer.llm import Llm, Task, ask
from assayer.models import Idea, ReleaseMinima
from assayer.run.accounting import Started
from assayer.run.concurrency import Failed, catch_failure
from assayer.run.run import Run

Question = TypeVar("Question", bound=BaseModel)
Answer = TypeVar("Answer", bound=BaseModel)


class MethodOptions(Protocol):
    """Options common to all methods."""

    @property
    def idea_chars(self) -> int:
        """Return the maximum number of an idea's characters shown in prompts. Longer ideas are cut, and the report says
        so."""
        ...


Options = TypeVar("Options", bound=MethodOptions)


@dataclass(frozen=True)
class EvaluationContext(Generic[Options]):
    """The idea under evaluation, the services available to it, and its run. Created once per evaluation, by `open`."""

    idea: Idea
    text: str
    """The idea's text as shown in prompts, cut to `options.idea_chars`."""
    backends: Backends
    library: Library
    """Literature published up to the evaluation's cutoff, without the idea's own paper."""
    run: Run
    options: Options
    started: Started
    minima: ReleaseMinima | None = None
    """Minimum requirements for reporting a total score, or None if there are none."""

    @classmethod
    def open(
        cls, idea: Idea, backends: Backends, run: Run, options: Options, minima: ReleaseMinima | None = None
    ) -> Self:
        """Start an evaluation. Records its start time and how many characters of a long idea were cut."""
        text = idea.text[: options.idea_chars]
        run.unread_characters = max(run.unread_characters, len(idea.text) - len(text))
        library = Library(backends.literature, backends.full_texts, run, idea)
        return cls(idea, text, backends, library, run, options, Started.now(run.clock), minima)

    @property
    def llm(self) -> Llm:
        """The language model used by this evaluation."""
        return self.backends.llm

    @property
    def has_model(self) -> bool:
        """Whether a language model is configured."""
        return bool(self.backends.llm.models)

    async def ask(self, task: Task[Question, Answer], question: Question) -> Answer:
        """Ask the language model. Raises the same errors as `assayer.llm.ask`."""
        return await ask(self.backends.llm, task, question, self.run)

    async def try_to_ask(self, task: Task[Question, Answer], question: Question, what: str) -> Answer | Failed:
        """Ask the language model. If it gives no answer, record the loss of `what` in the journal and return the
        failure. Raises only errors that would affect every request."""
        answer = await catch_failure(self.ask(task, question))
        if isinstance(answer, Failed):
            self.run.journal.record_failure(what, answer.error)
        return answer
