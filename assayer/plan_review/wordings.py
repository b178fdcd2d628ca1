"""Patterns, from `wordings.toml`, that tell the checklist what a plan states and what kind of plan it is.

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
"""Kind of plan:
- `empirical`: something is measured, tested or collected.
- `meeting`: people meet or travel, and nothing is studied.
- `living`: people or animals are involved, or their data or tissue.
- `nothing_living`: words that only sound as if living things were involved."""


class _File(Frozen):
    parts: dict[str, tuple[str, ...]]
    kinds: dict[PlanKind, tuple[str, ...]]
    stated: dict[ChecklistItem, tuple[str, ...]]


class Wordings(NamedTuple):
    kinds: dict[PlanKind, re.Pattern[str]]
    stated: dict[ChecklistItem, re.Pattern[str]]


def _join_alternatives(options: Sequence[str]) -> str:
    return f"(?:{'|'.join(options)})"


@cache
def load_wordings() -> Wordings:
    """Load the patterns from `wordings.toml` and fill in the parts that they refer to by name."""
    file = _File.model_validate(tomllib.loads((files("assayer.plan_review") / "wordings.toml").read_text("utf-8")))
    parts = {f"{{{name}}}": _join_alternatives(options) for name, options in file.parts.items()}

    def compile_options(options: Sequence[str]) -> re.Pattern[str]:
        text = reduce(lambda text, name: text.replace(name, parts[name]), parts, _join_alternatives(options))
        return re.compile(rf"\b{text}", re.IGNORECASE)

    return Wordings(
        {kind: compile_options(options) for kind, options in file.kinds.items()},
        {item: compile_options(options) for item, options in file.stated.items()},
    )
