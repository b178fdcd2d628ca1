"""Sums of money."""

from typing import Annotated

from pydantic import AfterValidator

__all__ = ["Dollars"]

_DECIMALS = 9
"""A token costs no less than some billionths; behind them stands only what sums of binary fractions leave."""

Dollars = Annotated[float, AfterValidator(lambda dollars: round(dollars, _DECIMALS))]
"""US dollars, as people are told."""
