"""Answers that a gateway returns in a provider's own form, converted to chat completions."""

from collections.abc import Mapping
from typing import Any


def convert_native(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a response of Anthropic's Messages API, Google's generateContent, OpenAI's Responses API, Ollama's or
    Cohere's chat API as a chat completion; any other body unchanged."""
    message = body.get("message")
    if "choices" in body or body.get("error"):
        return body
    if isinstance(body.get("content"), list) and "stop_reason" in body:
        return _build_chat_completion(body["content"], body["stop_reason"], body.get("usage"))
    if "candidates" in body or "promptFeedback" in body:
        return _from_google(body)
    if body.get("object") == "response" and isinstance(body.get("output"), list):
        parts = [part for item in body["output"] if isinstance(item, dict) for part in _get_list(item.get("content"))]
        return _build_chat_completion(parts, _get_dict(body.get("incomplete_details")).get("reason"), body.get("usage"))
    if isinstance(message, dict) and ("done" in body or "finish_reason" in body):
        usage = body if "done" in body else _get_dict(body.get("usage")).get("tokens")
        return _build_chat_completion(
            message.get("content"), body.get("done_reason") or body.get("finish_reason"), usage
        )
    return body


def _from_google(body: Mapping[str, Any]) -> dict[str, Any]:
    candidate = next((item for item in _get_list(body.get("candidates")) if isinstance(item, dict)), {})
    parts = [
        part
        for part in _get_list(_get_dict(candidate.get("content")).get("parts"))
        if not _get_dict(part).get("thought")
    ]
    blocked = _get_dict(body.get("promptFeedback")).get("blockReason")
    stated = candidate.get("finishReason") or (f"prompt blocked: {blocked}" if blocked else None)
    return _build_chat_completion(parts, stated, body.get("usageMetadata"))


def _build_chat_completion(content: Any, finish_reason: Any, usage: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}, "finish_reason": finish_reason}], "usage": usage}


def _get_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _get_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
