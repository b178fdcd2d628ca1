"""An idea's own references, and the result of checking each."""

import datetime as dt
from typing import Literal

from assayer.models.base import Frozen
from assayer.models.document import ReferencesReader
from assayer_client.points import ClaimSupport
from assayer_client.reports import Retraction
from assayer_client.resources import Absent, PaperId

OwnReferenceOutcome = Literal["found", "differs", "retracted", "not_found"]
"""Result of checking a reference. `differs`: a record was found, but the idea describes the work differently.
`retracted`: a record was found, but the work was retracted or withdrawn. `not_found`: the queried sources have no
record, although the work may exist."""


class ReferenceRecord(Frozen):
    """A source's record of a work that an idea cites."""

    id: PaperId
    title: str
    authors: tuple[str, ...]
    publication_date: dt.date | None
    venue: str
    url: str
    source: str


class OwnReference(Frozen):
    """Entry in the idea's reference list."""

    number: int
    """Position of the entry in the idea's list, from 1."""
    text: str
    """Entry as printed, or assembled from its fields if the parser did not keep the text."""
    outcome: OwnReferenceOutcome | Absent
    differences: tuple[str, ...] = ()
    """Differences between the entry and the record, one sentence each. Even if the outcome is `found`, there can be a
    note about a subtitle that the record lacks."""
    record: ReferenceRecord | None = None
    retraction: Retraction | None = None
    """Retraction notice about the record. An expression of concern alone does not change the outcome."""
    retraction_sources_unanswered: tuple[str, ...] = ()
    """Sources of retraction notices that gave no answer about the record."""
    after_cutoff: bool = False
    """True if the record is dated after the cutoff. The work is looked up anyway, because the idea itself cites it."""
    sources_answered: tuple[str, ...] = ()
    """Sources that answered when queried for the entry."""
    sources_unanswered: tuple[str, ...] = ()
    """Sources that should have been queried for the entry but gave no answer."""
    passage: str = ""
    """Passage in which the idea first cites the entry; empty if none was recognised."""
    passage_support: ClaimSupport | Absent = Absent(reason="not checked.")
    """Result of checking whether the work's abstract supports the passage. The paper may say more than its abstract."""


class OwnReferences(Frozen):
    """All of an idea's references, in the idea's order."""

    parser: ReferencesReader
    """Parser that split the list into entries."""
    entries: tuple[OwnReference, ...]
    unchecked_entries: int = 0
    """Number of entries that were not checked because they exceed the limit per idea."""
