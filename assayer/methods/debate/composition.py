"""Who sits in a debate, and for how long it may go on."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Self

from pydantic import Field, model_validator

from assayer.errors import InputError
from assayer.methods.toml_files import parse_entries, parse_toml, read_text_file, require_distinct
from assayer.models import Frozen
from assayer.models.reward import DebateRole

__all__ = ["COMPOSITIONS", "ROLES", "Composition", "Seat", "composition", "load_compositions"]

ROLES: tuple[DebateRole, ...] = ("moderator", "analyst", "critic", "evaluator")
"""In the order in which they speak in every round."""


class Seat(NamedTuple):
    role: DebateRole
    number: int
    """Among the seats of its role, from 1."""


class Composition(Frozen):
    name: str = Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=60)
    """Lower-case words joined by hyphens; it stands in requests and settings."""
    moderators: int = Field(default=0, ge=0, le=1)
    analysts: int = Field(default=0, ge=0, le=5)
    critics: int = Field(default=0, ge=0, le=5)
    evaluators: int = Field(default=0, ge=0, le=3)
    rounds: int = Field(default=2, ge=1, le=5)
    """At most; the source does not say how many. Two give everybody one chance to think again."""
    temperature: float = Field(default=0.7, ge=0, le=2)
    """Of roles with several seats, whose answers would otherwise be one; a role's only seat is asked at the settings'
    temperature."""

    @model_validator(mode="after")
    def _can_decide(self) -> Self:
        if not self.voters:
            raise ValueError("nobody here has a vote: give it an analyst, a critic or an evaluator")
        return self

    @property
    def groups(self) -> tuple[tuple[Seat, ...], ...]:
        """The seats of one round: those of one role speak side by side, one role after another."""
        sizes = (self.moderators, self.analysts, self.critics, self.evaluators)
        seats = [
            tuple(Seat(role, number) for number in range(1, size + 1)) for role, size in zip(ROLES, sizes, strict=True)
        ]
        return tuple(group for group in seats if group)

    @property
    def voters(self) -> tuple[Seat, ...]:
        return tuple(seat for group in self.groups for seat in group if seat.role != "moderator")

    @property
    def most_calls(self) -> int:
        """Of a debate that goes on to its end."""
        return self.rounds * sum(map(len, self.groups))

    @property
    def depth(self) -> int:
        """Calls that wait for one another in such a debate."""
        return self.rounds * len(self.groups)


_FILE = "compositions.toml"


@cache
def _built_in() -> Mapping[str, Composition]:
    text = (files("assayer.methods.debate") / _FILE).read_text(encoding="utf-8")
    return MappingProxyType(_parse(text, _FILE))


def load_compositions(path: Path) -> Mapping[str, Composition]:
    """A file of `[[composition]]` entries. Raises InputError that names the entry and the field."""
    return MappingProxyType(_parse(read_text_file(path), path.name))


def _parse(text: str, file: str) -> dict[str, Composition]:
    found = parse_entries(parse_toml(text, file, ["composition"]), "composition", Composition, file)
    require_distinct([one.name for one in found], "composition", file)
    return {one.name: one for one in found}


COMPOSITIONS: Mapping[str, Composition] = _built_in()
"""The thirteen that come with assayer, by name, in the order of their numbers."""


def composition(name: str, known: Mapping[str, Composition] = COMPOSITIONS) -> Composition:
    """Raises InputError that lists the known ones."""
    found = known.get(name)
    if found is None:
        raise InputError(f"There is no composition {name!r}.", f"Known are {', '.join(known)}.", field="judge")
    return found
