"""Quirks of providers, from their documents and from public reports of users."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from tests.contract.providers.imitation import GOOD, Quirk, Reply, Seen, error, said

__all__ = ["ANSWERED", "REFUSED", "Answered", "Refused"]


@dataclass(frozen=True)
class Answered:
    """A quirk that the user does not notice: every question is answered."""

    name: str
    quirk: Quirk
    sends: tuple[int, int] = (1, 1)
    """Requests for the first question, and for the second: what was learnt is not asked again."""
    lacks: tuple[str, ...] = ()
    """Parameters that the last request lacks."""
    form: str = "json_schema"
    """Structured output of the last request; empty for instructions in the prompt alone."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the gateway; `path` is appended to the address."""
    prompt_tokens: int | None = None
    """Tokens on record for the first question, where the quirk concerns them."""


@dataclass(frozen=True)
class Refused:
    """A quirk that costs the answer: the user sees why, in the provider's own words."""

    name: str
    reply: Reply
    sees: str
    """Regular expression of the message and its hint."""
    concerns_one: bool = False
    """Whether it concerns this question alone, so that the evaluation goes on."""
    form: str = ""
    sends: int = 1


def _when(condition: Any, reply: Reply) -> Quirk:
    return lambda seen: reply if condition(seen) else None


def _schema(seen: Seen) -> bool:
    return seen.form == "json_schema"


def _structured(seen: Seen) -> bool:
    return bool(seen.form)


def _no_schemas(name: str, reply: Reply) -> Answered:
    """Return the quirk that refuses answers by a JSON schema; JSON without one is asked for from then on."""
    return Answered(name, _when(_schema, reply), (2, 1), form="json_object")


def _no_forms(name: str, reply: Reply) -> Answered:
    """Return the quirk that refuses every form of structured output; instructions in the prompt are left."""
    return Answered(name, _when(_structured, reply), (3, 1), form="")


def _azure(seen: Seen) -> Reply | None:
    if seen.path != "/openai/deployments/small/chat/completions" or "api-version" not in seen.query:
        return Reply(404, {"error": {"code": "404", "message": "Resource not found"}})
    if seen.headers.get("api-key") != "sk-test-very-secret":
        return Reply(401, {"error": {"code": "401", "message": "Access denied due to invalid subscription key"}})
    return None


def _most_tokens(words: str, most: int) -> Quirk:
    return lambda seen: error(400, words.format(asked=seen.most)) if seen.most > most else None


def _stream(seen: Seen) -> Reply:
    pieces = [
        {"choices": [{"delta": {"content": GOOD[at : at + 40]}, "finish_reason": None}]} for at in range(0, 999, 40)
    ]
    events = [
        *pieces,
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 9}},
    ]
    lines = [": OPENROUTER PROCESSING", *(f"data: {json.dumps(event)}" for event in events), "data: [DONE]"]
    return Reply(200, "\n\n".join(lines), "text/event-stream")


def _stream_only(seen: Seen) -> Reply:
    if seen.body.get("stream"):
        return _stream(seen)
    return error(400, "This model only support stream mode, please enable the stream parameter to access the model.")


def _no_system(seen: Seen) -> Reply | None:
    if seen.body["messages"][0]["role"] == "system":
        return error(400, "Conversation roles must alternate user/assistant: System role not supported")
    return None if "You weigh statements" in seen.body["messages"][0]["content"] else error(400, "no instructions")


_THOUGHT = 'Maybe {"weights": []} or sets like {a, b} will do.'
_ANTHROPIC_THROUGH_LITELLM = (
    'litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: '
    '{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"`temperature` is deprecated for this model.\\"}"}'
)

