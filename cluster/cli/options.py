"""Options that several commands share, and values that people type, read with care."""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from assayer.errors import InputError
from cluster.settings import Profile

__all__ = ["WithBlind", "WithProfile", "day", "validated"]


def day(text: str | None, noun: str) -> dt.date | None:
    """A date as YYYY-MM-DD, nothing else. Raises InputError naming what it was for."""
    if text is None:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return dt.date.fromisoformat(text)
    except ValueError:
        pass
    raise InputError(f"The {noun} {text!r} is not a date.", "Write it as YYYY-MM-DD, for example 2024-09-30.")


M = TypeVar("M", bound=BaseModel)


def validated(kind: type[M], values: Mapping[str, Any]) -> M:
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = str(first["loc"][0]).replace("_", " ")
        raise InputError(f"The {where} cannot be used: {first['msg']}.", "See --help.") from None


WithBlind = Annotated[
    bool | None,
    typer.Option(
        "--blind/--no-blind",
        help="Mask names, affiliations, acknowledgements and the like before anything judges the ideas. "
        "By default for ideas that are given together, not for a single one.",
        show_default=False,
    ),
]


WithProfile = Annotated[Profile, typer.Option("--profile", help="Named set of settings.")]
