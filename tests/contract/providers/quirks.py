"""Quirks of providers, from their documents and from public reports of users."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.contract.providers.imitation import GOOD, ProviderRequest, Quirk, Reply, build_error


@dataclass(frozen=True)
class AnsweredQuirk:
    """A quirk that the user does not notice: every question is answered."""

    name: str
    quirk: Quirk
    sends: tuple[int, int] = (1, 1)
    """Requests for the first question, and for the second: what was learnt is not asked again."""
    lacks: tuple[str, ...] = ()
    """Parameters that the last request lacks."""
    form: str = "json_schema"
    """Form of structured output in the last request; empty if the prompt alone asks for JSON."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the gateway; `path` is appended to the address."""
    prompt_tokens: int | None = None
    """Tokens on record for the first question, where the quirk concerns them."""


def _reply_when(condition: Any, reply: Reply) -> Quirk:
    return lambda request: reply if condition(request) else None


def _has_schema(request: ProviderRequest) -> bool:
    return request.form == "json_schema"


def _has_form(request: ProviderRequest) -> bool:
    return bool(request.form)


def _refuse_schemas(name: str, reply: Reply) -> AnsweredQuirk:
    """Return the quirk that refuses answers by a JSON schema; JSON without one is asked for from then on."""
    return AnsweredQuirk(name, _reply_when(_has_schema, reply), (2, 1), form="json_object")


def _refuse_forms(name: str, reply: Reply) -> AnsweredQuirk:
    """Return the quirk that refuses every form of structured output; instructions in the prompt are left."""
    return AnsweredQuirk(name, _reply_when(_has_form, reply), (3, 1), form="")


def _refuse_other_paths_than_azure(request: ProviderRequest) -> Reply | None:
    if request.path != "/openai/deployments/small/chat/completions" or "api-version" not in request.query:
        return Reply(404, {"error": {"code": "404", "message": "Resource not found"}})
    if request.headers.get("api-key") != "sk-test-very-secret":
        return Reply(401, {"error": {"code": "401", "message": "Access denied due to invalid subscription key"}})
    return None


def _limit_tokens(words: str, max_tokens: int) -> Quirk:
    return lambda request: (
        build_error(400, words.format(asked=request.max_output_tokens))
        if request.max_output_tokens > max_tokens
        else None
    )


def reply_streamed(request: ProviderRequest) -> Reply:
    pieces = [
        {"choices": [{"delta": {"content": GOOD[start : start + 40]}, "finish_reason": None}]}
        for start in range(0, 999, 40)
    ]
    events = [
        *pieces,
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 9}},
    ]
    lines = [": OPENROUTER PROCESSING", *(f"data: {json.dumps(event)}" for event in events), "data: [DONE]"]
    return Reply(200, "\n\n".join(lines), "text/event-stream")


def _require_streaming(request: ProviderRequest) -> Reply:
    if request.body.get("stream"):
        return reply_streamed(request)
    return build_error(
        400, "This model only support stream mode, please enable the stream parameter to access the model."
    )


def _require_system_text(request: ProviderRequest) -> Reply | None:
    if request.body["messages"][0]["role"] == "system":
        return build_error(400, "Conversation roles must alternate user/assistant: System role not supported")
    return (
        None
        if "You weigh statements" in request.body["messages"][0]["content"]
        else build_error(400, "no instructions")
    )


_ANTHROPIC_THROUGH_LITELLM = (
    'litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: '
    '{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"`temperature` is deprecated for this model.\\"}"}'
)

