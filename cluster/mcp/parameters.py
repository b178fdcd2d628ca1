"""Parameters shared by several tools, with the descriptions that models see."""

from typing import Annotated

from pydantic import Field

from assayer_client.resources import Limits

LONGEST_WAIT = 600.0
"""Maximum seconds to wait within one call."""
USUAL_WAIT = 45.0
"""Default seconds to wait within one call, less than the minute after which most clients give up."""

Wait = Annotated[
    float,
    Field(
        ge=0,
        le=LONGEST_WAIT,
        description="Seconds this call may wait for the end. Keep it below your client's timeout; 0 returns at once.",
    ),
]
MaxUsd = Annotated[
    float | None,
    Field(gt=0, description="The most US dollars this job may spend. Left out: the service's own limit."),
]
RequestKey = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=200,
        description="Any unique text of yours. The same key with the same arguments within a day gives the same job "
        "instead of a second one: use it where you may have to repeat a call.",
    ),
]


def job_limits(max_usd: float | None) -> dict[str, Limits]:
    """Return the `limits` field for a request body; empty if `max_usd` is None, so that the service's own limits
    apply."""
    return {} if max_usd is None else {"limits": Limits(max_usd=max_usd)}
