"""Request for one chat completion, its encoding in a model's dialect, and the transport that sends it."""

import math
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple, Protocol

from assayer.run.context_variables import Urgency
from workers.llm.answer_schema import convert_to_sent_schema
from workers.llm.completion import Completion
from workers.llm.dialect_fallback import Dialect
from workers.llm.errors import ReadTokens

_UNSAFE_CHARACTER = re.compile(r"[^A-Za-z0-9_-]")


class ChatMessage(NamedTuple):
    """One message."""

    role: str
    content: str


@dataclass
class Requester:
    """The run that makes a request, and how often the request was sent. The transport updates this object in place, so
    that the number is known even after a cancellation."""

    run: str
    """Evaluation id of the run. An answer is billed to the run that requested it."""
    urgency: Urgency = field(default_factory=Urgency)
    """Urgency of the request. An urgent request, for which a person is waiting, is sent before others."""
    sends: int = 0
    """Number of times the request was sent."""
    first_sent: float = 0.0
    """Time at which the request was first sent, on the monotonic clock."""

    def record_send(self, now: float) -> None:
        if not self.sends:
            self.first_sent = now
        self.sends += 1


class ChatRequest(NamedTuple):
    """Everything that determines a request to the endpoint, before it is encoded in a dialect."""

    model: str
    task: str
    messages: tuple[ChatMessage, ...]
    repair_messages: tuple[ChatMessage, ...]
    """Last unusable answer and its error messages; empty in the first attempt."""
    schema: str
    """The answer's schema as compact JSON, in the form that strict structured output accepts."""
    max_tokens: int
    temperature: float | None
    seed: int | None
    repair_attempt: int = 0
    """Number of times an answer has been sent back. Requests that differ only in this number are different requests."""
    sample: int = 0
    """Sample number. Requests that differ only in this number are different requests, with their own answers."""
    answers_of: str = ""
    """Owner whose callers alone may use the cached answer. If empty, every caller that makes the same request shares
    it."""

    @property
    def prompt_tokens(self) -> int:
        """Return an estimate of the prompt tokens, including the schema, that errs on the high side."""
        messages = (message.content for message in (*self.messages, *self.repair_messages))
        return estimate_tokens(*messages, self.schema)

    def count_usage(self, completion: Completion) -> tuple[int, int]:
        """Return prompt and completion tokens as counted by the endpoint, or estimates if it reports none."""
        prompt_tokens, written = completion.prompt_tokens, completion.completion_tokens
        return (
            self.prompt_tokens if prompt_tokens is None else prompt_tokens,
            estimate_tokens(completion.text) if written is None else written,
        )

    def count_usage_without_answer(self, read_tokens: ReadTokens) -> tuple[int, int]:
        """Return the prompt and completion tokens of a request without a usable answer. At least the prompt was
        read."""
        prompt_tokens = self.prompt_tokens if read_tokens.prompt is None else read_tokens.prompt
        return prompt_tokens, read_tokens.completion or 0

    def build_body(self, dialect: Dialect) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": self._build_messages(dialect),
            dialect.tokens_field: min(self.max_tokens, dialect.max_tokens_accepted or self.max_tokens),
        }
        if dialect.temperature and self.temperature is not None:
            body["temperature"] = self.temperature
        if dialect.seed and self.seed is not None:
            body["seed"] = self.seed
        if dialect.reasoning_effort is not None:
            body["reasoning_effort"] = dialect.reasoning_effort
        if dialect.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if dialect.structured == "json_schema":
            name = _UNSAFE_CHARACTER.sub("_", self.task)[:64]
            answer = {"name": name, "strict": True, "schema": convert_to_sent_schema(self.schema).schema}
            body["response_format"] = {"type": "json_schema", "json_schema": answer}
        elif dialect.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _build_messages(self, dialect: Dialect) -> list[dict[str, str]]:
        *earlier_messages, question = self.messages
        if dialect.structured != "json_schema":
            # The schema comes last, so that the prefix shared by many prompts stays the same for the server's cache.
            instruction = load_prompt_template("schema").substitute(schema=self.schema)
            question = question._replace(content=f"{question.content}\n\n{instruction}")
        if not dialect.system and earlier_messages:
            texts = [message.content for message in (*earlier_messages, question)]
            earlier_messages, question = [], question._replace(content="\n\n".join(texts))
        return [message._asdict() for message in (*earlier_messages, question, *self.repair_messages)]


