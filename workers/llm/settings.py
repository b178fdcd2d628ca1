"""Settings for the LLM gateway, which the composition root reads and passes on."""

import hashlib
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from assayer.errors import ConfigurationError
from assayer.models import Frozen
from assayer.models.llm import GpuSpeed, Tier

StructuredSetting = Literal["auto", "json_schema", "json_object", "prompt"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high"]
Seconds = Annotated[float, Field(gt=0)]
Usd = Annotated[float, Field(ge=0)]
KEY_VARIABLE = "ASSAYER_LLM__API_KEY"
"""Variable of the API key, unless the key comes from a provider's own variable."""


class Price(NamedTuple):
    """Price in US dollars per million tokens."""

    input: Usd
    output: Usd

    def compute_cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


class ConcurrencySettings(Frozen):
    """Start value (capped at `max`) and maximum of the adaptive limit on requests in flight, across all of a service's
    processes."""

    start: int = Field(default=32, ge=1)
    max: int = Field(default=512, ge=1)
    """Maximum number of requests in flight."""


class LlmBatchSettings(Frozen):
    """Settings for calls that can wait. They are sent as files to the endpoint's `/batches`, at a lower price."""

    enabled: bool = False
    """Whether the endpoint has `/files` and `/batches`. If not, batch work uses the live endpoint."""
    price_share: float = Field(default=0.5, gt=0, le=1)
    """Price of a token in a batch, as a share of its live price."""
    window: str = Field(default="24h", pattern=r"^[1-9][0-9]{0,3}[hd]$")
    """Completion window requested from the endpoint; most endpoints offer only one."""
    deadline_seconds: Seconds = 28_800.0
    """Seconds from a job's submission until the live endpoint takes over its remaining requests. Default: eight
    hours."""
    gather_seconds: float = Field(default=60.0, ge=0)
    """Seconds without a new call after which a batch is sent."""
    longest_gather_seconds: Seconds = 600.0
    """Seconds after a batch's first call when it is sent even if calls are still joining it."""
    poll_seconds: Seconds = 30.0
    """Seconds between two status checks of batches in flight."""
    cancel_seconds: Seconds = 900.0
    """Seconds that a batch has to report completed results after it was cancelled at the deadline."""
    most_requests: int = Field(default=10_000, ge=1)
    """Maximum number of requests in one file. OpenAI accepts 50,000."""
    most_bytes: int = Field(default=100_000_000, ge=100_000)
    """Maximum size of one file in bytes. OpenAI accepts 200 MB."""
    evaluations_at_once: int = Field(default=200, ge=1, le=5_000)
    """Maximum number of batch jobs that one process runs concurrently. Their calls then share batches."""


class LlmSettings(Frozen):
    """Settings for an OpenAI-compatible endpoint and its models."""

    base_url: str
    """Base URL including the version, such as `https://api.openai.com/v1` or `http://localhost:8000/v1`. A query, such
    as Azure's `?api-version=`, is sent with every request."""
    api_key: SecretStr = SecretStr("")
    """API key; empty for servers that require none."""
    key_variable: str = KEY_VARIABLE
    """Variable that the API key comes from, for messages."""
    model: str = Field(min_length=1)
    """Model: `PROVIDER/NAME`, or a name that the endpoint serves."""
    endpoint_name: str = ""
    """Name under which the endpoint's answers are cached; if empty, its URL. With a name, cached answers stay valid
    when the URL changes."""
    keep_messages: bool = True
    """Whether to store the compressed messages with each answer, so that people can see how a report was made."""
    fast_model: str | None = None
    """Model for tasks in the `fast` tier; None means `model`."""
    judge_model: str | None = None
    """Model that assigns rewards, so that no model judges its own output; None means `model`."""
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    """Sampling temperature; `none` omits it, for models that do not accept one."""
    reasoning_effort: ReasoningEffort | None = None
    """Reasoning effort requested from reasoning models; None leaves the choice to the model."""
    context_tokens: int | None = Field(default=None, ge=1_024)
    """The models' context window in tokens. If None, it is found out from the endpoint or its refusals. Prompts that do
    not fit are cut."""
    seed: int | None = None
    structured: StructuredSetting = "auto"
    """Method of requesting JSON. `auto` starts with json_schema and falls back if the endpoint does not support it;
    `prompt` relies only on instructions in the prompt."""
    max_answer_tokens: int = Field(default=16_000, ge=1)
    """Maximum number of tokens in an answer. It caps each task's limit, including after a truncated answer, when a
    task's limit is raised."""
    bounded_answers: bool = False
    """Whether to limit the length of every text and list in an answer through its schema, for small models, whose
    answers often ramble. Only for servers that compile schemas to grammars, such as llama.cpp."""
    max_attempts: int = Field(default=8, ge=1)
    """Maximum number of times a request is sent before an endpoint that is down or rate limited counts as
    unavailable."""
    repair_attempts: int = Field(default=2, ge=0)
    """Maximum number of times a malformed answer is sent back with its errors. A truncated answer is requested one more
    time."""
    request_timeout_seconds: Seconds = 180.0
    """Maximum seconds for one answer."""
    connect_timeout_seconds: Seconds = 10.0
    backoff_initial_seconds: Seconds = 0.5
    backoff_max_seconds: Seconds = 30.0
    retry_after_max_seconds: Seconds = 120.0
    """Longest wait, in seconds, accepted from an endpoint. One that asks for a longer wait counts as unavailable."""
    concurrency: ConcurrencySettings = ConcurrencySettings()
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """Maximum number of tokens per minute (prompt and completion), across all of a service's processes; None: no
    limit."""
    batch: LlmBatchSettings = LlmBatchSettings()
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices by model name, in addition to those in `providers.toml`. A model without a price has an unknown cost."""
    gpu_speeds: dict[str, GpuSpeed] = Field(default_factory=dict)
    """Prompt and answer tokens per second of one busy GPU, by model name. Estimates state GPU-hours if the speeds of
    all models in use are set."""

    @field_validator("base_url")
    @classmethod
    def _check_base_url(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://, e.g. https://api.openai.com/v1")
        parts = urlsplit(value)
        parts.port  # noqa: B018 - raises ValueError for an invalid port
        return parts._replace(path=parts.path.rstrip("/").removesuffix("/chat/completions")).geturl()

    @field_validator("temperature", mode="before")
    @classmethod
    def _parse_temperature(cls, value: object) -> object:
        return None if isinstance(value, str) and value.strip().lower() in {"none", "null", ""} else value

    @property
    def variable_in_use(self) -> str:
        """Return the variable that holds the API key; empty if no key is set."""
        return self.key_variable if self.api_key.get_secret_value() else ""

    @property
    def endpoint(self) -> str:
        """Return the endpoint's identity, which distinguishes it from others whose models have the same names: its name
        or, if it has none, its URL without credentials."""
        if self.endpoint_name:
            return self.endpoint_name
        parts = urlsplit(self.base_url)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"

    @property
    def result_inputs(self) -> dict[str, object]:
        """Return the endpoint settings, besides its models, that determine results. The URL is included only as a
        digest, because it is stored with the results and may be confidential."""
        endpoint = hashlib.sha256(self.endpoint.encode()).hexdigest()[:16]
        inputs = self.model_dump(include={"temperature", "seed", "max_answer_tokens"})
        return {"endpoint": endpoint, **inputs, **self.optional_inputs}

    @property
    def optional_inputs(self) -> dict[str, object]:
        """Return settings that determine answers but are included only if they are set, so that stored answers stay
        valid."""
        return {
            **({} if self.reasoning_effort is None else {"reasoning_effort": self.reasoning_effort}),
            **({"bounded_answers": True} if self.bounded_answers else {}),
        }

    def get_model_for(self, tier: Tier) -> str:
        tier_model = {"fast": self.fast_model, "strong": None, "judge": self.judge_model}[tier]
        return tier_model or self.model

    @property
    def models(self) -> tuple[str, ...]:
        """Return all models in use, without duplicates, starting with the strong model."""
        return tuple(dict.fromkeys((self.model, self.get_model_for("fast"), self.get_model_for("judge"))))

    def require_prices(self, *models: str) -> None:
        """Raise ConfigurationError unless each of the models has a price."""
        for model in dict.fromkeys(models):
            if model not in self.prices:
                raise ConfigurationError(
                    f"The budget is in US dollars, but the price of model {model!r} is unknown.",
                    "Set the price in US dollars per million input and output tokens, as in "
                    f"ASSAYER_LLM__PRICES='{{\"{model}\": [2.0, 8.0]}}', or limit prompt tokens instead.",
                )
