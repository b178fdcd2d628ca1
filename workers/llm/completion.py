"""Read an endpoint's response: a chat completion, in one piece or as a stream, or the reason why it holds none."""

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from workers.llm.error_body import decode_text, parse_error_body, parse_json
from workers.llm.errors import ReadTokens
from workers.llm.finish_reasons import read_finish
from workers.llm.native_answers import convert_native


class Completion(NamedTuple):
    text: str
    refusal: str
    finish_reason: str
    """One of `workers.llm.finish_reasons.FinishReason`."""
    prompt_tokens: int | None
    """Prompt tokens, or None if the endpoint reports no usage."""
    completion_tokens: int | None
    cached_prompt_tokens: int = 0
    """Number of prompt tokens that came from the endpoint's prompt cache; 0 if it reports none."""
    stated_finish: str = ""
    """Finish reason in the endpoint's own words; empty if they are OpenAI's."""


class UnusableResponse(ValueError):
    """Raised if a response with status 200 holds no usable completion. `error` is the error, text or web page that it
    holds instead, None if it holds none; `read` the tokens that may be billed, None if the endpoint cannot have served
    the request."""

    def __init__(self, detail: str, error: object = None, read: ReadTokens | None = None) -> None:
        super().__init__(detail)
        self.error = error
        self.read_tokens = read


class _Part(BaseModel):
    type: str = ""
    text: str | None = None

    @property
    def answer_text(self) -> str:
        return "" if "think" in self.type or "reason" in self.type else self.text or ""


class _Function(BaseModel):
    arguments: str | dict[str, Any] = ""


class _ToolCall(BaseModel):
    function: _Function = _Function()


class _Message(BaseModel):
    content: str | list[_Part] | dict[str, Any] | None = None
    refusal: str | None = None
    reasoning_content: Any = Field(default=None, validation_alias=AliasChoices("reasoning_content", "reasoning"))
    tool_calls: Any = None

    def get_text(self, has_finished: bool) -> str:
        """Return the answer: the content or, without content, a tool call's arguments or, if the model
        `has_finished`, its reasoning."""
        content = self.content or ""
        if isinstance(content, dict):
            return json.dumps(content)
        text = content if isinstance(content, str) else "".join(part.answer_text for part in content)
        if text.strip():
            return text
        with suppress(ValidationError, IndexError, TypeError):
            arguments = _ToolCall.model_validate(self.tool_calls[0]).function.arguments
            return arguments if isinstance(arguments, str) else json.dumps(arguments)
        return self.reasoning_content if has_finished and isinstance(self.reasoning_content, str) else text


class _Choice(BaseModel):
    message: _Message | None = None
    text: str | None = None
    """Answer in the form of OpenAI's older completions API."""
    finish_reason: Any = None
    error: Any = None


class _Body(BaseModel):
    choices: list[_Choice] | None
    usage: Any = None
    error: Any = None


class _Delta(BaseModel):
    delta: _Message | None = None
    finish_reason: Any = None
    error: Any = None


class _Event(BaseModel):
    choices: list[_Delta] | None = None
    usage: Any = None
    error: Any = None


_STREAM_START = re.compile(rb"\s*(?::|data:|event:|id:|retry:)")


def parse_completion(body: bytes, charset: str = "") -> Completion:
    """Parse a response with status 200. A response without choices or an error counts as an empty answer. `charset` is
    the one that the response states. Raises UnusableResponse, whose message does not quote the body."""
    if _STREAM_START.match(body):
        return _join_stream_events(body)
    try:
        parsed = _Body.model_validate_json(body)
    except ValidationError:
        parsed = _parse_other_form(body, charset)
    if not parsed.choices:
        return _parse_without_choices(body, parsed.usage)
    choice = parsed.choices[0]
    message = choice.message or _Message(content=choice.text)
    return _build_completion(message, choice.finish_reason, choice.error or parsed.error, read_usage(parsed.usage))


def _build_completion(message: _Message, finish_reason: Any, error: Any, tokens: ReadTokens) -> Completion:
    """Return the completion. Raises UnusableResponse if the endpoint stopped an answer that is not whole."""
    finish = read_finish(finish_reason)
    text = message.get_text(finish.reason == "stop")
    if (error or finish.reason == "failure") and not _is_whole(text):
        stated = f" (finish reason “{finish.stated}”)" if finish.stated else ""
        error = error if isinstance(error, dict | str) else finish.error
        raise UnusableResponse(
            f"the endpoint stopped the answer{stated}", None if error is None else {"error": error}, tokens
        )
    return Completion(text, message.refusal or "", finish.reason, *tokens, finish.stated)


def _is_whole(text: str) -> bool:
    """Return whether an answer is complete although the endpoint reported an error after it."""
    return text.rstrip().endswith("}") and isinstance(parse_json(text), dict)


