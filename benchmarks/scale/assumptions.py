"""The figures on which a plan is based, each with its source, and their replacement."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files

from pydantic import TypeAdapter

from assayer.errors import InputError
from assayer.models import Frozen


class Assumption(Frozen):
    value: float
    unit: str
    source: str
    page: str | None = None
    """Documentation page that contains the figure."""
    written: str | None = None
    """Wording of the figure on that page."""


class Assumptions(Frozen):
    figures: Mapping[str, Assumption]

    def __getitem__(self, name: str) -> float:
        return self.figures[name].value

    def override(self, overrides: Sequence[str]) -> "Assumptions":
        """Return a copy with `NAME=VALUE` overrides applied.

        Raises InputError for an unknown name, or a value that is not a number above zero."""
        figures = dict(self.figures)
        for override in overrides:
            name, _, text = override.partition("=")
            if name not in figures:
                raise InputError(f"{name!r} is not a figure of the plan.", f"The figures are: {', '.join(figures)}.")
            figures[name] = Assumption(value=_parse_number(name, text), unit=figures[name].unit, source="given")
        return Assumptions(figures=figures)


def _parse_number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    minimum = 0.0 if name == "cached_share" or name.startswith("usd_") else 1e-9
    if not minimum <= value < float("inf") or (name in ("busy", "cached_share") and value > 1):
        raise InputError(f"{text!r} is not a valid value for {name}.", "Write a number above 0; shares are at most 1.")
    return value


def read_assumptions() -> Assumptions:
    text = files(__package__).joinpath("assumptions.toml").read_text("utf-8")
    return Assumptions(figures=TypeAdapter(dict[str, Assumption]).validate_python(tomllib.loads(text)))
