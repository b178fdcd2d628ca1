"""Base class of every value that crosses a boundary, and the type for amounts of money."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


class Frozen(BaseModel):
    """Immutable base model that rejects unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Absent(Frozen):
    """Missing result with the reason why it is missing; used instead of a zero."""

    reason: str


_DECIMALS = 9
"""Decimal places kept in dollar amounts. A token costs at least a few billionths of a dollar; further digits are
floating-point error."""

Dollars = Annotated[float, AfterValidator(lambda dollars: round(dollars, _DECIMALS))]
"""US dollars, rounded for display."""
