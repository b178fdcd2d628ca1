"""One chat completion: the request, how it is encoded for what a model understands, and the result.

All of it pickles: the transport may be in another process.
"""

import json
import re
from contextlib import suppress
from functools import cache, lru_cache
from importlib.resources import files
from string import Template
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import BaseModel, Field, ValidationError

from assayer.run.context_variables import Urgency
from workers.llm.errors import ErrorBody, PermanentLlmFailure, ReadTokens, SendStats
from workers.llm.settings import StructuredSetting
from workers.llm.token_estimate import estimated_tokens

__all__ = [
    "AnswerSchema",
    "ChatMessage",
    "ChatRequest",
    "ChatResult",
    "Completion",
    "Dialect",
    "LlmTransport",
    "Requester",
    "WaitedFor",
    "initial_dialect",
    "parse_completion",
    "prompt_template",
    "read_without_answer",
    "schema_of",
]


class AnswerSchema(NamedTuple):
    schema: dict[str, Any]
    text: str
    """The schema as compact JSON, for prompts."""


@lru_cache(maxsize=256)
def schema_of(text: str) -> AnswerSchema:
    """The schema that was made elsewhere and came as text."""
    return AnswerSchema(json.loads(text), text)


class Completion(NamedTuple):
    text: str
    refusal: str
    finish_reason: str
    prompt_tokens: int | None
    """None when the endpoint reports no usage."""
    completion_tokens: int | None


