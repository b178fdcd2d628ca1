"""The base of every value that crosses a boundary, and sums of money."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

__all__ = ["Absent", "Dollars", "Frozen"]


class Frozen(BaseModel):
    """Immutable; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Absent(Frozen):
    """A result that does not exist, and why. Never a zero."""

    reason: str


_DECIMALS = 9
"""A token costs no less than some billionths; behind them stands only what sums of binary fractions leave."""

Dollars = Annotated[float, AfterValidator(lambda dollars: round(dollars, _DECIMALS))]
"""US dollars, as people are told."""
