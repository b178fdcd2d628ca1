"""The body of a chat completion, as far as the gateway needs it. Everything else in it is ignored."""

from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

__all__ = ["Completion", "parse_completion"]


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


def parse_completion(body: bytes) -> Completion:
    """Raises ValueError, without quoting the body, when this is no chat completion."""
    try:
        parsed = _Body.model_validate_json(body)
    except ValidationError as error:
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
