"""Dossier of a call for the officer's records: results of its proposals, and opinions of people."""

import datetime as dt

from assayer.models import Frozen
from assayer.reports.brief import BriefLine


class DossierRow(Frozen):
    place: str
    """Rank of the proposal with its interval, or its row."""
    title: str
    source: str
    share: float | None
    """Score of the proposal, 0 to 1; None if there is none."""
    score: str
    """Score in words: `52`, `no score: why`."""
    certainty: str
    fit: str
    flags: str
    """Flags that people should review; empty if there are none."""
    people: str
    """Opinions of reviewers, if the reader may see them."""


class Dossier(Frozen):
    title: str
    subtitle: str
    counts: tuple[BriefLine, ...]
    warnings: tuple[BriefLine, ...]
    order: str
    """Criterion by which the rows are ordered."""
    with_people: bool
    with_certainty: bool
    """Whether any row has one."""
    rows: tuple[DossierRow, ...]
    refused: tuple[BriefLine, ...]
    people: tuple[BriefLine, ...]
    overrides: tuple[BriefLine, ...]
    """Scores that people set in place of the reviewers' scores."""
    call: str
    day: dt.date
    """Day on which the dossier was made, in UTC."""
