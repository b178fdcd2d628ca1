"""Settings of the LLM gateway; the composition root reads them and hands them over."""

import hashlib
from typing import Annotated, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from assayer.errors import ConfigurationError
from assayer.models import Frozen
from assayer.models.llm import Tier

__all__ = ["ConcurrencySettings", "LlmBatchSettings", "LlmSettings", "Price", "StructuredSetting"]

StructuredSetting = Literal["auto", "json_schema", "json_object"]
Seconds = Annotated[float, Field(gt=0)]
Usd = Annotated[float, Field(ge=0)]


class Price(NamedTuple):
    """US dollars per million tokens."""

    input: Usd
    output: Usd

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


class ConcurrencySettings(Frozen):
    """Calls in flight: where to begin (never above `max`), and the most that adapting may reach. Of all processes of a
    service together."""

    start: int = Field(default=32, ge=1)
    max: int = Field(default=512, ge=1)


class LlmBatchSettings(Frozen):
    """Calls that may wait, sent as files to the endpoint's `/batches` at a lower price."""

    enabled: bool = False
    """Whether the endpoint has `/files` and `/batches`. Without, overnight work asks it live."""
    price_share: float = Field(default=0.5, gt=0, le=1)
    """What a token costs in a batch over what it costs live."""
    window: str = Field(default="24h", pattern=r"^[1-9][0-9]{0,3}[hd]$")
    """The completion window asked of the endpoint; most offer one."""
    deadline_seconds: Seconds = 28_800.0
    """From a job's submission; then the live endpoint takes over what is still to be asked. Eight hours."""
    gather_seconds: float = Field(default=60.0, ge=0)
    """A batch is sent when no call has joined it for so long."""
    longest_gather_seconds: Seconds = 600.0
    """Or when its first call has waited so long."""
    poll_seconds: Seconds = 30.0
    """Between two looks at the batches that are out."""
    cancel_seconds: Seconds = 900.0
    """How long a batch that is cancelled for the deadline may take to say what it has done."""
    most_requests: int = Field(default=10_000, ge=1)
    """Of one file. OpenAI takes 50,000."""
    most_bytes: int = Field(default=100_000_000, ge=100_000)
    """Of one file. OpenAI takes 200 MB."""
    evaluations_at_once: int = Field(default=200, ge=1, le=5_000)
    """Overnight jobs that one process has in hand: they wait side by side, so that their calls fill common batches."""


class LlmSettings(Frozen):
    """An OpenAI-compatible endpoint and how to treat it."""

    base_url: str
    """Up to and with the version: `https://api.openai.com/v1`, `http://localhost:8000/v1`."""
    api_key: SecretStr = SecretStr("")
    """Empty for servers that ask for none."""
    model: str = Field(min_length=1)
    endpoint_name: str = ""
    """Under which its answers are kept. Empty: its address. An endpoint that moves keeps its answers by a name."""
    keep_messages: bool = True
    """Store what was sent with each answer, compressed, so that people can read how a report was made."""
    fast_model: str | None = None
    """Answers the tasks of the `fast` tier; None leaves them to `model`."""
    judge_model: str | None = None
    """Gives rewards, so that no model judges what it wrote itself; None leaves them to `model`."""
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    """None leaves it to the endpoint, for models that accept no temperature."""
    seed: int | None = None
    structured: StructuredSetting = "auto"
    """How JSON is asked for. `auto` begins with json_schema and steps down when the endpoint says it cannot."""
    max_answer_tokens: int = Field(default=16_000, ge=1)
    """How far a task's max_tokens may be raised after a truncated answer."""
    max_attempts: int = Field(default=8, ge=1)
    """Sends of one request before an endpoint that is down or rate limiting counts as unavailable."""
    repair_attempts: int = Field(default=2, ge=0)
    """How often a malformed answer is sent back with its errors."""
    request_timeout_seconds: Seconds = 180.0
    connect_timeout_seconds: Seconds = 10.0
    backoff_initial_seconds: Seconds = 0.5
    backoff_max_seconds: Seconds = 30.0
    retry_after_max_seconds: Seconds = 120.0
    """An endpoint that asks to wait longer counts as unavailable."""
    connection_max_age_seconds: Seconds = 3_600.0
    """Connections are replaced after this long: long-lived ones have been seen to die unnoticed."""
    concurrency: ConcurrencySettings = ConcurrencySettings()
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """That the endpoint may be sent and may write for all processes of a service together. None: no such limit."""
    batch: LlmBatchSettings = LlmBatchSettings()
    prices: dict[str, Price] = Field(default_factory=dict)
    """By model name. None are built in, since prices change; a model without one has unknown cost."""

    @field_validator("base_url")
    @classmethod
    def _web_address(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://, e.g. https://api.openai.com/v1")
        urlsplit(value).port  # noqa: B018 - raises ValueError for a port that is none
        return value.rstrip("/")

    @property
    def endpoint(self) -> str:
        """What tells the endpoint from others with models of the same names: its name, or its address without
        credentials."""
        if self.endpoint_name:
            return self.endpoint_name
        parts = urlsplit(self.base_url)
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
        return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"

    @property
    def result_inputs(self) -> dict[str, object]:
        """What of the endpoint determines results beside its models. Its address only as a digest: results are
        stored with it, and it may be nobody's business."""
        endpoint = hashlib.sha256(self.endpoint.encode()).hexdigest()[:16]
        return {"endpoint": endpoint, **self.model_dump(include={"temperature", "seed", "max_answer_tokens"})}

    def model_for(self, tier: Tier) -> str:
        own = {"fast": self.fast_model, "strong": None, "judge": self.judge_model}[tier]
        return own or self.model

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that some tier maps to, the strong one first."""
        return tuple(dict.fromkeys((self.model, self.model_for("fast"), self.model_for("judge"))))

    def require_prices(self, *models: str) -> None:
        """Raises ConfigurationError unless the cost of each one's answers can be told."""
        for model in dict.fromkeys(models):
            if model not in self.prices:
                raise ConfigurationError(
                    f"The budget is in US dollars, but the price of model {model!r} is not known.",
                    "Set it, in dollars per million tokens of input and output: "
                    f"ASSAYER_LLM__PRICES='{{\"{model}\": [2.0, 8.0]}}'; or limit prompt tokens instead.",
                )
