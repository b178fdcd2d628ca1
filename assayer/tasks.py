"""Task[In, Out]: the only shape in which anything is asked of a language model.

A task is a name, a versioned prompt file, an output schema, a check that relates the answer to the
question, and a deterministic fallback for when no LLM is configured.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import BaseModel

from assayer import flow
from assayer.errors import LlmError
from assayer.models import Message
from assayer.models.llm import Tier
from assayer.ports import Embedder, Llm
from assayer.run import Run

__all__ = ["Prompts", "Task", "Tier", "ask"]

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

_VERSIONED = re.compile(r"^(?P<name>[a-z_]+)\.v(?P<version>\d+)\.md$")


def fence(text: str, kind: str) -> str:
    """Wraps text from outside so that it cannot pass for instructions: the closing mark carries a hash
    of the text (64 bits of it), which the text cannot be made to contain."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"<{kind} {mark}>\n{text.strip()}\n</{kind} {mark}>"


class Prompts:
    """The prompt files of one method: `prompts/NAME.vN.md`, and `system.md` that all of them share."""

    def __init__(self, package: str) -> None:
        # Prompts are plain text, not HTML: escaping would change what the model reads.
        self._environment = Environment(  # noqa: S701
            loader=PackageLoader(package, "prompts"),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters["fence"] = fence

    def render(self, file: str, data: BaseModel) -> tuple[Message, ...]:
        system = self._environment.get_template("system.md").render()
        fields = {name: getattr(data, name) for name in type(data).model_fields}
        return (
            Message(role="system", content=system.strip()),
            Message(role="user", content=self._environment.get_template(file).render(fields).strip()),
        )


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
    max_tokens: int = 4_000
    """Of the answer."""
    check: Callable[[In, Out], Sequence[str]] = field(default=_no_complaint)
    """What a schema cannot say: complaints in plain words, sent back to the model as they are."""
    fallback: Callable[[In, Embedder], Awaitable[Out]] | None = None

    @cached_property
    def version(self) -> int:
        match = _VERSIONED.match(self.prompt)
        if match is None:
            raise ValueError(f"Prompt file {self.prompt!r} of task {self.name} is not named NAME.vN.md.")
        return int(match["version"])

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the answer; every object is closed."""
        return self.output.model_json_schema()

    def messages(self, data: In) -> tuple[Message, ...]:
        return self.prompts.render(self.prompt, data)

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
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


async def ask(llm: Llm, task: Task[In, Out], data: In, run: Run) -> Out:
    """Asks, journals what it took or what was lost, and counts one level of depth."""
    run.check()
    try:
        answer = await llm.run(task, data, run)
    except LlmError as error:
        run.journal.lost.append((task.name, error.faults))
        raise
    finally:
        flow.deepen()
    run.journal.calls.append(answer.record)
    return answer.value
