"""The references that an idea itself gives, and what could be found out about each."""

import datetime as dt
from typing import Literal

from assayer.models.assessment import ClaimSupport
from assayer.models.base import Absent, Frozen
from assayer.models.paper import PaperId, Retraction

__all__ = ["OwnReference", "OwnReferenceOutcome", "OwnReferences", "ReferenceRecord"]

OwnReferenceOutcome = Literal["found", "differs", "retracted", "not_found"]
"""`differs`: there is such a record, but what the idea says of it is not what the record says. `retracted`: found, and
it no longer stands as published. `not_found`: the sources asked have no such record; it may exist all the same."""


class ReferenceRecord(Frozen):
    """A source's own record of what an idea refers to."""

    id: PaperId
    title: str
    authors: tuple[str, ...]
    publication_date: dt.date | None
    venue: str
    url: str
    source: str


class OwnReference(Frozen):
    """One entry of the idea's references."""

    number: int
    """From 1, in the idea's order."""
    text: str
    """The entry as it is given, or put together from its fields where its parser did not keep it."""
    outcome: OwnReferenceOutcome | Absent
    differences: tuple[str, ...] = ()
    """What the entry says otherwise than the record, one sentence each."""
    record: ReferenceRecord | None = None
    retraction: Retraction | None = None
    """A mere expression of concern leaves the outcome as it is."""
    retraction_unanswered: tuple[str, ...] = ()
    """Sources that know of retractions, and gave no answer about the record found."""
    after_cutoff: bool = False
    """The record is dated after the cutoff. It is looked for all the same: it is the idea's own."""
    asked: tuple[str, ...] = ()
    """Sources that answered when they were asked for it."""
    unanswered: tuple[str, ...] = ()
    """Sources that were to be asked for it, and gave no answer."""
    passage: str = ""
    """Where the idea refers to it, for the first time; empty where no such place was recognised."""
    borne_out: ClaimSupport | Absent = Absent(reason="not checked.")
    """Whether its abstract bears out that passage. The paper itself may say more than its abstract."""


class OwnReferences(Frozen):
    """All of them, in the idea's order."""

    read_by: Literal["grobid", "text"]
    """Who told the entries apart: GROBID in the PDF, or assayer in the idea's text."""
    entries: tuple[OwnReference, ...]
    beyond: int = 0
    """Entries that were not checked, because there were more than are checked of one idea."""
