"""The composition of a debate: its participants (seats) and the maximum number of rounds."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, Self

from pydantic import model_validator

from assayer.errors import InputError
from assayer.methods.toml_files import parse_entries, parse_toml, read_text_file, require_distinct
from assayer_client import rewards
from assayer_client.rewards import DebateRole

ROLES: tuple[DebateRole, ...] = ("moderator", "analyst", "critic", "evaluator")
"""The roles, in the order in which they speak in every round."""


class Seat(NamedTuple):
    role: DebateRole
    number: int
    """The seat's number within its role, from 1."""


class Composition(rewards.Composition):
    """A debate's seats (participants), of which at least one votes. The paper does not specify the number of rounds;
    two rounds let every seat reconsider once. A role with a single seat uses the temperature from the settings."""

    @model_validator(mode="after")
    def _can_decide(self) -> Self:
        if not self.voters:
            raise ValueError("no seat has a vote: add an analyst, a critic or an evaluator")
        return self

    @property
    def groups(self) -> tuple[tuple[Seat, ...], ...]:
        """The seats in one round, grouped by role. Seats with the same role speak in parallel; roles speak one after
        another."""
        sizes = (self.moderators, self.analysts, self.critics, self.evaluators)
        seats = [
            tuple(Seat(role, number) for number in range(1, size + 1)) for role, size in zip(ROLES, sizes, strict=True)
        ]
        return tuple(group for group in seats if group)

    @property
    def voters(self) -> tuple[Seat, ...]:
        return tuple(seat for group in self.groups for seat in group if seat.role != "moderator")

    @property
    def max_calls(self) -> int:
        """Number of LLM requests in a debate that runs to its last round."""
        return self.rounds * sum(map(len, self.groups))


_FILE = "compositions.toml"


def load_compositions(path: Path) -> Mapping[str, Composition]:
    """Load a file of `[[composition]]` entries. Raises InputError, naming the entry and field, if it is invalid."""
    return _parse(read_text_file(path), path.name)


def _parse(text: str, file: str) -> dict[str, Composition]:
    compositions = parse_entries(parse_toml(text, file, ["composition"]), "composition", Composition, file)
    require_distinct([item.name for item in compositions], "composition", file)
    return {item.name: item for item in compositions}


COMPOSITIONS: Mapping[str, Composition] = _parse(
    (files("assayer.methods.debate") / _FILE).read_text(encoding="utf-8"), _FILE
)
"""The thirteen built-in compositions, keyed by name and in the order of their numbers."""


def get_composition(name: str, compositions: Mapping[str, Composition] = COMPOSITIONS) -> Composition:
    """Return the composition with this name. Raises InputError, listing the known compositions, if there is none."""
    chosen_composition = compositions.get(name)
    if chosen_composition is None:
        raise InputError(
            f"There is no composition {name!r}.", f"Known compositions: {', '.join(compositions)}.", field="judge"
        )
    return chosen_composition