ANSWERED = (
    # Structured output
    _refuse_schemas(
        "llama.cpp: grammar cannot be parsed",
        build_error(400, "Failed to initialize samplers: failed to parse grammar"),
    ),
    _refuse_schemas(
        "llama.cpp, older: the same with status 500",
        build_error(500, "JSON schema conversion failed:\nUnrecognized schema: error parsing grammar"),
    ),
    _refuse_schemas(
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
    _refuse_schemas(
        "vLLM: schema that the grammar back-end does not support",
        Reply(400, {"object": "error", "message": "Grammar error: Unimplemented keys: ['maxItems']"}),
    ),
    _refuse_forms(
        "OpenAI, older model: json_schema, then json_object not supported",
        build_error(400, "Invalid parameter: 'response_format' is not supported with this model."),
    ),
    _refuse_forms(
        "LM Studio: response_format.type must be json_schema or text, after a schema it cannot take",
        Reply(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}),
    ),
    _refuse_forms(
        "OpenRouter: 404 for parameters that no provider of the model has",
        build_error(404, "No endpoints found that can handle the requested parameters.", code=404),
    ),
    _refuse_schemas(
        "OpenRouter: provider's refusal passed on in metadata",
        build_error(
            400, "Provider returned error", metadata={"raw": '{"error":{"message":"json_schema not supported"}}'}
        ),
    ),
    _refuse_schemas(
        "proxy: refusal of the form inside a 200",
        Reply(200, {"error": {"code": 400, "message": "response_format: json_schema unsupported"}}),
    ),
    _refuse_schemas(
        "vLLM behind a proxy: refusal without a status inside a 200",
        Reply(200, {"object": "error", "message": "guided decoding failed: grammar", "code": None}),
    ),
    _refuse_schemas("xAI, Anthropic: schema is too complex", build_error(400, "Schema is too complex for this model.")),
    _refuse_schemas(
        "Anthropic: keyword that its output format lacks",
        Reply(
            400,
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "output_config.format.schema: For 'array' type, property 'maxItems' is not supported",
                },
            },
        ),
    ),
    _refuse_schemas(
        "Cloudflare: errors in a list of their own",
        Reply(400, {"errors": [{"message": "AiError: JSON mode cannot be met", "code": 5024}], "success": False}),
    ),
    _refuse_schemas("proxy: refusal as plain text", Reply(400, "guided_json is not available", "text/plain")),
    _refuse_schemas("gateway: 400 without a word", Reply(400, "")),
    # Parameters
    AnsweredQuirk(
        "OpenAI, reasoning model: max_tokens renamed",
        _reply_when(
            lambda seen: "max_tokens" in seen.body,
            build_error(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.",
                param="max_tokens",
            ),
        ),
        (2, 1),
        lacks=("max_tokens",),
    ),
    AnsweredQuirk(
        "OpenAI, reasoning model: temperature fixed at 1",
        _reply_when(
            lambda seen: seen.body.get("temperature", 1) != 1,
            build_error(
                400, "Unsupported value: 'temperature' does not support 0.0 with this model.", param="temperature"
            ),
        ),
        (2, 1),
        lacks=("temperature",),
    ),
    AnsweredQuirk(
        "Anthropic through LiteLLM: temperature deprecated",
        _reply_when(lambda seen: "temperature" in seen.body, build_error(400, _ANTHROPIC_THROUGH_LITELLM, code="400")),
        (2, 1),
        lacks=("temperature",),
    ),
    AnsweredQuirk(
        "temperature left out by a setting",
        _reply_when(lambda seen: "temperature" in seen.body, build_error(400, "no")),
        lacks=("temperature",),
        settings={"temperature": "none"},
    ),
    AnsweredQuirk(
        "Gemini: unknown field seed",
        _reply_when(
            lambda seen: "seed" in seen.body,
            Reply(400, [{"error": {"code": 400, "message": 'Invalid JSON payload received. Unknown name "seed"'}}]),
        ),
        (2, 1),
        lacks=("seed",),
        settings={"seed": 7},
    ),
    AnsweredQuirk(
        "reasoning effort of a model that does not reason",
        _reply_when(
            lambda seen: "reasoning_effort" in seen.body,
            build_error(400, "Unrecognized request argument supplied: reasoning_effort"),
        ),
        (2, 1),
        lacks=("reasoning_effort",),
        settings={"reasoning_effort": "low"},
    ),
    AnsweredQuirk(
        "OpenAI: limit of answer tokens",
        _limit_tokens("max_tokens is too large: {asked}. This model supports at most 4096 completion tokens.", 4096),
        (2, 1),
    ),
    AnsweredQuirk(
        "Anthropic: limit of answer tokens",
        _limit_tokens("max_tokens: {asked} > 4096, which is the maximum allowed number of output tokens for m", 4096),
        (2, 1),
    ),
    AnsweredQuirk(
        "DeepSeek: range of max_tokens",
        _limit_tokens("Invalid max_tokens value, the valid range is [1, 4096]", 4096),
        (2, 1),
    ),
    AnsweredQuirk("Gemma: no system role", _require_system_text, (2, 1)),
    AnsweredQuirk("Qwen: answers only in a stream", _require_streaming, (2, 1)),
    AnsweredQuirk(
        "vLLM, validation: extra field",
        _reply_when(
            lambda seen: "seed" in seen.body,
            Reply(400, {"object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'seed')}]"}),
        ),
        (2, 1),
        lacks=("seed",),
        settings={"seed": 7},
    ),
    AnsweredQuirk(
        "FastAPI: list of validation errors in detail",
        _reply_when(
            lambda seen: "temperature" in seen.body,
            Reply(422, {"detail": [{"loc": ["body", "temperature"], "msg": "extra fields not permitted"}]}),
        ),
        (2, 1),
        lacks=("temperature",),
    ),
    AnsweredQuirk(
        "Anthropic: temperature and top_p both refused for a thinking model",
        _reply_when(
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
    AnsweredQuirk(
        "Bedrock: range of max_tokens in words",
        _limit_tokens(
            "The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower value.", 4096
        ),
        (2, 1),
    ),
    AnsweredQuirk(
        "Gemini: maxOutputTokens out of range",
        lambda seen: (
            Reply(
                400,
                [
                    {
                        "error": {
                            "code": 400,
                            "message": "Unable to submit request because it has a maxOutputTokens value of "
                            f"{seen.max_output_tokens} but the supported range is from 1 (inclusive) "
                            "to 4097 (exclusive).",
                        }
                    }
                ],
            )
            if seen.max_output_tokens > 4096
            else None
        ),
        (2, 1),
    ),
    # Addresses
    AnsweredQuirk(
        "Azure: api-version in the base URL, key in a header of its own",
        _refuse_other_paths_than_azure,
        settings={"path": "/openai/deployments/small?api-version=2024-10-21"},
    ),
    AnsweredQuirk(
        "full address of chat completions as base URL", lambda seen: None, settings={"path": "/v1/chat/completions"}
    ),
)
