"""One question to the model, and what is said after an answer that cannot be used."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from pydantic import BaseModel

from assayer.models import Message
from assayer.tasks import Task
from workers.llm.completion import Completion
from workers.llm.dialect import Dialect
from workers.llm.reading import Reading
from workers.llm.schema import answer_schema
from workers.llm.settings import LlmSettings

__all__ = ["Conversation", "prompt"]

LONGEST_QUOTED = 12_000
"""Characters of an unusable answer that are sent back with its errors."""
_NO_ANSWER = "(no answer)"
"""Stands for an empty answer: some endpoints refuse empty messages."""


@cache
def prompt(name: str) -> Template:
    """One of the gateway's own prompt files."""
    return Template((files("workers.llm") / "prompts" / f"{name}.v1.md").read_text("utf-8").strip())


class Conversation:
    """Only the last unusable answer is kept, so that asking again does not grow the prompt without end."""

    def __init__(self, task: Task[Any, Any], model: str, messages: Sequence[Message], settings: LlmSettings) -> None:
        self.model = model
        self.max_tokens = task.max_tokens
        self._settings = settings
        self._messages = [message.model_dump() for message in messages]
        self._exchange: list[dict[str, str]] = []
        output: type[BaseModel] = task.output
        self._schema = answer_schema(output)
        self._name = re.sub(r"[^A-Za-z0-9_-]", "_", task.name)[:64]

    @property
    def prompt_tokens(self) -> int:
        """An estimate: four characters a token, the schema included."""
        said = sum(len(message["content"]) for message in (*self._messages, *self._exchange))
        return (said + len(self._schema.text)) // 4 + 1

    def usage(self, completion: Completion) -> tuple[int, int]:
        """Prompt and completion tokens as the endpoint counts them; estimates where it does not."""
        prompt_tokens, written = completion.prompt_tokens, completion.completion_tokens
        return (
            self.prompt_tokens if prompt_tokens is None else prompt_tokens,
            len(completion.text) // 4 + 1 if written is None else written,
        )

    def body(self, dialect: Dialect) -> dict[str, Any]:
        settings = self._settings
        parameters = dialect.parameters(self._name, self._schema, self.max_tokens, settings.temperature, settings.seed)
        return {"model": self.model, "messages": self._said(dialect), **parameters}

    def repair(self, completion: Completion, reading: Reading[Any]) -> None:
        """Prepares to ask again: what was wrong, in the validator's words."""
        if reading.fault is not None and reading.fault.kind == "truncated":
            self.max_tokens = max(self.max_tokens, min(2 * self.max_tokens, self._settings.max_answer_tokens))
            complaint = prompt("shorter").substitute()
        else:
            errors = "\n".join(f"- {error}" for error in reading.errors)
            complaint = prompt("repair").substitute(errors=errors)
        answer = (completion.text or completion.refusal).strip()[:LONGEST_QUOTED] or _NO_ANSWER
        self._exchange = [
            {"role": "assistant", "content": answer},
            {"role": "user", "content": complaint},
        ]

    def _said(self, dialect: Dialect) -> list[dict[str, str]]:
        if dialect.structured == "json_schema":
            return [*self._messages, *self._exchange]
        # Last, so that the prefix that many prompts share stays the same for the server's cache.
        *before, question = self._messages
        asked = f"{question['content']}\n\n{prompt('schema').substitute(schema=self._schema.text)}"
        return [*before, {**question, "content": asked}, *self._exchange]
