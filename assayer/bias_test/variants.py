"""Variants of an idea that differ only in who submits it, or in how well it is written."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, get_args

from assayer.bias_test.authors import ORIGINS, FictionalAuthor, Gender, choose_fictional_author
from assayer.bias_test.signing import sign_idea, worsen_english
from assayer.ideas.parsing import parse_idea
from assayer.models import BiasTestAttribute, Idea

PERSUASION: BiasTestAttribute = "persuasion"
"""The attribute whose variant has to be written by a language model."""
ATTRIBUTES = tuple[BiasTestAttribute, ...](name for name in get_args(BiasTestAttribute) if name != PERSUASION)
REFERENCE = "reference"
_GENDERS: tuple[Gender, ...] = ("female", "male")
_RENOWNED, _PROFESSOR, _POORER = "institution: renowned", "seniority: full professor", "language: poorer English"
_PERSUASIVE = "persuasion: reworded"


class Variant(NamedTuple):
    name: str
    idea: Idea
    planted: tuple[str, ...]
    """Words that identify the author, exactly as inserted into the idea."""
    repetition: int = 1
    """Which of several evaluations of the same text this is, counting from 1."""


class Contrast(NamedTuple):
    """A comparison between the mean over some variants and the mean over others."""

    attribute: BiasTestAttribute
    compared: str
    compared_variants: tuple[str, ...]
    baseline_variants: tuple[str, ...]


def _name_variant(origin: str, gender: Gender) -> str:
    """Return the variant's name. The reference is a man with an English name."""
    return REFERENCE if (origin, gender) == (next(iter(ORIGINS)), "male") else f"name: {origin}, {gender}"


def build_variants(idea: Idea, number: int, attributes: Iterable[BiasTestAttribute]) -> Iterator[Variant]:
    """Yield an idea's variants, beginning with the reference. `number` is the idea's position among the tested
    ideas."""
    wanted_attributes = set(attributes)
    yield _build_variant(idea, REFERENCE, choose_fictional_author(number))
    if "institution" in wanted_attributes:
        yield _build_variant(idea, _RENOWNED, choose_fictional_author(number, institution="renowned"))
    if "seniority" in wanted_attributes:
        yield _build_variant(idea, _PROFESSOR, choose_fictional_author(number, stage="late"))
    if wanted_attributes & {"gender", "origin"}:
        for origin in ORIGINS:
            for gender in _GENDERS:
                if _name_variant(origin, gender) != REFERENCE:
                    yield _build_variant(
                        idea, _name_variant(origin, gender), choose_fictional_author(number, origin, gender)
                    )
    if "language" in wanted_attributes:
        yield _build_variant(worsen_english(idea), _POORER, choose_fictional_author(number))


def build_persuasive_variant(idea: Idea, number: int, text: str) -> Variant:
    """Return the variant whose text was reworded to sound better. Raises InputError if the text cannot be parsed as an
    idea."""
    return _build_variant(
        parse_idea(text, idea.source, idea.title, idea.cutoff), _PERSUASIVE, choose_fictional_author(number)
    )


def repeat_reference(reference: Variant, evaluations: int) -> Iterator[Variant]:
    """Yield the reference for evaluations 2 to `evaluations`. Planted words are counted only in the first one."""
    for number in range(2, evaluations + 1):
        name = f"{reference.name}, evaluation {number}"
        yield reference._replace(name=name, planted=(), repetition=number)


def _build_variant(idea: Idea, name: str, author: FictionalAuthor) -> Variant:
    return Variant(name, sign_idea(idea, author), (*author.name.split(), author.stage, author.affiliation))


def list_contrasts(attributes: Iterable[BiasTestAttribute]) -> Iterator[Contrast]:
    wanted_attributes = set(attributes)
    first_origin, *other_origins = ORIGINS
    if "institution" in wanted_attributes:
        description = "a renowned institution against a lesser-known one"
        yield Contrast("institution", description, (_RENOWNED,), (REFERENCE,))
    if "seniority" in wanted_attributes:
        yield Contrast("seniority", "a full professor against a doctoral student", (_PROFESSOR,), (REFERENCE,))
    if "gender" in wanted_attributes:
        yield Contrast("gender", "women's names against men's, all origins", *_split_by_gender(list(ORIGINS)))
        for origin in ORIGINS:
            yield Contrast("gender", f"women's names against men's, {origin}", *_split_by_gender([origin]))
    if "origin" in wanted_attributes:
        for origin in other_origins:
            origin_variants, first_origin_variants = (
                tuple(_name_variant(item, gender) for gender in _GENDERS) for item in (origin, first_origin)
            )
            yield Contrast("origin", f"{origin} names against {first_origin}", origin_variants, first_origin_variants)
    if "language" in wanted_attributes:
        yield Contrast("language", "poorer English against the original text", (_POORER,), (REFERENCE,))
    if PERSUASION in wanted_attributes:
        yield Contrast(PERSUASION, "persuasive wording against the original text", (_PERSUASIVE,), (REFERENCE,))


def _split_by_gender(origins: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(_name_variant(origin, "female") for origin in origins), tuple(
        _name_variant(origin, "male") for origin in origins
    )
