"""OpenAI's chat completions protocol: parsing of requests, bodies of responses, and errors with the real wording."""

import json
import re
from typing import Any, NamedTuple

from simulator.answers import GeneratedAnswer, count_tokens, find_schema, get_node
from simulator.scalars import Node
from simulator.schema import InvalidSchema
from simulator.settings import Settings

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES = {"system", "developer", "user", "assistant", "tool"}
_FORMATS = {"text", "json_object", "json_schema"}


class ApiError(Exception):
    """Error response with its status and body."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        error = {"message": message, "type": kind, "param": param, "code": code}
        self.body = json.dumps({"error": error}).encode()


class ChatCall(NamedTuple):
    """Well-formed request."""

    model: str
    messages: list[tuple[str, str]]
    """Messages as (role, text)."""
    node: Node | None
    """Required structure of the answer; None asks for plain text."""
    max_tokens: int | None
    is_sampled: bool = False
    """Whether the temperature is above 0, so that repeated requests may get different answers."""

    @property
    def question(self) -> list[str]:
        """Texts of the messages before the first answer; later messages, about a bad answer, add no evidence."""
        texts: list[str] = []
        for role, text in self.messages:
            if role == "assistant":
                break
            texts.append(text)
        return texts

    @property
    def prompt_tokens(self) -> int:
        return count_tokens(sum(len(text) for _, text in self.messages))


def authorise(header: str | None, accepted_key: str | None) -> None:
    """Check the Authorization header. Raises ApiError (401)."""
    if not header or not header.startswith("Bearer ") or not header[7:].strip():
        raise ApiError(
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization header using "
            "Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
        )
    key = header[7:].strip()
    if accepted_key is not None and key != accepted_key:
        masked_key = f"{key[:4]}***{key[-2:]}" if len(key) > 8 else "***"
        raise ApiError(401, f"Incorrect API key provided: {masked_key}.", code="invalid_api_key")


def parse_request(raw: bytes, settings: Settings) -> ChatCall:
    """Parse the body of a request. Raises ApiError (400 or 404)."""
    try:
        body = json.loads(raw)
    except ValueError:
        raise ApiError(
            400, "We could not parse the JSON body of your request. The API expects a JSON payload."
        ) from None
    if not isinstance(body, dict):
        raise ApiError(400, "Invalid type for the request body: expected an object.")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise ApiError(400, "you must provide a model parameter")
    if model not in settings.models:
        message = f"The model `{model}` does not exist or you do not have access to it."
        raise ApiError(404, message, code="model_not_found")
    messages = _parse_messages(body.get("messages"))
    _check_numbers(body)
    call = ChatCall(
        model=model,
        messages=messages,
        node=_parse_format(body.get("response_format"), messages),
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        is_sampled=(body.get("temperature") or 0) > 0,
    )
    _check_context_window(call, settings.context_tokens)
    return call


def _check_context_window(call: ChatCall, context_tokens: int | None) -> None:
    """Raise ApiError (400) with vLLM's wording if prompt and answer exceed the context window."""
    completion_tokens = call.max_tokens or 0
    if context_tokens is not None and call.prompt_tokens + completion_tokens > context_tokens:
        raise ApiError(
            400,
            f"This model's maximum context length is {context_tokens} tokens. However, you requested "
            f"{call.prompt_tokens + completion_tokens} tokens ({call.prompt_tokens} in the messages, "
            f"{completion_tokens} in the "
            "completion). Please reduce the length of the messages or completion.",
            "BadRequestError",
        )


def _parse_messages(messages: Any) -> list[tuple[str, str]]:
    if not isinstance(messages, list) or not messages:
        complaint = "Invalid 'messages': expected an array with at least one message."
        raise ApiError(400, complaint, param="messages", code="invalid_type")
    parsed: list[tuple[str, str]] = []
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in _ROLES:
            complaint = f"Invalid value: '{role}'. Supported values are: {sorted(_ROLES)}."
            raise ApiError(400, complaint, param=f"messages[{index}].role", code="invalid_value")
        parsed.append((role, _parse_content(message.get("content"), role, index)))
    return parsed


