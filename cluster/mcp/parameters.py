"""Parameters shared by several tools, with the descriptions that models see."""

from typing import Annotated

from pydantic import Field

from assayer_client.resources import Limits

MAX_WAIT_SECONDS = 600.0
"""Maximum seconds to wait within one call."""
USUAL_WAIT = 45.0
"""Default seconds to wait within one call, less than the minute after which most clients give up."""

Wait = Annotated[
    float,
    Field(
        ge=0,
        le=MAX_WAIT_SECONDS,
        description="Seconds to wait for the result. Keep this below your client's timeout; 0 returns immediately.",
    ),
]
MaxUsd = Annotated[
    float | None,
    Field(gt=0, description="Maximum cost of this job in US dollars. If omitted, the service's own limit applies."),
]
RequestKey = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=200,
        description="Idempotency key: any unique text. Repeating a call with the same key and arguments within a day "
        "returns the same job instead of starting another. Use it if you may have to repeat a call.",
    ),
]


def build_job_limits(max_usd: float | None) -> dict[str, Limits]:
    """Return the `limits` field for a request body; empty if `max_usd` is None, so that the service's own limits
    apply."""
    return {} if max_usd is None else {"limits": Limits(max_usd=max_usd)}