class BatchReference(NamedTuple):
    """Reference to an entry in the batch book. The book keeps the result until it is settled."""

    key: str
    price_share: float | None
    """Cost of the answer's tokens in a batch, as a share of the model's price; None if the live endpoint answered
    instead."""


class ChatResult(NamedTuple):
    completion: Completion
    waited: "BatchReference | None" = None
    """The result's batch entry; None if the request went to the live endpoint from the start."""


@cache
def load_prompt_template(name: str) -> Template:
    """Return one of the gateway's own prompt templates."""
    return Template((files("workers.llm") / "prompts" / f"{name}.v1.md").read_text("utf-8").strip())


class LlmTransport(Protocol):
    """Transport that sends requests to an endpoint: `workers.llm.endpoint.LlmEndpoint` or a substitute."""

    @property
    def address(self) -> str:
        """Return the endpoint's base URL in a form that can be displayed."""
        ...

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        """Send the request once or, while the model's dialect is being determined, repeatedly. Cancelling the caller
        cancels the request. Raises TransientLlmFailure or PermanentLlmFailure if there is no completion."""
        ...

    async def reach(self) -> Mapping[str, int]:
        """Check that a server responds, and return the context windows that it states, by model. Raises
        TransientLlmFailure if it does not respond."""
        ...

    async def probe(self, model: str) -> None:
        """Send a tiny request to the model. Raises LlmRejected (wrong key, unknown model) or LlmUnavailable."""
        ...

    async def aclose(self) -> None:
        """Close the resources that this transport owns."""
        ...


_WORD_CHARACTERS = (string.ascii_letters + " ").encode()
_TOKEN_WEIGHTS: tuple[tuple[bytes, float], ...] = (
    (_WORD_CHARACTERS, 0.3),
    # Each digit, and the space before it, may be a token of its own.
    (string.digits.encode(), 1.25),
    (bytes(number for number in range(128) if number not in _WORD_CHARACTERS + string.digits.encode()), 1.0),
    # Two bytes: accented Latin, Greek, Cyrillic, Hebrew, Arabic.
    (bytes(range(0xC2, 0xE0)), 1.25),
    # Three bytes: Indic scripts, Thai, Ethiopic, Khmer and others that tokenizers cover poorly.
    (b"\xe0\xe1", 3.0),
    # Dashes, quotation marks, arrows, mathematical symbols.
    (b"\xe2", 2.0),
    # Chinese, Japanese, Korean.
    (bytes(range(0xE3, 0xF0)), 1.5),
    # Four bytes: emoji, rare characters.
    (bytes(range(0xF0, 0xF8)), 4.0),
)
"""Leading bytes of UTF-8 characters, and the number of tokens counted for each such character.

With these weights, the estimate was never below the counts of four tokenizers (cl100k, o200k, Qwen, DeepSeek) on prose
in 17 languages, formulas, tables, JSON and 2,460 English research texts. Random letters, and some languages with older
tokenizers, can take more."""


def estimate_tokens(*texts: str) -> int:
    """Return an upper estimate of the number of tokens in all texts together, at least 1, without a tokenizer.

    Byte-level tokenizers produce at most one token per UTF-8 byte, and far fewer for most scripts. The estimate is
    based on each character's first byte, which indicates the script."""
    data = "".join(texts).encode("utf-8", "surrogatepass")
    # `bytes.translate` is faster than a loop, and prompts are long.
    weighted_bytes = sum(
        weight * (len(data) - len(data.translate(None, characters))) for characters, weight in _TOKEN_WEIGHTS
    )
    return math.floor(weighted_bytes) + 1
