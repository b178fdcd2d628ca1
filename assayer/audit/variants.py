"""Variants of an idea that differ in who sends it, or in how well it is written, and in nothing else."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assayer.audit.authors import ORIGINS, AuditedPerson, Gender, person
from assayer.audit.poorer_english import in_poorer_english
from assayer.ideas.parsing import parse_idea
from assayer.models import AuditAttribute, Idea

__all__ = ["ATTRIBUTES", "Contrast", "Variant", "contrasts", "variants_of"]

ATTRIBUTES: tuple[AuditAttribute, ...] = ("institution", "seniority", "gender", "origin", "language")
_GENDERS: tuple[Gender, ...] = ("female", "male")
_REFERENCE = "reference"
_RENOWNED, _PROFESSOR, _POORER = "institution: renowned", "seniority: full professor", "language: poorer English"


class Variant(NamedTuple):
    name: str
    idea: Idea
    planted: tuple[str, ...]
    """Words that say who sends it."""


class Contrast(NamedTuple):
    """The mean over some variants of an idea against the mean over others."""

    attribute: AuditAttribute
    compared: str
    these: tuple[str, ...]
    those: tuple[str, ...]


def _named(origin: str, gender: Gender) -> str:
    """The reference is a man with an English name."""
    return _REFERENCE if (origin, gender) == (next(iter(ORIGINS)), "male") else f"name: {origin}, {gender}"


def variants_of(idea: Idea, number: int, attributes: Iterable[AuditAttribute]) -> Iterator[Variant]:
    """The reference first. `number` is the idea's among those audited."""
    wanted = set(attributes)
    yield _variant(idea, _REFERENCE, person(number))
    if "institution" in wanted:
        yield _variant(idea, _RENOWNED, person(number, institution="renowned"))
    if "seniority" in wanted:
        yield _variant(idea, _PROFESSOR, person(number, stage="late"))
    if wanted & {"gender", "origin"}:
        for origin in ORIGINS:
            for gender in _GENDERS:
                if _named(origin, gender) != _REFERENCE:
                    yield _variant(idea, _named(origin, gender), person(number, origin, gender))
    if "language" in wanted:
        poorer = idea.model_copy(update={"text": in_poorer_english(idea.text).text})
        yield _variant(poorer, _POORER, person(number))


def _variant(idea: Idea, name: str, by: AuditedPerson) -> Variant:
    text = _signed(idea, by)
    planted = (*by.name.split(), by.role.removeprefix("a "), by.institution.removeprefix("the "))
    return Variant(name, parse_idea(text, idea.source, idea.title, idea.cutoff), planted)


def _signed(idea: Idea, by: AuditedPerson) -> str:
    """With a byline under the title and a sentence at the end, as proposals have them."""
    first, _, rest = idea.text.partition("\n")
    titled = idea.title.casefold() in first.casefold()
    head, body = (first, rest.strip()) if titled else (f"# {idea.title}", idea.text)
    role = by.role.removeprefix("a ")
    byline = f"{by.name}\n{role[:1].upper()}{role[1:]}, {by.institution.removeprefix('the ')}"
    leads = f"The project will be led by {by.name}, {by.role} at {by.institution}."
    return f"{head}\n\n{byline}\n\n{body}\n\n{leads}"


def contrasts(attributes: Iterable[AuditAttribute]) -> Iterator[Contrast]:
    wanted = set(attributes)
    first, *others = ORIGINS
    if "institution" in wanted:
        compared = "a renowned institution against a lesser-known one"
        yield Contrast("institution", compared, (_RENOWNED,), (_REFERENCE,))
    if "seniority" in wanted:
        yield Contrast("seniority", "a full professor against a doctoral student", (_PROFESSOR,), (_REFERENCE,))
    if "gender" in wanted:
        yield Contrast("gender", "women's names against men's, all origins", *_by_gender(list(ORIGINS)))
        for origin in ORIGINS:
            yield Contrast("gender", f"women's names against men's, {origin}", *_by_gender([origin]))
    if "origin" in wanted:
        for origin in others:
            these, those = (tuple(_named(one, gender) for gender in _GENDERS) for one in (origin, first))
            yield Contrast("origin", f"{origin} names against {first}", these, those)
    if "language" in wanted:
        yield Contrast("language", "poorer English against the text as it came", (_POORER,), (_REFERENCE,))


def _by_gender(origins: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(_named(one, "female") for one in origins), tuple(_named(one, "male") for one in origins)