def _parse_content(content: Any, role: str, index: int) -> str:
    if isinstance(content, str):
        return content
    if content is None and role == "assistant":
        return ""
    if isinstance(content, list) and all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in content
    ):
        return "".join(part["text"] for part in content)
    complaint = f"Invalid type for 'messages[{index}].content': expected a string or an array of text parts."
    raise ApiError(400, complaint, param=f"messages[{index}].content", code="invalid_type")


def _check_numbers(body: dict[str, Any]) -> None:
    for name, minimum, maximum in (("temperature", 0, 2), ("top_p", 0, 1)):
        value = body.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ApiError(400, f"Invalid type for '{name}': expected a decimal.", param=name, code="invalid_type")
        if not minimum <= value <= maximum:
            complaint = f"Invalid '{name}': expected a value between {minimum} and {maximum}, but got {value} instead."
            raise ApiError(400, complaint, param=name, code="decimal_out_of_range")
    for name in ("max_tokens", "max_completion_tokens"):
        value = body.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            complaint = f"Invalid '{name}': expected a value >= 1, but got {value!r} instead."
            raise ApiError(400, complaint, param=name, code="integer_below_min_value")
    if body.get("n") not in {None, 1}:
        raise ApiError(400, "Only one completion per request is simulated: n must be 1.", param="n")
    for name in ("stream", "tools"):
        if body.get(name):
            raise ApiError(400, f"{name} is not simulated.", param=name)


def _parse_format(response_format: Any, messages: list[tuple[str, str]]) -> Node | None:
    kind = (
        response_format.get("type")
        if isinstance(response_format, dict)
        else "text"
        if response_format is None
        else None
    )
    if kind not in _FORMATS:
        complaint = f"Invalid value: '{kind}'. Supported values are: 'text', 'json_object', and 'json_schema'."
        raise ApiError(400, complaint, param="response_format.type", code="invalid_value")
    if kind == "json_schema":
        return _parse_schema(response_format.get("json_schema"))
    texts = [text for _, text in messages]
    if kind == "text":
        return find_schema(texts)
    if not any("json" in text.lower() for text in texts):
        complaint = (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        )
        raise ApiError(400, complaint, param="messages")
    return find_schema(texts) or get_node({"type": "object", "properties": {"answer": {"type": "string"}}})


def _parse_schema(json_schema: Any) -> Node:
    if not isinstance(json_schema, dict):
        complaint = "Missing required parameter: 'response_format.json_schema'."
        param, code = "response_format.json_schema", "missing_required_parameter"
        raise ApiError(400, complaint, param=param, code=code)
    name, schema = json_schema.get("name"), json_schema.get("schema", {})
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        complaint = (
            "Invalid 'response_format.json_schema.name': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        )
        raise ApiError(400, complaint, param="response_format.json_schema.name", code="invalid_value")
    try:
        return get_node(schema, bool(json_schema.get("strict")))
    except InvalidSchema as error:
        complaint = f"Invalid schema for response_format '{name}': {error}"
        raise ApiError(400, complaint, param="response_format") from error


def build_rate_limit_error(model: str, retry_after: float) -> ApiError:
    message = (
        f"Rate limit reached for {model} in organization org-simulator on requests per min (RPM). "
        f"Please try again in {retry_after:g}s."
    )
    return ApiError(429, message, "requests", code="rate_limit_exceeded", retry_after=retry_after)


def build_server_error(variation: float) -> ApiError:
    """Return a 500 or 503 error of the API, or the 502 error of a proxy, in HTML, depending on `variation` (0 to 1)."""
    if variation < 1 / 3:
        return ApiError(500, "The server had an error while processing your request. Sorry about that!", "server_error")
    if variation < 2 / 3:
        return ApiError(503, "The engine is currently overloaded, please try again later.", "server_error")
    error = ApiError(502, "Bad Gateway")
    error.body = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
    return error


def build_completion(call: ChatCall, answer: GeneratedAnswer, name: str, created: int) -> bytes:
    """Return the body of an answer; `name` is its id."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": answer.content,
        "refusal": answer.refusal,
        "annotations": [],
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish_reason}
    body = {
        "id": name,
        "object": "chat.completion",
        "created": created,
        "model": call.model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": call.prompt_tokens,
            "completion_tokens": count_tokens(len(answer.text)),
            "total_tokens": call.prompt_tokens + count_tokens(len(answer.text)),
        },
        "system_fingerprint": "fp_simulator",
    }
    return json.dumps(body).encode()
