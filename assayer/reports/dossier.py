"""Dossier on a call for proposals, for the officer's records: its proposals' results and the reviewers' opinions."""

import datetime as dt

from assayer.models import Frozen
from assayer.reports.brief import BriefLine


class DossierRow(Frozen):
    place: str
    """Rank of the proposal with its interval; without a ranking, its row number."""
    title: str
    source: str
    share: float | None
    """Score of the proposal, 0 to 1; None if there is none."""
    score: str
    """Score in words, such as `52` or `no score: why`."""
    certainty: str
    fit: str
    flags: str
    """Flags that a person should review; empty if there are none."""
    people: str
    """Opinions of reviewers, if the reader is allowed to see them."""
    decision: str
    """Decision with amount and reason, if the reader is allowed to see it."""


class Dossier(Frozen):
    title: str
    subtitle: str
    counts: tuple[BriefLine, ...]
    warnings: tuple[BriefLine, ...]
    order: str
    """Criterion that determines the order of the rows."""
    with_people: bool
    with_certainty: bool
    """True if any row has a certainty."""
    rows: tuple[DossierRow, ...]
    refused: tuple[BriefLine, ...]
    people: tuple[BriefLine, ...]
    overrides: tuple[BriefLine, ...]
    """Scores set manually, which override the scores computed from reviewers' opinions."""
    call: str
    day: dt.date
    """Day the dossier was made, in UTC."""
