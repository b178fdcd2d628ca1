"""Base class for models that the service does not share with its client."""

from pydantic import ConfigDict

from assayer_client.resources import CheckedCopy


class Frozen(CheckedCopy):
    """Immutable base model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