class _Part(BaseModel):
    text: str = ""


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Body(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _Wordless(BaseModel):
    """A model was asked, and nothing that it wrote is there."""

    choices: Any
    error: None = None
    usage: _Usage | None = None


class _Failure(BaseModel):
    error: Any = None
    usage: _Usage | None = None


def parse_completion(body: bytes) -> Completion:
    """One without choices is the model's empty answer. Raises ValueError, without quoting the body, when this is no
    chat completion."""
    try:
        parsed = _Body.model_validate_json(body)
    except ValidationError as error:
        with suppress(ValidationError):
            used = _Wordless.model_validate_json(body).usage or _Usage()
            return Completion("", "", "", used.prompt_tokens, used.completion_tokens)
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "body"
        raise ValueError(f"not a chat completion: {place}: {first['msg']}") from None
    choice, usage = parsed.choices[0], parsed.usage or _Usage()
    content = choice.message.content or ""
    return Completion(
        text=content if isinstance(content, str) else "".join(part.text for part in content),
        refusal=choice.message.refusal or "",
        finish_reason=choice.finish_reason or "",
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
    )


def read_without_answer(body: bytes) -> ReadTokens | None:
    """What may be billed for a request that was answered by no chat completion. An `error` alone says, as a status
    does, that the request was not served."""
    try:
        parsed = _Failure.model_validate_json(body)
    except ValidationError:
        return ReadTokens()
    if parsed.usage is not None:
        return ReadTokens(parsed.usage.prompt_tokens, parsed.usage.completion_tokens)
    return ReadTokens() if parsed.error is None else None


StructuredMode = Literal["json_schema", "json_object", "prompt"]
"""How JSON is asked for; `prompt` is by words alone."""

_STRUCTURED = ("response_format", "json_schema", "json_object", "structured output", "guided")
_UNSUPPORTED = ("unsupported", "not support", "unknown", "unrecognized", "unexpected", "instead", "extra")


class Dialect(NamedTuple):
    structured: StructuredMode
    steps_down: bool
    """Whether structured output may give way to a plainer form."""
    tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True

    def adapted(self, failure: PermanentLlmFailure) -> "Dialect | None":
        """What to try after a refusal; None when another dialect would not help."""
        if failure.reason != "bad_request":
            return None
        return self._simpler(failure.body)

    def _simpler(self, body: ErrorBody) -> "Dialect | None":
        if body.mentions(*_UNSUPPORTED):
            if self.tokens_field == "max_tokens" and body.mentions("max_completion_tokens"):
                return self._replace(tokens_field="max_completion_tokens")
            if self.temperature and body.mentions("temperature"):
                return self._replace(temperature=False)
        if self.steps_down and self.structured != "prompt" and body.mentions(*_STRUCTURED):
            plainer: StructuredMode = "json_object" if self.structured == "json_schema" else "prompt"
            return self._replace(structured=plainer)
        return None

    def parameters(
        self, name: str, schema: AnswerSchema, max_tokens: int, temperature: float | None, seed: int | None
    ) -> dict[str, Any]:
        """Everything of a request's body but model and messages."""
        body: dict[str, Any] = {self.tokens_field: max_tokens}
        if self.temperature and temperature is not None:
            body["temperature"] = temperature
        if seed is not None:
            body["seed"] = seed
        if self.structured == "json_schema":
            answer = {"name": name, "strict": True, "schema": schema.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": answer}
        elif self.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body


def initial_dialect(setting: StructuredSetting) -> Dialect:
    structured: StructuredMode = "json_object" if setting == "json_object" else "json_schema"
    return Dialect(structured, steps_down=setting == "auto")


_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class ChatMessage(NamedTuple):
    """One message."""

    role: str
    content: str


class Requester(NamedTuple):
    """On whose behalf a request is made."""

    run: str
    """Evaluation id: an answer is billed to the run for which it was asked."""
    urgency: Urgency | None = None
    """Where somebody waits for it, or comes to: it passes requests for which nobody does. None: nobody does."""


class ChatRequest(NamedTuple):
    """Everything that one request to the endpoint is made of, in no dialect yet."""

    model: str
    task: str
    messages: tuple[ChatMessage, ...]
    repair_messages: tuple[ChatMessage, ...]
    """The last unusable answer, and what was wrong with it; empty at first."""
    schema: str
    """Of the answer: compact JSON, as strict structured output accepts it."""
    max_tokens: int
    temperature: float | None
    seed: int | None
    repair_attempt: int = 0
    """How often an answer has been sent back: the same words sent again are another request."""
    sample: int = 0
    """The same question asked for another answer is another request too."""
    answers_of: str = ""
    """Who alone may be given the result too; empty: whoever makes the same request."""

    @property
    def prompt_tokens(self) -> int:
        """An upper estimate, the schema included."""
        messages = (message.content for message in (*self.messages, *self.repair_messages))
        return estimated_tokens(*messages, self.schema)

    def usage(self, completion: Completion) -> tuple[int, int]:
        """Prompt and completion tokens as the endpoint counts them; estimates where it does not."""
        prompt_tokens, written = completion.prompt_tokens, completion.completion_tokens
        return (
            self.prompt_tokens if prompt_tokens is None else prompt_tokens,
            estimated_tokens(completion.text) if written is None else written,
        )

    def usage_without_answer(self, read: ReadTokens) -> tuple[int, int]:
        """The same of a request that got no usable answer: at least the prompt was read."""
        prompt_tokens = self.prompt_tokens if read.prompt is None else read.prompt
        return prompt_tokens, read.completion or 0

    def body(self, dialect: Dialect) -> dict[str, Any]:
        name = _UNSAFE.sub("_", self.task)[:64]
        schema = schema_of(self.schema)
        parameters = dialect.parameters(name, schema, self.max_tokens, self.temperature, self.seed)
        return {"model": self.model, "messages": self._messages(dialect), **parameters}

    def _messages(self, dialect: Dialect) -> list[dict[str, str]]:
        if dialect.structured == "json_schema":
            messages = (*self.messages, *self.repair_messages)
        else:
            # Last, so that the prefix that many prompts share stays the same for the server's cache.
            *before, question = self.messages
            asked = f"{question.content}\n\n{prompt_template('schema').substitute(schema=self.schema)}"
            messages = (*before, question._replace(content=asked), *self.repair_messages)
        return [message._asdict() for message in messages]


class WaitedFor(NamedTuple):
    """A place in the book of batches, where the result is kept until it is settled."""

    key: str
    price_share: float | None
    """What the answer's tokens cost in a batch, over the model's price; None: the live endpoint answered after all."""


class ChatResult(NamedTuple):
    completion: Completion
    stats: SendStats
    """No sends where somebody else made the same request."""
    waited: "WaitedFor | None" = None
    """None: it was asked live from the start."""


@cache
def prompt_template(name: str) -> Template:
    """One of the gateway's own prompt files."""
    return Template((files("workers.llm") / "prompts" / f"{name}.v1.md").read_text("utf-8").strip())


class LlmTransport(Protocol):
    """Carries requests to an endpoint: `workers.llm.client.EndpointTransport`, or others before it."""

    @property
    def address(self) -> str:
        """The endpoint's, as it may be shown."""
        ...

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        """One send, or more where the model's dialect must be learnt first. A caller who is cancelled takes the
        request along; the CancelledError holds its SendStats if it was on its way and that is known. Raises
        TransientLlmFailure or PermanentLlmFailure, which tell what was sent."""
        ...

    async def reach(self) -> None:
        """Whether a server answers. Raises TransientLlmFailure."""
        ...

    async def probe(self, model: str) -> None:
        """One tiny request. Raises LlmRejected (wrong key, unknown model) or LlmUnavailable, in plain words."""
        ...

    async def aclose(self) -> None:
        """Ends what this transport owns."""
        ...
