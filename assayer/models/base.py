"""Base class for models that the service does not share with its client."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable base model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
