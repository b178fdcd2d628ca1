"""What a line is asked, on whose behalf, and what it says. All of it pickles: the line may be another process."""

import hashlib
import re
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

from workers.llm.completion import Completion
from workers.llm.dialect import Dialect
from workers.llm.failures import Took
from workers.llm.schema import schema_of

__all__ = ["Asker", "Question", "Said", "Words", "prompt"]

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class Words(NamedTuple):
    """One message."""

    role: str
    content: str


class Asker(NamedTuple):
    run: str
    """Evaluation id: an answer is billed to the run for which it was asked."""
    urgent: bool = False
    """Somebody waits for it: it passes those for whom nobody does."""


class Question(NamedTuple):
    """Everything that one request to the endpoint is made of, in no dialect yet."""

    model: str
    task: str
    messages: tuple[Words, ...]
    exchange: tuple[Words, ...]
    """The last unusable answer, and what was wrong with it; empty at first."""
    schema: str
    """Of the answer: compact JSON, as strict structured output accepts it."""
    max_tokens: int
    temperature: float | None
    seed: int | None
    turn: int = 0
    """How often an answer has been sent back: what is asked again in the same words is another question."""

    @property
    def key(self) -> bytes:
        """Equal for the same question, whoever asks."""
        return hashlib.sha256(repr(tuple(self)).encode()).digest()

    @property
    def prompt_tokens(self) -> int:
        """An estimate: four characters a token, the schema included."""
        said = sum(len(words.content) for words in (*self.messages, *self.exchange))
        return (said + len(self.schema)) // 4 + 1

    def usage(self, completion: Completion) -> tuple[int, int]:
        """Prompt and completion tokens as the endpoint counts them; estimates where it does not."""
        prompt_tokens, written = completion.prompt_tokens, completion.completion_tokens
        return (
            self.prompt_tokens if prompt_tokens is None else prompt_tokens,
            len(completion.text) // 4 + 1 if written is None else written,
        )

    def body(self, dialect: Dialect) -> dict[str, Any]:
        name = _UNSAFE.sub("_", self.task)[:64]
        schema = schema_of(self.schema)
        parameters = dialect.parameters(name, schema, self.max_tokens, self.temperature, self.seed)
        return {"model": self.model, "messages": self._said(dialect), **parameters}

    def _said(self, dialect: Dialect) -> list[dict[str, str]]:
        if dialect.structured == "json_schema":
            said = (*self.messages, *self.exchange)
        else:
            # Last, so that the prefix that many prompts share stays the same for the server's cache.
            *before, question = self.messages
            asked = f"{question.content}\n\n{prompt('schema').substitute(schema=self.schema)}"
            said = (*before, question._replace(content=asked), *self.exchange)
        return [words._asdict() for words in said]


class Said(NamedTuple):
    completion: Completion
    took: Took
    """No sends where somebody else's question was the same."""


@cache
def prompt(name: str) -> Template:
    """One of the gateway's own prompt files."""
    return Template((files("workers.llm") / "prompts" / f"{name}.v1.md").read_text("utf-8").strip())