ANSWERED = (
    # Structured output
    _no_schemas(
        "llama.cpp: grammar cannot be parsed", error(400, "Failed to initialize samplers: failed to parse grammar")
    ),
    _no_schemas(
        "llama.cpp, older: the same with status 500",
        error(500, "JSON schema conversion failed:\nUnrecognized schema: error parsing grammar"),
    ),
    _no_schemas(
        "Gemini: error in a list, schema with too many states",
        Reply(
            400,
            [
                {
                    "error": {
                        "code": 400,
                        "message": "The specified schema produces a constraint that has too many states.",
                        "status": "INVALID_ARGUMENT",
                    }
                }
            ],
        ),
    ),
    _no_schemas(
        "vLLM: schema that the grammar back-end does not support",
        Reply(400, {"object": "error", "message": "Grammar error: Unimplemented keys: ['maxItems']"}),
    ),
    _no_forms(
        "OpenAI, older model: json_schema, then json_object not supported",
        error(400, "Invalid parameter: 'response_format' is not supported with this model."),
    ),
    _no_forms(
        "LM Studio: response_format.type must be json_schema or text, after a schema it cannot take",
        Reply(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}),
    ),
    _no_forms(
        "OpenRouter: 404 for parameters that no provider of the model has",
        error(404, "No endpoints found that can handle the requested parameters.", code=404),
    ),
    _no_schemas(
        "OpenRouter: provider's refusal passed on in metadata",
        error(400, "Provider returned error", metadata={"raw": '{"error":{"message":"json_schema not supported"}}'}),
    ),
    _no_schemas(
        "proxy: refusal of the form inside a 200",
        Reply(200, {"error": {"code": 400, "message": "response_format: json_schema unsupported"}}),
    ),
    _no_schemas(
        "vLLM behind a proxy: refusal without a status inside a 200",
        Reply(200, {"object": "error", "message": "guided decoding failed: grammar", "code": None}),
    ),
    _no_schemas("gateway: 400 without a word", Reply(400, "")),
    # Parameters
    Answered(
        "OpenAI, reasoning model: max_tokens renamed",
        _when(
            lambda seen: "max_tokens" in seen.body,
            error(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.",
                param="max_tokens",
            ),
        ),
        (2, 1),
        lacks=("max_tokens",),
    ),
    Answered(
        "OpenAI, reasoning model: temperature fixed at 1",
        _when(
            lambda seen: seen.body.get("temperature", 1) != 1,
            error(400, "Unsupported value: 'temperature' does not support 0.0 with this model.", param="temperature"),
        ),
        (2, 1),
        lacks=("temperature",),
    ),
    Answered(
        "Anthropic through LiteLLM: temperature deprecated",
        _when(lambda seen: "temperature" in seen.body, error(400, _ANTHROPIC_THROUGH_LITELLM, code="400")),
        (2, 1),
        lacks=("temperature",),
    ),
    Answered(
        "temperature left out by a setting",
        _when(lambda seen: "temperature" in seen.body, error(400, "no")),
        lacks=("temperature",),
        settings={"temperature": "none"},
    ),
    Answered(
        "Gemini: unknown field seed",
        _when(
            lambda seen: "seed" in seen.body,
            Reply(400, [{"error": {"code": 400, "message": 'Invalid JSON payload received. Unknown name "seed"'}}]),
        ),
        (2, 1),
        lacks=("seed",),
        settings={"seed": 7},
    ),
    Answered(
        "reasoning effort of a model that does not reason",
        _when(
            lambda seen: "reasoning_effort" in seen.body,
            error(400, "Unrecognized request argument supplied: reasoning_effort"),
        ),
        (2, 1),
        lacks=("reasoning_effort",),
        settings={"reasoning_effort": "low"},
    ),
    Answered(
        "OpenAI: limit of answer tokens",
        _most_tokens("max_tokens is too large: {asked}. This model supports at most 4096 completion tokens.", 4096),
        (2, 1),
    ),
    Answered(
        "Anthropic: limit of answer tokens",
        _most_tokens("max_tokens: {asked} > 4096, which is the maximum allowed number of output tokens for m", 4096),
        (2, 1),
    ),
    Answered(
        "DeepSeek: range of max_tokens",
        _most_tokens("Invalid max_tokens value, the valid range is [1, 4096]", 4096),
        (2, 1),
    ),
    Answered("Gemma: no system role", _no_system, (2, 1)),
    Answered("Qwen: answers only in a stream", _stream_only, (2, 1)),
    Answered(
        "vLLM, validation: extra field",
        _when(
            lambda seen: "seed" in seen.body,
            Reply(400, {"object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'seed')}]"}),
        ),
        (2, 1),
        lacks=("seed",),
        settings={"seed": 7},
    ),
    Answered(
        "FastAPI: list of validation errors in detail",
        _when(
            lambda seen: "temperature" in seen.body,
            Reply(422, {"detail": [{"loc": ["body", "temperature"], "msg": "extra fields not permitted"}]}),
        ),
        (2, 1),
        lacks=("temperature",),
    ),
    Answered(
        "Anthropic: temperature and top_p both refused for a thinking model",
        _when(
            lambda seen: seen.body.get("temperature", 1) != 1,
            Reply(
                400,
                {
                    "type": "error",
                    "error": {
                        "type": "invalid_request_error",
                        "message": "`temperature` may only be set to 1 when thinking is enabled.",
                    },
                },
            ),
        ),
        (2, 1),
        lacks=("temperature",),
    ),
    Answered(
        "Bedrock: range of max_tokens in words",
        _most_tokens(
            "The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower value.", 4096
        ),
        (2, 1),
    ),
    Answered(
        "Gemini: maxOutputTokens out of range",
        lambda seen: (
            Reply(
                400,
                [
                    {
                        "error": {
                            "code": 400,
                            "message": "Unable to submit request because it has a maxOutputTokens value of "
                            f"{seen.most} but the supported range is from 1 (inclusive) to 4097 (exclusive).",
                        }
                    }
                ],
            )
            if seen.most > 4096
            else None
        ),
        (2, 1),
    ),
    # Addresses
    Answered(
        "Azure: api-version in the base URL, key in a header of its own",
        _azure,
        settings={"path": "/openai/deployments/small?api-version=2024-10-21"},
    ),
    Answered(
        "full address of chat completions as base URL", lambda seen: None, settings={"path": "/v1/chat/completions"}
    ),
    # Contents
    Answered("DeepSeek, QwQ: thought without an opening mark", lambda seen: said(f"{_THOUGHT}\n</think>\n\n{GOOD}")),
    Answered("Qwen: thought between marks", lambda seen: said(f"<think>{_THOUGHT}</think>{GOOD}")),
    Answered("thought between <thinking> marks", lambda seen: said(f"<thinking>{_THOUGHT}</thinking>\n{GOOD}")),
    Answered("Magistral: thought between [THINK] marks", lambda seen: said(f"[THINK]{_THOUGHT}[/THINK]{GOOD}")),
    Answered(
        "gpt-oss: channels",
        lambda seen: said(
            f"<|channel|>analysis<|message|>{_THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}"
        ),
    ),
    Answered(
        "Mistral: content as a list of parts",
        lambda seen: said(
            [{"type": "thinking", "thinking": [{"type": "text", "text": _THOUGHT}]}, {"type": "text", "text": GOOD}]
        ),
    ),
    Answered("BOM before the answer", lambda seen: said(f"\ufeff{GOOD}")),
    Answered("code fence, then prose with braces", lambda seen: said(f"```json\n{GOOD}\n```\nI hope {{this}} helps!")),
    Answered(
        "Qwen, Hermes: tool call as text",
        lambda seen: said(f'<tool_call>\n{{"name": "weighing", "arguments": {GOOD}}}\n</tool_call>'),
    ),
    Answered(
        "tool call with an object for arguments",
        lambda seen: said(
            None, "tool_calls", tool_calls=[{"function": {"name": "json", "arguments": json.loads(GOOD)}}]
        ),
    ),
    Answered("template's end mark left in the answer", lambda seen: said(f"{GOOD}<|im_end|>")),
    Answered("choices in capitals", lambda seen: said(GOOD.replace('"for"', '"FOR"').replace("against", "Against"))),
    Answered("numbers as strings", lambda seen: said(re.sub(r": ?(\d+)", r': "\1"', GOOD))),
    Answered("trailing commas", lambda seen: said(GOOD.replace("}]", "},]"))),
    Answered("older API: whole answer in `reasoning`", lambda seen: said("", reasoning=GOOD)),
    Answered(
        "content parts without a type, empty ones among them",
        lambda seen: said([{"text": ""}, {"type": "output_text", "text": GOOD}]),
    ),
    Answered(
        "empty content at the length limit, then an answer",
        lambda seen: said("", "length") if seen.number == 1 else None,
        (2, 1),
    ),
    Answered(
        "NaN for a number, then an answer",
        lambda seen: said(re.sub(r"\d+", "NaN", GOOD, count=0)) if seen.number == 1 else None,
        (2, 1),
    ),
    Answered(
        "a key twice in one object, then an answer",
        lambda seen: said(GOOD[:-1] + ',"remark":"Another."}') if seen.number == 1 else None,
        (2, 1),
    ),
    Answered("vLLM: whole answer in reasoning_content", lambda seen: said(None, reasoning_content=GOOD)),
    Answered(
        "proxy: answer as a tool call",
        lambda seen: said(
            None, "tool_calls", tool_calls=[{"id": "1", "function": {"name": "json", "arguments": GOOD}}]
        ),
    ),
    Answered("proxy: stream to everyone", _stream, prompt_tokens=9),
    Answered(
        "usage as fractions",
        lambda seen: said(GOOD, usage={"prompt_tokens": 10.5, "completion_tokens": 3.2}),
        prompt_tokens=10,
    ),
    Answered("usage as nulls", lambda seen: said(GOOD, usage={"prompt_tokens": None, "completion_tokens": None})),
    # Trouble that passes
    Answered(
        "OpenRouter: rate limit inside a 200",
        lambda seen: (
            Reply(200, {"error": {"message": "Provider returned error", "code": 429}}) if seen.number == 1 else None
        ),
        (2, 1),
    ),
    Answered(
        "llama.cpp: 503 while loading",
        lambda seen: error(503, "Loading model", code=503) if seen.number == 1 else None,
        (2, 1),
    ),
)

