"""Settings that control the behaviour of one simulated service. A twin with knobs of its own extends the model."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Rate = Annotated[float, Field(ge=0, le=1)]
"""A share of requests, 0 to 1."""


class Knobs(BaseModel):
    """Durations in seconds. Limits hold for each caller (key) apart; a twin's defaults are the real service's."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(default=0, ge=0, lt=2**63)
    """Decides every draw, together with the request and how often it was asked."""
    latency_mean: float = Field(default=0.0, ge=0)
    latency_spread: float = Field(default=0.25, ge=0)
    """Standard deviation over mean (lognormal)."""

    rate_limit_rate: Rate = 0.0
    """Share of requests answered 429 although they keep the limits."""
    retry_after: float | None = Field(default=1.0, ge=0)
    """Minimum value of Retry-After, in whole seconds; None omits the header."""
    server_error_rate: Rate = 0.0
    drop_rate: Rate = 0.0
    """Share of connections cut, before or in the middle of the answer."""
    malformed_rate: Rate = 0.0
    """Share of answers with status 200 whose body is cut or is not what it says it is."""
    down: bool = False
    """503 to everybody."""

    per_second: float | None = Field(default=None, gt=0)
    burst: int = Field(default=1, ge=1)
    """Requests that may come at once after a rest."""
    concurrent: int | None = Field(default=None, ge=1)
    per_day: int | None = Field(default=None, ge=1)
    """Daily budget in the service's own units (`Twin.cost`), since the last reset."""
    api_key: str | None = None
    """The only key that is accepted; None accepts any, and none."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.rate_limit_rate + self.server_error_rate + self.drop_rate + self.malformed_rate > 1:
            raise ValueError("rate_limit_rate, server_error_rate, drop_rate and malformed_rate together exceed 1")
        return self
