"""What a dossier of a call says, for the officer's file: what came of its proposals, and what people have said."""

from assayer.models import Frozen
from assayer.reports.brief import BriefLine

__all__ = ["Dossier", "DossierOpinion", "DossierRow"]


class DossierRow(Frozen):
    place: str
    """Its rank with interval, or its row."""
    title: str
    source: str
    share: float | None
    """Its score, 0 to 1; None: there is none."""
    score: str
    """In words: `52`, `no score: why`."""
    certainty: str
    fit: str
    flags: str
    """What people should look at; empty for nothing."""
    people: str
    """What reviewers think, where the reader may know."""


class DossierOpinion(Frozen):
    """A score that somebody set in place of the reviewers'."""

    title: str
    text: str


class Dossier(Frozen):
    title: str
    subtitle: str
    counts: tuple[BriefLine, ...]
    warnings: tuple[BriefLine, ...]
    order: str
    """By what the rows are in order."""
    with_people: bool
    with_certainty: bool
    """Whether any row has one."""
    rows: tuple[DossierRow, ...]
    refused: tuple[BriefLine, ...]
    people: tuple[BriefLine, ...]
    overrides: tuple[DossierOpinion, ...]
    call: str
    year: int
    month: int
    day: int
    """When it was made, in UTC."""