REFUSED = (
    Refused(
        "OpenAI: content filter",
        error(400, "The response was filtered due to the prompt triggering our content management policy."),
        "content filter refused.*triggering our content management policy",
        concerns_one=True,
    ),
    Refused(
        "OpenRouter: moderation",
        error(403, "Your chosen model requires moderation and your input was flagged for violence", code=403),
        "content filter refused.*your input was flagged",
        concerns_one=True,
    ),
    Refused(
        "Bedrock: too long, without a number",
        error(400, "Input is too long for requested model."),
        "longer than model 'm' takes.*Input is too long for requested model",
        concerns_one=True,
    ),
    Refused(
        "Gemini: prompt blocked, inside a 200",
        Reply(200, {"error": {"code": 400, "message": "The prompt was blocked: content_filter"}}),
        "content filter refused.*prompt was blocked",
        concerns_one=True,
    ),
    Refused(
        "OpenAI: quota, with the status of a rate limit",
        error(429, "You exceeded your current quota", code="insufficient_quota"),
        "no quota.*exceeded your current quota",
    ),
    Refused(
        "proxy: error as a bare string inside a 200",
        Reply(200, {"error": "model 'm' not found: model_not_found", "code": 404}),
        "m' not found",
    ),
    Refused(
        "OpenRouter: credits", error(402, "This request requires more credits", code=402), "no quota.*more credits"
    ),
    Refused(
        "Anthropic: credits",
        Reply(
            400,
            {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}},
        ),
        "no quota.*credit balance is too low",
    ),
    Refused(
        "Gemini: key", Reply(400, [{"error": {"code": 400, "message": "API key not valid."}}]), "refuses the API key"
    ),
    Refused(
        "Ollama: model", error(404, 'model "m" not found, try pulling it first'), "does not know.*try pulling it first"
    ),
    Refused("wrong path", Reply(404, {"detail": "Not Found"}), "no chat completions API.*Not Found.*BASE_URL"),
)
