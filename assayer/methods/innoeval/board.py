"""The draw of a board and what each reviewer may see. Pure: seed, idea and pool decide, nothing else."""

import hashlib
import math
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from assayer.errors import InputError
from assayer.methods.innoeval.dossier import Kind, Knowledge
from assayer.methods.innoeval.personas import Persona, Pool
from assayer.models import Familiarity, Idea, Masking, PaperId, Reviewer

__all__ = ["Seat", "control", "draw", "enough", "masking", "reviewer", "visible"]

_NEAR_TOPICS = 2
"""Different topics of a persona that an idea must name to lie on its ground; one is chance."""
_KINDS: tuple[Kind, ...] = get_args(Kind)


class Seat(NamedTuple):
    persona: Persona
    kind: Literal["near", "open"]


def enough(pool: Pool, board: int) -> None:
    """Raises InputError when the pool cannot fill the board."""
    if len(pool.personas) < board:
        raise InputError(
            f"The pool {pool.name} has {len(pool.personas)} personas; a board of {board} was asked for.",
            "Ask for a smaller board or add personas.",
        )


def draw(pool: Pool, board: int, seed: int, idea: Idea, by: Literal["near", "uniform"]) -> tuple[Seat, ...]:
    """Different personas, drawn for this idea. With `near`, up to the larger half of the seats goes to those whose
    ground the idea touches: outsiders widen a board, a board of outsiders knows nothing.

    Raises InputError when the pool is smaller than the board."""
    enough(pool, board)
    lots = {one.name: _lot("seat", seed, idea, one.name) for one in pool.personas}
    drawn = sorted(pool.personas, key=lambda one: lots[one.name])
    reserved = math.ceil(board / 2) if by == "near" else 0
    near = [one for one in drawn if _touches(idea.text, one)][:reserved]
    others = [one for one in drawn if one not in near][: board - len(near)]
    return (*(Seat(one, "near") for one in near), *(Seat(one, "open") for one in others))


def masking(seed: int, idea: Idea, persona: Persona, knowledge: Sequence[Knowledge]) -> tuple[Masking, ...]:
    """A level of 8 hides a fifth; where that is no whole number, the remainder is the chance of one more.

    Each item draws its own lot, so what else was found does not decide which of two is hidden first.
    """
    return tuple(_masked(seed, idea, persona, kind, [one for one in knowledge if one.kind == kind]) for kind in _KINDS)


def _masked(seed: int, idea: Idea, persona: Persona, kind: Kind, items: Sequence[Knowledge]) -> Masking:
    level = _level(persona.familiarity, kind)
    expected = len(items) * (10 - level) / 10
    chance = np.random.default_rng(_lot("remainder", seed, idea, persona.name, kind)).random()
    count = int(expected + 1e-9) + (chance < expected % 1 - 1e-9)
    by_lot = sorted((one.paper.id for one in items), key=lambda key: _lot("mask", seed, idea, persona.name, key))
    hidden = set(by_lot[:count])
    return Masking(
        kind=kind,
        level=level,
        shown=len(items) - count,
        hidden=tuple(one.paper.id for one in items if one.paper.id in hidden),
    )


def reviewer(key: str, seat: Seat, masks: tuple[Masking, ...]) -> Reviewer:
    persona = seat.persona
    return Reviewer(
        key=key,
        persona=persona.name,
        seat=seat.kind,
        field=persona.field,
        role=persona.role,
        background=persona.background,
        goal=persona.goal,
        constraints=persona.constraints,
        familiarity=persona.familiarity,
        masking=masks,
    )


def control() -> Reviewer:
    """Nobody in particular, who sees everything: what a board adds is measured against this."""
    return Reviewer(key="R1", persona=None, seat="control")


def visible(one: Reviewer, knowledge: Sequence[Knowledge]) -> list[Knowledge]:
    hidden: set[PaperId] = {paper for mask in one.masking for paper in mask.hidden}
    return [item for item in knowledge if item.paper.id not in hidden]


def _level(familiarity: Familiarity, kind: Kind) -> int:
    return {
        "literature": familiarity.literature,
        "web": familiarity.frontier,
        "code": familiarity.applications,
    }[kind]


def _touches(text: str, persona: Persona) -> bool:
    named = (topic for topic in persona.topics if re.search(rf"\b{re.escape(topic)}", text, re.IGNORECASE))
    return sum(1 for _ in named) >= _NEAR_TOPICS


def _lot(what: str, seed: int, idea: Idea, *parts: str) -> int:
    """The same everywhere and in every version of Python and NumPy."""
    content = "\x1f".join([what, str(seed), idea.id, *parts])
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:16])
