"""Requests to a language model: the `Task` class, the `Llm` port that runs tasks, and `ask`.

Every request to a language model is a Task[In, Out]: a name, a versioned prompt file, an output schema, and a check
of the answer against the question (the task's input)."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel

from assayer.citing.answer_texts import (
    REDACTED_REASON,
    QuestionTexts,
    RedactedAnswer,
    complain_about_foreign_citations,
    redact_answer,
    sanitise_answer,
)
from assayer.errors import AssayerError, LlmError, NoFallback
from assayer.models import CallRecord, Message
from assayer.models.llm import Tier
from assayer.prompts import Prompts
from assayer.run.run import Run

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_VERSIONED = re.compile(r"^(?P<name>[a-z_]+)\.v(?P<version>\d+)\.md$")


def _no_complaint(data: Any, answer: Any) -> Sequence[str]:
    return ()


class LabelledList(NamedTuple):
    """Constraint on a list that must have one entry for each label, in this order."""

    labels: Sequence[str]
    """Values of the entries' field `label`."""
    choices: Mapping[str, Sequence[Sequence[str]]] = {}
    """Allowed values of a field at any depth of an entry, listed for each entry in order: for example, the sentences of
    a paper that the field may quote."""


class AnswerBounds(NamedTuple):
    """Constraints on an answer that follow from its question. Keys are field names.

    Servers that compile schemas to grammars can enforce these constraints. That keeps small models, which often ramble
    or invent labels, to valid answers."""

    entries: Mapping[str, int] = {}
    """Maximum number of entries in a list."""
    labels: Mapping[str, Sequence[str]] = {}
    """Allowed labels for a field, or for every entry of a list."""
    lists: Mapping[str, LabelledList] = {}
    """Lists that must have one entry for each label."""
    words: Mapping[str, int] = {}
    """Maximum number of words in a text, if fewer than its description allows; 0 for a text that must stay empty."""
    least: Mapping[str, int] = {}
    """Minimum number of entries in a list."""


def _set_no_bounds(data: Any) -> AnswerBounds:
    return AnswerBounds()


class Cut(NamedTuple):
    """A list field of a question that may be shortened. Its last entries are left out if the question exceeds the
    model's context window."""

    field: str
    noun: str
    """Countable noun for one entry, shown in the report. Empty if the caller asks about the omitted entries in another
    request."""


@dataclass(frozen=True)
class Task(Generic[In, Out]):
    name: str
    """Method and task, for example `scholareval.methods`; the task's key in the ledger and the simulator."""
    prompts: Prompts
    prompt: str
    """File name in the form `NAME.vN.md`, where N is the task's version."""
    output: type[Out]
    tier: Tier = "fast"
    model: str | None = None
    """Name of the required model; None to use the model configured for the tier."""
    max_tokens: int = 4_000
    """Maximum number of tokens in the answer."""
    check: Callable[[In, Out], Sequence[str]] = field(default=_no_complaint)
    """Check for requirements that a schema cannot express; its complaints are sent to the model verbatim. It needs to
    check citations only if some are required: forbidden citations are detected for all tasks, from the roles of their
    fields."""
    advice: Callable[[In, Out], Sequence[str]] = field(default=_no_complaint)
    """Advice for improving an answer that is already valid. It is sent to the model once; if no better answer arrives,
    the first one is used."""
    bounds: Callable[[In], AnswerBounds] = field(default=_set_no_bounds)
    """Constraints on the answer to a question, in addition to the schema. They are sent only if the settings ask for
    bounded answers, and do not replace the check."""
    temperature: float | None = None
    """Sampling temperature; None to use the one in the settings."""
    sample: int = 0
    """Index of this sample when the same question is asked several times; each sample is requested and cached
    separately. Samples differ only at a temperature above 0."""
    cuts: tuple[Cut, ...] = ()
    """Fields to shorten if the question is too long, in this order; each lists its most relevant entries first. If that
    is not enough, the end of the field `idea` is cut."""

    @cached_property
    def version(self) -> int:
        match = _VERSIONED.match(self.prompt)
        if match is None:
            raise ValueError(
                f"The name of prompt file {self.prompt!r} (task {self.name}) must have the form NAME.vN.md."
            )
        return int(match["version"])

    @cached_property
    def digest(self) -> str:
        """Digest of the prompt, the files it includes, and the system message."""
        return self.prompts.digest(self.prompt)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON schema for the answer; no object allows additional properties."""
        return self.output.model_json_schema()

    def messages(self, data: In) -> tuple[Message, ...]:
        return self.prompts.render(self.prompt, data)

    def clean(self, data: In, answer: Out) -> Out | None:
        """Return the answer sanitised like any external text, or None if what remains no longer fits the schema."""
        return sanitise_answer(answer, QuestionTexts(data))

    def complaints(self, data: In, answer: Out) -> list[str]:
        """Return all complaints about a cleaned answer: those from `check`, and one for every citation of a paper that
        the prompt did not show."""
        return [*self.check(data, answer), *complain_about_foreign_citations(answer, QuestionTexts(data))]

    def redact(self, data: In, answer: Out) -> RedactedAnswer | None:
        """Return the cleaned answer without the sentences that cite papers the prompt did not show, or None if it has
        other faults."""
        return redact_answer(answer, QuestionTexts(data), lambda left: self.check(data, left))

    def key(self, model: str, parameters: dict[str, Any], messages: Sequence[Message]) -> str:
        """Return a hash of everything that determines the answer."""
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
    """A valid answer, with the record of what it cost."""

    value: Out
    record: CallRecord


class Llm(Protocol):
    """Interface for running tasks with a language model."""

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the configured models; empty if there are none."""
        ...

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """Run a task. Raises LlmError or BudgetExhausted if this task fails. Raises StorageError, ConfigurationError or
        ComponentUnavailable for failures that would affect every other task too."""
        ...


class NoLlm:
    """Implementation of `Llm` for running without a language model: it refuses every task."""

    models: tuple[str, ...] = ()

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """Always raises NoFallback."""
        raise NoFallback(
            f"Task {task.name} needs a language model, but none is configured.",
            "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__API_KEY if the endpoint needs a key.",
        )


async def ask(llm: Llm, task: Task[In, Out], data: In, run: Run) -> Out:
    """Ask the language model. The journal records what the answer cost, or that there was none."""
    return (await ask_on_record(llm, task, data, run)).value


async def ask_on_record(llm: Llm, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
    """Ask the model as `ask` does, and also return the record of the LLM request, for callers that store which model
    answered."""
    run.journal.prompt_digests[task.name] = task.digest
    try:
        answer = await llm.run(task, data, run)
    except AssayerError as error:
        run.journal.failed_calls.append((task.name, error.faults if isinstance(error, LlmError) else ()))
        raise
    run.journal.calls.append(answer.record)
    run.journal.record_dropped("sentence", REDACTED_REASON, answer.record.redacted)
    return answer
