"""The base of every value that crosses a boundary."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Absent(Frozen):
    """A result that does not exist, and why. Never a zero."""

    reason: str
