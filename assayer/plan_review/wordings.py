"""The wordings by which the checklist recognises what a plan states, and what kind of plan it is: `wordings.toml`.

A wording too many hides a gap from the reader; one too few accuses a plan of a gap that it does not have. Where there
is a choice, the former is preferred.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import TypeAdapter

from assayer.models import ChecklistItem, Frozen

PlanKind = Literal["empirical", "meeting", "living", "nothing_living"]
"""Kind of plan. `empirical`: something is measured, tested or collected. `meeting`: people meet or travel, and nothing
is studied. `living`: people, animals, or what belongs to them. `nothing_living`: words that only sound as if living
things were involved."""


class _File(Frozen):
    parts: dict[str, tuple[str, ...]]
    kinds: dict[PlanKind, tuple[str, ...]]
    stated: dict[ChecklistItem, tuple[str, ...]]


class Wordings:
    def __init__(self, file: _File) -> None:
        self._parts = {name: _either(options) for name, options in file.parts.items()}
        self.kinds = {kind: self._compiled(options) for kind, options in file.kinds.items()}
        self.stated = {item: self._compiled(options) for item, options in file.stated.items()}

    def _compiled(self, options: Sequence[str]) -> re.Pattern[str]:
        text = _either(options)
        for name, part in self._parts.items():
            text = text.replace(f"{{{name}}}", part)
        return re.compile(rf"\b{text}", re.IGNORECASE)


def _either(options: Sequence[str]) -> str:
    return f"(?:{'|'.join(options)})"


@cache
def wordings() -> Wordings:
    text = (files("assayer.plan_review") / "wordings.toml").read_text(encoding="utf-8")
    return Wordings(TypeAdapter(_File).validate_python(tomllib.loads(text)))
