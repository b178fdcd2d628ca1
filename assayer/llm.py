"""How methods ask a language model: a Task, the `Llm` port that answers it, and `ask`.

Task[In, Out] is the only shape in which anything is asked of a language model: a name, a versioned prompt file, an
output schema, a check that relates the answer to the question, and a deterministic fallback for when no LLM is
configured.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

from assayer.citing.answer_texts import STRUCK_REASON, Given, StruckAnswer, cleaned, foreign_complaints, struck
from assayer.errors import AssayerError, LlmError
from assayer.models import CallRecord, Message
from assayer.models.llm import Tier
from assayer.ports import Embedder
from assayer.prompts import Prompts
from assayer.run.run import Run
from assayer.run.structured_concurrency import deepen

__all__ = ["Answer", "Llm", "Task", "ask", "ask_on_record"]


In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_VERSIONED = re.compile(r"^(?P<name>[a-z_]+)\.v(?P<version>\d+)\.md$")


def _no_complaint(data: Any, answer: Any) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class Task(Generic[In, Out]):
    name: str
    """`scholareval.methods`: method and task, the key of ledger and simulator."""
    prompts: Prompts
    prompt: str
    """File name `NAME.vN.md`; N is the task's version."""
    output: type[Out]
    tier: Tier = "fast"
    model: str | None = None
    """By name, where it has to be this one; None leaves it to the settings of the tier."""
    max_tokens: int = 4_000
    """Of the answer."""
    check: Callable[[In, Out], Sequence[str]] = field(default=_no_complaint)
    """What a schema cannot say: complaints in plain words, sent back to the model as they are. Of citations only where
    there must be some: what may not be cited is checked for all tasks, by the roles of their fields."""
    fallback: Callable[[In, Embedder], Awaitable[Out]] | None = None
    temperature: float | None = None
    """None: what the settings say."""
    sample: int = 0
    """Which of several answers to the same question, each asked and kept for itself; they differ only at a temperature
    above 0."""

    @cached_property
    def version(self) -> int:
        match = _VERSIONED.match(self.prompt)
        if match is None:
            raise ValueError(f"Prompt file {self.prompt!r} of task {self.name} is not named NAME.vN.md.")
        return int(match["version"])

    @cached_property
    def digest(self) -> str:
        """Of the prompt with all that it includes, system message and shared texts too."""
        return self.prompts.digest(self.prompt)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the answer; every object is closed."""
        return self.output.model_json_schema()

    def messages(self, data: In) -> tuple[Message, ...]:
        return self.prompts.render(self.prompt, data)

    def cleaned(self, data: In, answer: Out) -> Out | None:
        """As every text from outside is; None where the schema does not allow what can be seen of it."""
        return cleaned(answer, Given(data))

    def complaints(self, data: In, answer: Out) -> list[str]:
        """All there is to say against a cleaned answer: what the check says, and every citation of what was not
        given."""
        return [*self.check(data, answer), *foreign_complaints(answer, Given(data))]

    def struck(self, data: In, answer: Out) -> StruckAnswer | None:
        """The cleaned answer without the sentences that cite what was not given; None where it has other faults."""
        return struck(answer, Given(data), lambda left: self.check(data, left))

    def key(self, model: str, parameters: dict[str, Any], messages: Sequence[Message]) -> str:
        """Hash of everything that determines the answer."""
        content = {
            "task": self.name,
            "version": self.version,
            "schema": self.schema,
            "model": model,
            "parameters": parameters,
            "messages": [message.model_dump() for message in messages],
        }
        if self.sample:
            content["sample"] = self.sample
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Answer(NamedTuple, Generic[Out]):
    """A valid answer and what it took."""

    value: Out
    record: CallRecord


class Llm(Protocol):
    """Answers tasks: by a language model, or by the tasks' fallbacks when there is none."""

    @property
    def models(self) -> tuple[str, ...]:
        """Models that may answer; empty when the fallbacks do."""
        ...

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """Raises an LlmError or BudgetExhausted; StorageError, ConfigurationError or PartUnavailable, which every other
        task would meet as well."""
        ...


async def ask(llm: Llm, task: Task[In, Out], data: In, run: Run) -> Out:
    """Asks, journals what it took or what was lost, and counts one level of depth."""
    return (await ask_on_record(llm, task, data, run)).value


async def ask_on_record(llm: Llm, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
    """As `ask`, for those who keep by whom they were answered."""
    run.journal.prompt_digests[task.name] = task.digest
    try:
        answer = await llm.run(task, data, run)
    except AssayerError as error:
        run.journal.failed_calls.append((task.name, error.faults if isinstance(error, LlmError) else ()))
        raise
    finally:
        deepen()
    run.journal.calls.append(answer.record)
    run.journal.record_dropped("sentence", STRUCK_REASON, answer.record.struck)
    return answer
