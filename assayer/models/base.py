"""Base class of values that the service and its client do not share."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable base model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
