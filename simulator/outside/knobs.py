"""Settings that control the behaviour of one simulated service. Services with additional knobs extend the model."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Rate = Annotated[float, Field(ge=0, le=1)]
"""Share of requests, 0 to 1."""


class Knobs(BaseModel):
    """Settings of a simulated service; durations are in seconds. Limits apply to each caller (key) separately; a
    service's defaults are those of the real service."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(default=0, ge=0, lt=2**63)
    """Seed of all random choices, which also depend on the request and the number of its repetitions."""
    latency_mean: float = Field(default=0.0, ge=0)
    latency_spread: float = Field(default=0.25, ge=0)
    """Standard deviation divided by mean (lognormal)."""

    rate_limit_rate: Rate = 0.0
    """Share of requests answered with 429 although they are within the limits."""
    retry_after: float | None = Field(default=1.0, ge=0)
    """Minimum value of Retry-After, in whole seconds; None omits the header."""
    server_error_rate: Rate = 0.0
    drop_rate: Rate = 0.0
    """Share of connections closed before or during the response."""
    malformed_rate: Rate = 0.0
    """Share of responses with status 200 whose body is truncated or does not match its content type."""
    down: bool = False
    """Whether all requests are answered with 503."""

    per_second: float | None = Field(default=None, gt=0)
    burst: int = Field(default=1, ge=1)
    """Number of requests allowed at once after a pause."""
    concurrent: int | None = Field(default=None, ge=1)
    per_day: int | None = Field(default=None, ge=1)
    """Daily budget in the service's own units (`SimulatedService.get_cost`), since the last reset."""
    api_key: str | None = None
    """The only accepted API key; None accepts any key and requests without a key."""

    @model_validator(mode="after")
    def _check_rates(self) -> Self:
        if self.rate_limit_rate + self.server_error_rate + self.drop_rate + self.malformed_rate > 1:
            raise ValueError("rate_limit_rate, server_error_rate, drop_rate and malformed_rate together exceed 1")
        return self