def _parse_other_form(body: bytes, charset: str) -> _Body:
    """Parse a response that is no chat completion in UTF-8. Raises UnusableResponse if it is none in another form."""
    text = decode_text(body, charset)
    value = parse_json(text)
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        raise UnusableResponse(*_describe(text.strip()), ReadTokens())
    try:
        parsed = _Body.model_validate(convert_native(value))
    except ValidationError as error:
        if parse_error_body(value).message:
            read = None if value.get("usage") is None else read_usage(value["usage"])
            raise UnusableResponse("the provider returned an error", value, read) from None
        first_error = error.errors(include_url=False, include_input=False, include_context=False)[0]
        location = ".".join(str(step) for step in first_error["loc"]) or "body"
        raise UnusableResponse(f"not a chat completion: {location}: {first_error['msg']}", None, ReadTokens()) from None
    if parsed.choices and "\ufffd" in text and "\ufffd".encode() not in body:
        raise UnusableResponse("the response is not UTF-8 and states no other charset", None, ReadTokens())
    return parsed


def _describe(text: str) -> tuple[str, str | None]:
    """Describe a response that is not JSON, and return the text, which may be an error or a web page; None if it is the
    beginning of JSON or empty."""
    if not text:
        return "the response is empty", None
    if not text.startswith(("{", "[")):
        return "the response is text", text
    if text.endswith(("}", "]")):
        return "the response is not a JSON object", None
    return f"the response was cut off after {len(text):,} characters", None


def _parse_without_choices(body: bytes, usage: Any) -> Completion:
    """Parse a response without choices: an error, or an answer without a word."""
    value = parse_json(decode_text(body))
    has_error = isinstance(value, dict) and (value.get("error") or _get_dict(value.get("base_resp")).get("status_code"))
    if has_error:
        raise UnusableResponse("the provider returned an error", value, None if usage is None else read_usage(usage))
    return Completion("", "", "stop", *read_usage(usage))


def _join_stream_events(body: bytes) -> Completion:
    """Join the events of a stream. Some endpoints send a stream even if none was requested."""
    events: list[_Event] = []
    is_ended = False
    lines = [line.removeprefix(b"data:").strip() for line in body.splitlines() if line.startswith(b"data:")]
    for number, data in enumerate(lines, 1):
        if data == b"[DONE]":
            is_ended = True
            continue
        try:
            events.append(_Event.model_validate_json(data))
        except ValidationError:
            is_cut = number == len(lines) and data.startswith((b"{", b"["))
            detail = "the stream was cut off" if is_cut else "an event of the stream cannot be parsed"
            raise UnusableResponse(detail, None if is_cut else decode_text(data), ReadTokens()) from None
    tokens = read_usage(next((event.usage for event in reversed(events) if event.usage), None))
    choices = [choice for event in events for choice in (event.choices or [])[:1]]
    errors = [event.error for event in events] + [choice.error for choice in choices]
    error = next(filter(None, errors), None)
    if not choices:
        content = parse_json(decode_text(lines[0])) if lines else None
        raise UnusableResponse("the stream contains no answer", content, tokens)
    text = "".join(choice.delta.get_text(has_finished=False) for choice in choices if choice.delta)
    reasons = [choice.finish_reason for choice in choices if choice.finish_reason]
    if not reasons and not is_ended and not error and not _is_whole(text):
        raise UnusableResponse("the stream ended before the answer did", None, tokens)
    return _build_completion(_Message(content=text), reasons[-1] if reasons else "length", error, tokens)


_PROMPT_FIELDS = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count")
_COMPLETION_FIELDS = ("completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count")
"""Names under which OpenAI, Anthropic, Google and Ollama report tokens."""
_CACHED_FIELDS = ("prompt_cache_hit_tokens", "cache_read_input_tokens")
"""Names under which DeepSeek and Anthropic report the prompt tokens that came from the cache."""


def read_usage(usage: Any) -> ReadTokens:
    """Return the tokens reported by an endpoint, rounded, because some report fractions or texts. A prompt of 0 tokens
    counts as not reported."""
    counts = _get_dict(usage)
    prompt, written = _find_count(counts, _PROMPT_FIELDS) or None, _find_count(counts, _COMPLETION_FIELDS)
    cached = _parse_count(_get_dict(counts.get("prompt_tokens_details")).get("cached_tokens"))
    cached = (_find_count(counts, _CACHED_FIELDS) or 0) if cached is None else cached
    return ReadTokens(prompt, written, cached if prompt is None else min(cached, prompt))


def _find_count(counts: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """Return the first of the counts that is a number."""
    for name in names:
        if (count := _parse_count(counts.get(name))) is not None:
            return count
    return None


def _parse_count(value: Any) -> int | None:
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    return round(value) if isinstance(value, int | float) and 0 <= value < math.inf else None


def _get_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
