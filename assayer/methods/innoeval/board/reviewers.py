"""Select a board's personas, and the evidence that each reviewer may see. The selection is deterministic: it depends
only on seed, idea and pool."""

import hashlib
import math
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.evidence_pack import ReadSource
from assayer.methods.innoeval.personas import Persona, PersonaPool
from assayer.models import Familiarity, Idea, Masking, PaperId, Reviewer

_NEAR_TOPICS = 2
"""Minimum number of a persona's topics that an idea must name to be in the persona's field; a single topic could be a
coincidence."""
_KINDS: tuple[EvidenceKind, ...] = get_args(EvidenceKind)


class BoardSeat(NamedTuple):
    persona: Persona
    kind: Literal["near", "open"]


def draw_board(pool: PersonaPool, board: int, seed: int, idea: Idea) -> tuple[BoardSeat, ...]:
    """Draw different personas for this idea. Up to half of the seats, rounded up, go to personas whose topics the idea
    names. Outsiders broaden a board, but a board made up of outsiders knows nothing about the field."""
    shuffled_personas = sorted(
        pool.personas, key=lambda persona: _compute_stable_hash("seat", seed, idea, persona.name)
    )
    topical_personas = [persona for persona in shuffled_personas if _mentions_topics(idea.text, persona)][
        : math.ceil(board / 2)
    ]
    other_personas = [persona for persona in shuffled_personas if persona not in topical_personas][
        : board - len(topical_personas)
    ]
    return (
        *(BoardSeat(persona, "near") for persona in topical_personas),
        *(BoardSeat(persona, "open") for persona in other_personas),
    )


def mask_evidence(seed: int, idea: Idea, persona: Persona, sources: Sequence[ReadSource]) -> tuple[Masking, ...]:
    """Choose the evidence to hide from a persona, by kind. A familiarity level of 8 hides a fifth of the sources; a
    fractional remainder is the probability that one more source is hidden. The choice depends on a hash of the sources'
    ids, so their ranking has no effect."""
    return tuple(
        _mask_kind(seed, idea, persona, kind, [source for source in sources if source.kind == kind]) for kind in _KINDS
    )


def _mask_kind(seed: int, idea: Idea, persona: Persona, kind: EvidenceKind, items: Sequence[ReadSource]) -> Masking:
    level = _get_familiarity_level(persona.familiarity, kind)
    expected_count = len(items) * (10 - level) / 10
    chance = np.random.default_rng(_compute_stable_hash("remainder", seed, idea, persona.name, kind)).random()
    count = int(expected_count + 1e-9) + (chance < expected_count % 1 - 1e-9)
    by_hash = sorted(
        (source.paper.id for source in items),
        key=lambda key: _compute_stable_hash("mask", seed, idea, persona.name, key),
    )
    hidden_papers = set(by_hash[:count])
    return Masking(
        kind=kind,
        level=level,
        shown_count=len(items) - count,
        hidden_papers=tuple(source.paper.id for source in items if source.paper.id in hidden_papers),
    )


def limit_familiarity(persona: Persona, idea: Idea, elsewhere: int) -> Persona:
    """Return the persona, with its familiarity capped at `elsewhere` if the idea is outside its field."""
    if _mentions_topics(idea.text, persona):
        return persona
    levels = {name: min(level, elsewhere) for name, level in persona.familiarity}
    return persona.model_copy(update={"familiarity": Familiarity.model_validate(levels)})


def assign_models(models: Sequence[str], seats: int, seed: int, idea: Idea) -> tuple[str | None, ...]:
    """Return the model for each seat. Models rotate, starting at one that depends on the idea, so that no model always
    gets the first seat."""
    if not models:
        return (None,) * seats
    first = _compute_stable_hash("models", seed, idea)
    return tuple(models[(first + seat) % len(models)] for seat in range(seats))


def build_reviewer(key: str, seat: BoardSeat, masks: tuple[Masking, ...], model: str | None = None) -> Reviewer:
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
        model=model,
        masking=masks,
    )


def build_control_reviewer(model: str | None = None) -> Reviewer:
    """Return a reviewer without a persona, who sees everything: the control with which a board is compared."""
    return Reviewer(key="R1", persona=None, seat="control", model=model)


def choose_visible_sources(reviewer: Reviewer, sources: Sequence[ReadSource]) -> list[ReadSource]:
    hidden_papers: set[PaperId] = {paper for mask in reviewer.masking for paper in mask.hidden_papers}
    return [item for item in sources if item.paper.id not in hidden_papers]


def _get_familiarity_level(familiarity: Familiarity, kind: EvidenceKind) -> int:
    return {
        "literature": familiarity.literature,
        "web": familiarity.frontier,
        "code": familiarity.applications,
        "data": familiarity.applications,
    }[kind]


def _mentions_topics(text: str, persona: Persona) -> bool:
    named_topics = (topic for topic in persona.topics if re.search(rf"\b{re.escape(topic)}", text, re.IGNORECASE))
    return sum(1 for _ in named_topics) >= _NEAR_TOPICS


def _compute_stable_hash(purpose: str, seed: int, idea: Idea, *parts: str) -> int:
    """Return a hash that is the same on all platforms and in all versions of Python and NumPy."""
    content = "\x1f".join([purpose, str(seed), idea.judged_id, *parts])
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:16])
