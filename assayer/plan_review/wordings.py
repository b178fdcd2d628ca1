"""Patterns by which the checklist recognises what a plan states and what kind of plan it is, from `wordings.toml`.

A superfluous pattern hides a gap from the reader; a missing pattern reports a gap that the plan does not have. If in
doubt, include a pattern."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache, reduce
from importlib.resources import files
from typing import Literal, NamedTuple

from assayer.models import ChecklistItem, Frozen

PlanKind = Literal["empirical", "meeting", "living", "nothing_living"]
"""Kind of plan. `empirical`: something is measured, tested or collected. `meeting`: people meet or travel, and nothing
is studied. `living`: people or animals, or their data or tissue. `nothing_living`: words that only sound as if living
things were involved."""


class _File(Frozen):
    parts: dict[str, tuple[str, ...]]
    kinds: dict[PlanKind, tuple[str, ...]]
    stated: dict[ChecklistItem, tuple[str, ...]]


class Wordings(NamedTuple):
    kinds: dict[PlanKind, re.Pattern[str]]
    stated: dict[ChecklistItem, re.Pattern[str]]


def _alternation(options: Sequence[str]) -> str:
    return f"(?:{'|'.join(options)})"


@cache
def wordings() -> Wordings:
    """Return the patterns of `wordings.toml`, with its named parts filled in."""
    file = _File.model_validate(tomllib.loads((files("assayer.plan_review") / "wordings.toml").read_text("utf-8")))
    parts = {f"{{{name}}}": _alternation(options) for name, options in file.parts.items()}

    def compiled(options: Sequence[str]) -> re.Pattern[str]:
        text = reduce(lambda text, name: text.replace(name, parts[name]), parts, _alternation(options))
        return re.compile(rf"\b{text}", re.IGNORECASE)

    return Wordings(
        {kind: compiled(options) for kind, options in file.kinds.items()},
        {item: compiled(options) for item, options in file.stated.items()},
    )
