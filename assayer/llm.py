"""Requests to a language model: the `Task`, the `Llm` port that answers it, and `ask`.

Every request to a language model is a Task[In, Out]: a name, a versioned prompt file, an output schema, and a check
that compares the answer with the question."""

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
    cleaned,
    foreign_complaints,
    redacted,
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
    """List with one entry for each label, in order."""

    label_field: str
    """Name of the field of an entry that holds its label."""
    labels: Sequence[str]
    choices: Mapping[str, Sequence[Sequence[str]]] = {}
    """Texts that a field, at any depth of an entry, can hold, listed for each entry in order: for example, the
    sentences of the paper that it may quote."""


class AnswerBounds(NamedTuple):
    """Constraints on an answer that follow from its question. A server that compiles schemas to grammars can enforce
    them, so that small models, which often ramble or invent labels, give valid answers. Keys are names of fields."""

    entries: Mapping[str, int] = {}
    """Maximum number of entries of a list."""
    labels: Mapping[str, Sequence[str]] = {}
    """Labels that a field, or every entry of a list, can hold."""
    lists: Mapping[str, LabelledList] = {}
    """Lists with one entry for each label."""
    words: Mapping[str, int] = {}
    """Maximum words of a text, if fewer than its description states; 0 for a text that stays empty."""
    least: Mapping[str, int] = {}
    """Minimum number of entries of a list."""


def _unbounded(data: Any) -> AnswerBounds:
    return AnswerBounds()


class Cut(NamedTuple):
    """Field of a question whose last entries are left out if the question exceeds the model's context window."""

    field: str
    noun: str
    """Countable noun for one entry, shown in the report; empty if the caller asks about the entries left out in another
    request."""


@dataclass(frozen=True)
class Task(Generic[In, Out]):
    name: str
    """Method and task, for example `scholareval.methods`; the key in the ledger and the simulator."""
    prompts: Prompts
    prompt: str
    """File name in the form `NAME.vN.md`, where N is the task's version."""
    output: type[Out]
    tier: Tier = "fast"
    model: str | None = None
    """Name of the required model; None leaves the choice to the settings of the tier."""
    max_tokens: int = 4_000
    """Maximum tokens of the answer."""
    check: Callable[[In, Out], Sequence[str]] = field(default=_no_complaint)
    """Check for what a schema cannot express; its complaints are sent to the model verbatim. It checks citations only
    if some are required: forbidden citations are checked for all tasks, by the roles of their fields."""
    advice: Callable[[In, Out], Sequence[str]] = field(default=_no_complaint)
    """Advice on a valid answer. It is sent back to the model once; if no better answer arrives, the first answer is
    used."""
    bounds: Callable[[In], AnswerBounds] = field(default=_unbounded)
    """Constraints on the answer to a question, in addition to those of the schema. They are sent only if the settings
    ask for bounded answers, and do not replace the check."""
    temperature: float | None = None
    """Sampling temperature; None uses the settings."""
    sample: int = 0
    """Number of the sample among several answers to the same question, each requested and cached separately.
    Samples differ only at a temperature above 0."""
    cuts: tuple[Cut, ...] = ()
    """Fields whose entries are ordered by relevance, listed in the order in which they are cut. If this is not enough,
    the end of the field `idea` is cut."""

    @cached_property
    def version(self) -> int:
        match = _VERSIONED.match(self.prompt)
        if match is None:
            raise ValueError(f"Prompt file {self.prompt!r} of task {self.name} is not named NAME.vN.md.")
        return int(match["version"])

    @cached_property
    def digest(self) -> str:
        """Digest of the prompt with everything it includes, including the system message and shared texts."""
        return self.prompts.digest(self.prompt)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the answer; no object allows additional properties."""
        return self.output.model_json_schema()

    def messages(self, data: In) -> tuple[Message, ...]:
        return self.prompts.render(self.prompt, data)

    def cleaned(self, data: In, answer: Out) -> Out | None:
        """Return the answer cleaned like every external text, or None if the remaining visible text does not fit the
        schema."""
        return cleaned(answer, QuestionTexts(data))

    def complaints(self, data: In, answer: Out) -> list[str]:
        """Return all complaints about a cleaned answer: those of the check, and every citation of a paper that
        was not shown."""
        return [*self.check(data, answer), *foreign_complaints(answer, QuestionTexts(data))]

    def redacted(self, data: In, answer: Out) -> RedactedAnswer | None:
        """Return the cleaned answer without the sentences that cite papers that were not shown, or None if it
        has other faults."""
        return redacted(answer, QuestionTexts(data), lambda left: self.check(data, left))

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
    """Valid answer, with the cost of obtaining it."""

    value: Out
    record: CallRecord


class Llm(Protocol):
    """Interface that answers tasks with a language model."""

    @property
    def models(self) -> tuple[str, ...]:
        """Models that can answer; empty if none is configured."""
        ...

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """Answer a task. Raises an LlmError or BudgetExhausted, and also StorageError, ConfigurationError or
        PartUnavailable, which would affect every other task too."""
        ...


class NoLlm:
    """Implementation of `Llm` for use without a language model: it refuses every task."""

    models: tuple[str, ...] = ()

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        """Raise NoFallback."""
        raise NoFallback(
            f"Task {task.name} needs a language model, and none is configured.",
            "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__API_KEY if the endpoint needs a key.",
        )


async def ask(llm: Llm, task: Task[In, Out], data: In, run: Run) -> Out:
    """Ask the language model, and journal the cost of the answer, or that there was none."""
    return (await ask_on_record(llm, task, data, run)).value


async def ask_on_record(llm: Llm, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
    """Ask the model as `ask` does, and return the answer with the record of the call, for callers that store which
    model answered."""
    run.journal.prompt_digests[task.name] = task.digest
    try:
        answer = await llm.run(task, data, run)
    except AssayerError as error:
        run.journal.failed_calls.append((task.name, error.faults if isinstance(error, LlmError) else ()))
        raise
    run.journal.calls.append(answer.record)
    run.journal.record_dropped("sentence", REDACTED_REASON, answer.record.redacted)
    return answer
