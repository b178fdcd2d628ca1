"""Variants of an idea that differ in who sends it, or in how well it is written, and in nothing else."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, get_args

from assayer.audit.authors import ORIGINS, AuditedPerson, Gender, person
from assayer.audit.signing import poorly_written, signed
from assayer.models import AuditAttribute, Idea

__all__ = ["ATTRIBUTES", "REFERENCE", "Contrast", "Variant", "contrasts", "repeated", "variants_of"]

ATTRIBUTES: tuple[AuditAttribute, ...] = get_args(AuditAttribute)
REFERENCE = "reference"
_GENDERS: tuple[Gender, ...] = ("female", "male")
_RENOWNED, _PROFESSOR, _POORER = "institution: renowned", "seniority: full professor", "language: poorer English"


class Variant(NamedTuple):
    name: str
    idea: Idea
    planted: tuple[str, ...]
    """Words that say who sends it, as they were planted."""
    repetition: int = 1
    """Which evaluation of the same text this is."""


class Contrast(NamedTuple):
    """The mean over some variants of an idea against the mean over others."""

    attribute: AuditAttribute
    compared: str
    these: tuple[str, ...]
    those: tuple[str, ...]


def _named(origin: str, gender: Gender) -> str:
    """The reference is a man with an English name."""
    return REFERENCE if (origin, gender) == (next(iter(ORIGINS)), "male") else f"name: {origin}, {gender}"


def variants_of(idea: Idea, number: int, attributes: Iterable[AuditAttribute]) -> Iterator[Variant]:
    """The reference first. `number` is the idea's among those audited."""
    wanted = set(attributes)
    yield _variant(idea, REFERENCE, person(number))
    if "institution" in wanted:
        yield _variant(idea, _RENOWNED, person(number, institution="renowned"))
    if "seniority" in wanted:
        yield _variant(idea, _PROFESSOR, person(number, stage="late"))
    if wanted & {"gender", "origin"}:
        for origin in ORIGINS:
            for gender in _GENDERS:
                if _named(origin, gender) != REFERENCE:
                    yield _variant(idea, _named(origin, gender), person(number, origin, gender))
    if "language" in wanted:
        yield _variant(poorly_written(idea), _POORER, person(number))


def repeated(reference: Variant, evaluations: int) -> Iterator[Variant]:
    """The second to the last of so many evaluations of the same text; what it plants is counted with the first."""
    for number in range(2, evaluations + 1):
        name = f"{reference.name}, evaluation {number}"
        yield reference._replace(name=name, planted=(), repetition=number)


def _variant(idea: Idea, name: str, by: AuditedPerson) -> Variant:
    return Variant(name, signed(idea, by), (*by.name.split(), by.stage, by.affiliation))


def contrasts(attributes: Iterable[AuditAttribute]) -> Iterator[Contrast]:
    wanted = set(attributes)
    first, *others = ORIGINS
    if "institution" in wanted:
        compared = "a renowned institution against a lesser-known one"
        yield Contrast("institution", compared, (_RENOWNED,), (REFERENCE,))
    if "seniority" in wanted:
        yield Contrast("seniority", "a full professor against a doctoral student", (_PROFESSOR,), (REFERENCE,))
    if "gender" in wanted:
        yield Contrast("gender", "women's names against men's, all origins", *_by_gender(list(ORIGINS)))
        for origin in ORIGINS:
            yield Contrast("gender", f"women's names against men's, {origin}", *_by_gender([origin]))
    if "origin" in wanted:
        for origin in others:
            these, those = (tuple(_named(one, gender) for gender in _GENDERS) for one in (origin, first))
            yield Contrast("origin", f"{origin} names against {first}", these, those)
    if "language" in wanted:
        yield Contrast("language", "poorer English against the text as it came", (_POORER,), (REFERENCE,))


def _by_gender(origins: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(_named(one, "female") for one in origins), tuple(_named(one, "male") for one in origins)
