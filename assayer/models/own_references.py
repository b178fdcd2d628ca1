"""References of an idea, and the result of checking each."""

import datetime as dt
from typing import Literal

from assayer.models.base import Frozen
from assayer.models.document import ReferencesReader
from assayer_client.points import ClaimSupport
from assayer_client.reports import Retraction
from assayer_client.resources import Absent, PaperId

OwnReferenceOutcome = Literal["found", "differs", "retracted", "not_found"]
"""Outcome of checking a reference. `differs`: the record exists, but the idea describes it differently. `retracted`:
the record was found, but the work was retracted or withdrawn. `not_found`: the queried sources have no such record,
although one may exist."""


class ReferenceRecord(Frozen):
    """Record held by a source for a work that an idea references."""

    id: PaperId
    title: str
    authors: tuple[str, ...]
    publication_date: dt.date | None
    venue: str
    url: str
    source: str


class OwnReference(Frozen):
    """Entry of the idea's reference list."""

    number: int
    """Number of the entry from 1, in the idea's order."""
    text: str
    """Text of the entry as printed, or assembled from its fields if the parser did not keep it."""
    outcome: OwnReferenceOutcome | Absent
    differences: tuple[str, ...] = ()
    """Differences between the entry and the record, one sentence each. If the outcome is `found`, this can be a note on
    a subtitle that the record lacks."""
    record: ReferenceRecord | None = None
    retraction: Retraction | None = None
    """Notice about the record that was found. An expression of concern alone does not change the outcome."""
    retraction_unanswered: tuple[str, ...] = ()
    """Sources that provide retraction notices but gave no answer about the record found."""
    after_cutoff: bool = False
    """True if the record is dated after the cutoff. The work is looked up anyway, because the idea itself cites it."""
    asked: tuple[str, ...] = ()
    """Sources that answered when queried for the entry."""
    unanswered: tuple[str, ...] = ()
    """Sources that should have been queried for the entry but gave no answer."""
    passage: str = ""
    """Passage in which the idea first refers to the entry; empty if no such passage was recognised."""
    borne_out: ClaimSupport | Absent = Absent(reason="not checked.")
    """Result of checking whether the abstract supports the passage. The paper itself may contain more than its
    abstract."""


class OwnReferences(Frozen):
    """All references of an idea, in its order."""

    read_by: ReferencesReader
    """Reader that separated the entries."""
    entries: tuple[OwnReference, ...]
    beyond: int = 0
    """Number of entries that were not checked because they exceed the limit per idea."""
