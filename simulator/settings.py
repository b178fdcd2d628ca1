"""Settings of the simulator. Each is a command line flag and can be changed while it runs."""

from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

Rate = Annotated[float, Field(ge=0, le=1)]
"""Share of requests, 0 to 1."""

AnswerFault = Literal[
    "fenced",
    "preamble",
    "truncated",
    "invalid_json",
    "wrong_enum",
    "string_number",
    "brackets_in_strings",
    "missing_field",
    "extra_field",
    "empty",
    "refusal",
    "unknown_label",
    "trailing_comma",
    "respelled_choice",
]

ANSWER_FAULTS: tuple[AnswerFault, ...] = get_args(AnswerFault)

HARMLESS: frozenset[AnswerFault] = frozenset({"brackets_in_strings"})
"""Kinds that leave the answer valid."""


class Settings(BaseModel):
    """Behaviour of the simulated endpoint. Durations in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(
        default=0, ge=0, lt=2**63, description="seed of all random choices: latencies, faults and answers"
    )
    models: tuple[str, ...] = Field(default=("simulated",), min_length=1, description="known models; 404 for any other")
    api_key: str | None = Field(default=None, description="the only accepted API key; if not set, any key is accepted")
    latency_mean: float = Field(default=2.0, ge=0, description="mean time to answer")
    latency_spread: float = Field(default=0.25, ge=0, description="standard deviation divided by mean (lognormal)")
    slow_rate: Rate = Field(default=0.0, description="share of answers that take --slow-factor times longer")
    slow_factor: float = Field(default=10.0, ge=1, description="how much longer a slow answer takes")
    rate_limit_rate: Rate = Field(default=0.0, description="share of requests answered with 429 and Retry-After")
    retry_after: float = Field(default=1.0, ge=0, description="value of Retry-After")
    server_error_rate: Rate = Field(default=0.0, description="share of requests answered with 500, 502 or 503")
    drop_rate: Rate = Field(default=0.0, description="share of connections closed before or during the answer")
    answer_fault_rate: Rate = Field(default=0.0, description="share of faulty answers")
    answer_faults: dict[AnswerFault, float] = Field(
        default_factory=lambda: dict.fromkeys(ANSWER_FAULTS, 1.0),
        min_length=1,
        description="kinds of faults with weights",
    )
    context_tokens: int | None = Field(
        default=None, ge=1_024, description="context window, stated by /v1/models; 400 beyond it"
    )
    batch_seconds: float = Field(default=20.0, ge=0, description="duration of a batch from its creation to its end")
    batch_window_seconds: float | None = Field(
        default=None, gt=0, description="length of the completion window; if not set, as requested"
    )
    batch_line_error_rate: Rate = Field(default=0.0, description="share of batch lines that end in the error file")
    batch_failed_rate: Rate = Field(default=0.0, description="share of batches that fail validation")
    batch_stall_rate: Rate = Field(default=0.0, description="share of batches that stop half-way until they expire")
    batch_cancelled_rate: Rate = Field(default=0.0, description="share of batches that are cancelled half-way")
    batch_lost_reply_rate: Rate = Field(
        default=0.0, description="share of created files and batches whose creation is answered with 502"
    )
    batch_price_share: Rate = Field(default=0.5, description="price of a batch token relative to a live one")

    @model_validator(mode="after")
    def _check_rates(self) -> Self:
        if self.rate_limit_rate + self.server_error_rate + self.drop_rate > 1:
            raise ValueError("rate_limit_rate, server_error_rate and drop_rate together exceed 1")
        if self.batch_failed_rate + self.batch_stall_rate + self.batch_cancelled_rate > 1:
            raise ValueError("batch_failed_rate, batch_stall_rate and batch_cancelled_rate together exceed 1")
        if any(weight <= 0 for weight in self.answer_faults.values()):
            raise ValueError("weights in answer_faults must be above 0; omit a kind to disable it")
        return self
