"""How patiently webhooks are told."""

from pydantic import Field

from assayer.models import Frozen

__all__ = ["DeliverySettings"]


class DeliverySettings(Frozen):
    tries: int = Field(default=8, ge=1)
    """Then the delivery is dead. With the waits below, after a little more than a day."""
    first_seconds: float = Field(default=5.0, gt=0)
    """Before the second try; each further wait is `factor` times as long."""
    factor: float = Field(default=5.0, ge=1)
    jitter: float = Field(default=0.2, ge=0, lt=1)
    """Waits are longer or shorter by up to this share, so that receivers that come back are not met by all at once."""
    deadline_seconds: float = Field(default=15.0, gt=0)
    """For one try: name, connection, request and answer."""
    at_once: int = Field(default=32, ge=1)
    """Deliveries in flight in this process."""
    at_once_per_webhook: int = Field(default=4, ge=1)
    """A receiver that hangs holds up nobody else's."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """How long notifications are trusted before the table is read anyway."""
