"""One question to the model, and what is said after an answer that cannot be used."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from assayer.models import Message
from assayer.tasks import Task
from workers.llm.completion import Completion
from workers.llm.question import Question, Words, prompt
from workers.llm.reading import Reading
from workers.llm.schema import answer_schema
from workers.llm.settings import LlmSettings

__all__ = ["Conversation"]

LONGEST_QUOTED = 12_000
"""Characters of an unusable answer that are sent back with its errors."""
_NO_ANSWER = "(no answer)"
"""Stands for an empty answer: some endpoints refuse empty messages."""


class Conversation:
    """Only the last unusable answer is kept, so that asking again does not grow the prompt without end."""

    def __init__(self, task: Task[Any, Any], model: str, messages: Sequence[Message], settings: LlmSettings) -> None:
        self._most_tokens = settings.max_answer_tokens
        output: type[BaseModel] = task.output
        self.question = Question(
            model=model,
            task=task.name,
            messages=tuple(Words(message.role, message.content) for message in messages),
            exchange=(),
            schema=answer_schema(output).text,
            max_tokens=task.max_tokens,
            temperature=settings.temperature,
            seed=settings.seed,
        )

    def repair(self, completion: Completion, reading: Reading[Any]) -> None:
        """Prepares to ask again: what was wrong, in the validator's words."""
        max_tokens = self.question.max_tokens
        if reading.fault is not None and reading.fault.kind == "truncated":
            max_tokens = max(max_tokens, min(2 * max_tokens, self._most_tokens))
            complaint = prompt("shorter").substitute()
        else:
            errors = "\n".join(f"- {error}" for error in reading.errors)
            complaint = prompt("repair").substitute(errors=errors)
        answer = (completion.text or completion.refusal).strip()[:LONGEST_QUOTED] or _NO_ANSWER
        self.question = self.question._replace(
            exchange=(Words("assistant", answer), Words("user", complaint)),
            max_tokens=max_tokens,
            turn=self.question.turn + 1,
        )
