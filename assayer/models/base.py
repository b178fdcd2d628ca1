"""Base class of values that are not shared between the service and its client."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable base model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
