"""Refusals of providers, gateways and proxies, each with what the user sees. None is repeated."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.contract.providers.imitation import Reply, build_error, build_events, build_web_page


@dataclass(frozen=True)
class RefusedQuirk:
    """A quirk that costs the answer: the user sees why, in the provider's own words."""

    name: str
    reply: Reply
    sees: str
    """Regular expression of the message and its hint."""
    concerns_one: bool = False
    """Whether it concerns this question alone, so that the evaluation goes on."""
    form: str = ""
    sends: int = 1
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of the gateway."""


REFUSED = (
    RefusedQuirk(
        "OpenAI: content filter",
        build_error(400, "The response was filtered due to the prompt triggering our content management policy."),
        "content filter refused.*triggering our content management policy",
        concerns_one=True,
    ),
    RefusedQuirk(
        "OpenRouter: moderation",
        build_error(403, "Your chosen model requires moderation and your input was flagged for violence", code=403),
        "content filter refused.*your input was flagged",
        concerns_one=True,
    ),
    RefusedQuirk(
        "Bedrock: too long, without a number",
        build_error(400, "Input is too long for requested model."),
        "longer than model 'm' accepts.*Input is too long for requested model",
        concerns_one=True,
    ),
    RefusedQuirk(
        "Gemini: prompt blocked, inside a 200",
        Reply(200, {"error": {"code": 400, "message": "The prompt was blocked: content_filter"}}),
        "content filter refused.*prompt was blocked",
        concerns_one=True,
    ),
    RefusedQuirk(
        "OpenAI: quota, with the status of a rate limit",
        build_error(429, "You exceeded your current quota", code="insufficient_quota"),
        "no quota.*exceeded your current quota",
    ),
    RefusedQuirk(
        "proxy: error as a bare string inside a 200",
        Reply(200, {"error": "model 'm' not found: model_not_found", "code": 404}),
        "m' not found",
    ),
    RefusedQuirk(
        "AWS: message with a capital letter",
        Reply(403, {"Message": "User is not authorized to access this resource"}),
        "does not have permission to use model 'm'",
    ),
    RefusedQuirk(
        "Baidu: names of its own",
        Reply(400, {"error_code": 336003, "error_msg": "the max input characters is 20000"}),
        "max input characters is 20000",
    ),
    RefusedQuirk(
        "nginx: request too large, as a page",
        Reply(413, "<html><head><title>413 Request Entity Too Large</title></head></html>", "text/html"),
        r"\(413: 413 Request Entity Too Large\)",
        concerns_one=True,
    ),
    RefusedQuirk(
        "OpenRouter: credits",
        build_error(402, "This request requires more credits", code=402),
        "no quota.*more credits",
    ),
    RefusedQuirk(
        "Anthropic: credits",
        Reply(
            400,
            {"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low"}},
        ),
        "no quota.*credit balance is too low",
    ),
    RefusedQuirk(
        "Gemini: key", Reply(400, [{"error": {"code": 400, "message": "API key not valid."}}]), "rejected the API key"
    ),
    RefusedQuirk(
        "Ollama: model",
        build_error(404, 'model "m" not found, try pulling it first'),
        "does not know.*try pulling it first",
    ),
    RefusedQuirk("wrong path", Reply(404, {"detail": "Not Found"}), "no chat completions API.*Not Found.*BASE_URL"),
    # Quotas that are used up
    RefusedQuirk(
        "OpenAI: spend limit of the project, with the status of a rate limit",
        build_error(429, "Your project has reached its limit.", code="project_spend_limit_exceeded"),
        "no quota.*has reached its limit.*Add credit",
    ),
    RefusedQuirk(
        "Anthropic: usage limit",
        Reply(400, {"error": {"message": "You have reached your specified API usage limits until 2099-01-01."}}),
        "no quota.*until 2099-01-01",
    ),
    RefusedQuirk(
        "Anthropic: spend cap, as a rate limit that does not pass",
        Reply(429, {"error": {"message": "No more.", "details": {"error_code": "enforced_spend_limit_reached"}}}),
        "no quota.*No more",
    ),
    RefusedQuirk(
        "Gemini: requests of the day, with a wait that does not help",
        Reply(
            429,
            {
                "error": {
                    "code": 429,
                    "message": "You exceeded your current quota. Please retry in 11.6s.",
                    "status": "RESOURCE_EXHAUSTED",
                    "details": [
                        {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
                        {"retryDelay": "11s"},
                    ],
                }
            },
        ),
        "no quota.*exceeded your current quota",
    ),
    RefusedQuirk(
        "OpenRouter: free requests of the day",
        build_error(429, "Rate limit exceeded: free-models-per-day.", code=429),
        "no quota.*free-models-per-day",
    ),
    RefusedQuirk(
        "LiteLLM: budget", build_error(400, "Budget has been exceeded! Max budget: 9.0"), "no quota.*Max budget: 9.0"
    ),
    RefusedQuirk(
        "Alibaba: arrears",
        build_error(400, "Keep your account in good standing.", code="Arrearage"),
        "no quota.*good standing",
    ),
    RefusedQuirk(
        "OpenRouter: limit of the key", build_error(403, "Key limit exceeded (total limit)."), "no quota.*Key limit"
    ),
    RefusedQuirk(
        "MiniMax: balance, inside a 200",
        Reply(200, {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
        "no quota.*insufficient balance",
    ),
    RefusedQuirk(
        "gateway: provider's JSON as a JSON string, with status 500",
        Reply(500, json.dumps(json.dumps({"error": {"message": "Your credit balance is too low"}}))),
        "no quota.*(500: Your credit balance is too low)",
    ),
    # Content filters
    RefusedQuirk(
        "Alibaba: inspection",
        build_error(400, "Input data may contain inappropriate content.", code="data_inspection_failed"),
        "content filter refused.*inappropriate content",
        concerns_one=True,
    ),
    RefusedQuirk(
        "xAI: usage guidelines, with status 403 and the error as a string",
        Reply(403, {"code": "The caller does not have permission", "error": "Content violates usage guidelines."}),
        "content filter refused.*violates usage guidelines",
        concerns_one=True,
    ),
    RefusedQuirk(
        "DeepSeek: risk",
        build_error(400, "Content Exists Risk"),
        "content filter refused.*Exists Risk",
        concerns_one=True,
    ),
    RefusedQuirk(
        "gateway: error that is `true`, with a message beside it",
        Reply(400, {"error": True, "message": "Blocked for reason: SAFETY"}),
        "content filter refused.*reason: SAFETY",
        concerns_one=True,
    ),
    RefusedQuirk(
        "Azure: content filter that is not set up",
        build_error(400, "Your request contains invalid content filter policy."),
        "refused the request for model 'm'.*invalid content filter policy",
    ),
    # Keys
    RefusedQuirk(
        "OpenAI: key from its users' own variable",
        build_error(401, "Incorrect API key provided: sk-ab**yz."),
        "rejected the API key .401.. Set OPENAI_API_KEY to a valid key",
        settings={"key_variable": "OPENAI_API_KEY"},
    ),
    RefusedQuirk(
        "no key is set",
        Reply(401, {"error": "Unauthorized"}),
        "needs an API key, but no API key is set .401.. Set ASSAYER_LLM__API_KEY",
        settings={"api_key": ""},
    ),
    RefusedQuirk(
        "OpenAI: country",
        build_error(403, "Country, region, or territory not supported"),
        "does not have permission.*(403: Country, region, or territory not supported).*key in ASSAYER_LLM__API_KEY",
    ),
    RefusedQuirk(
        "parts of a key are not quoted",
        build_error(403, "Key sk-abcdef**** may not use this."),
        "(403: Key … may not use this.)",
    ),
    RefusedQuirk(
        "LiteLLM: model that the key may not use, with status 401",
        build_error(401, "key not allowed to access model. This key can only access models=['a']"),
        "does not have permission to use model 'm'.*can only access models",
    ),
    RefusedQuirk(
        "Gemini: key expired, as JSON within the message",
        build_error(400, json.dumps({"error": {"code": 400, "message": "API key expired. Please renew the API key."}})),
        "rejected the API key",
    ),
    # Models
    *(
        RefusedQuirk(name, reply, f"does not know the model 'm' .{reply.status}: {quoted}")
        for name, quoted, reply in (
            (
                "Mistral: model",
                "Invalid model: m",
                Reply(400, {"message": "Invalid model: m", "type": "invalid_model"}),
            ),
            ("OpenRouter: model", "No endpoints found", build_error(404, "No endpoints found for example/m.")),
            ("DeepSeek: model", "Model Not Exist", build_error(400, "Model Not Exist")),
            ("Groq: model", "The model `m-4.1`", build_error(400, "The model `m-4.1` has been decommissioned.")),
            ("LM Studio: model", "No models loaded", build_error(404, "No models loaded. Please load a model.")),
            (
                "SiliconFlow: model",
                "Model does not exist",
                Reply(400, {"code": 20012, "message": "Model does not exist."}),
            ),
        )
    ),
    # Pages of proxies, and other forms
    RefusedQuirk(
        "proxy: page that blocks the address",
        build_web_page("Access Denied &ndash; Example Gateway", 403),
        "web page titled “Access Denied – Example Gateway” responded instead of .*403.*proxy.*HTTPS_PROXY",
    ),
    RefusedQuirk(
        "Perplexity: wrong key, as a page",
        build_web_page("401 Authorization Required", 401),
        "“401 Authorization Required” responded.*check the key in ASSAYER_LLM__API_KEY",
    ),
    RefusedQuirk(
        "nginx: page for a wrong path",
        build_web_page("404 Not Found", 404),
        "no chat completions API.*404: a web page titled “404 Not Found”.*BASE_URL",
    ),
    RefusedQuirk(
        "OpenRouter: model unknown, in a stream",
        build_events(": PROCESSING", {"error": {"code": 400, "message": "example/m is not a valid model ID"}}),
        "does not know the model 'm' .400: example/m is not a valid model ID",
    ),
    RefusedQuirk(
        "MiniMax: too long; the number is the error's code",
        build_error(400, "invalid params, context window exceeds limit (2013)", code="2013"),
        "longer than model 'm' accepts.*context window exceeds limit",
        concerns_one=True,
    ),
)
