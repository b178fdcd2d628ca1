"""Reviewers' expertise, their declared conflicts of interest, and their bids on a funding call's proposals."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from assayer_client.resources import Body, JobId, MemberId, Resource

_Line = StringConstraints(strip_whitespace=True, min_length=2, max_length=200, pattern=r"^[^\x00-\x1f]*$")
Keyword = Annotated[str, _Line]
InstitutionName = Annotated[str, _Line]
PersonName = Annotated[str, _Line]
Bid = Literal["eager", "willing", "unwilling", "conflict"]


class ReviewerPaper(Body):
    """Paper by a reviewer."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=1_000)]
    authors: tuple[Annotated[str, StringConstraints(max_length=300)], ...] = Field(default=(), max_length=2_000)
    year: int | None = Field(default=None, ge=1500, le=2200)
    doi: Annotated[str, StringConstraints(max_length=300)] = ""
    abstract: Annotated[str, StringConstraints(max_length=20_000)] = ""
    listed_by_person: bool = True
    """True if a person listed the paper; false if it was found in the corpus under the reviewer's name. Papers found
    there are used only to find co-authors."""
    in_corpus: bool = False
    """True if the corpus has the paper. Title, authors, year and abstract are then those in the corpus."""


class ExpertiseBody(Body):
    """A reviewer's expertise and conflicts of interest, which replace those stored earlier."""

    version: int = Field(default=0, ge=0)
    """Version that this one replaces; 0 if there is none."""
    keywords: tuple[Keyword, ...] = Field(default=(), max_length=50)
    papers: tuple[ReviewerPaper, ...] = Field(default=(), max_length=1_000)
    references: Annotated[str, StringConstraints(max_length=2_000_000)] = ""
    """Further papers by the reviewer, as BibTeX, RIS, EndNote, CSL JSON, Zotero's CSV, or a reference list with one
    entry per line."""
    institutions: tuple[InstitutionName, ...] = Field(default=(), max_length=50)
    """Institutions whose proposals the reviewer must not review, in addition to the member's own."""
    people: tuple[PersonName, ...] = Field(default=(), max_length=1_000)
    """People whose proposals the reviewer must not review, such as co-authors, advisers and relatives."""


class Expertise(Resource):
    member: MemberId
    version: int
    """Version of the stored expertise; 0 if there is none."""
    keywords: tuple[str, ...] = ()
    papers: tuple[ReviewerPaper, ...] = ()
    institutions: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    declared_at: dt.datetime | None = None
    """When the reviewer last confirmed institutions and people; null if only an officer entered them."""
    changed_by: str = ""
    changed_at: dt.datetime | None = None


class ExpertiseOutcome(Resource):
    """Stored expertise, and what could not be used."""

    expertise: Expertise
    unparsed_references: tuple[str, ...]
    """First words of references without a title, which were not stored."""
    corpus_lookup_absent: str
    """Why the papers were not looked up in the corpus; empty if they were."""


class BiddingBody(Body):
    open: bool
    """True to ask the funding call's reviewers which proposals they would review."""


class Bidding(Resource):
    open: bool


class BidsBody(Body):
    bids: dict[JobId, Bid | None] = Field(min_length=1, max_length=10_000)
    """Bids, keyed by the evaluation's id; null withdraws a bid, but not a declared conflict."""
    reason: Annotated[str, StringConstraints(max_length=2_000)] = ""
    """Reason for the conflicts among the bids."""


class BiddableProposal(Resource):
    """Proposal that may be assigned to a reviewer."""

    evaluation: JobId
    row: int | None
    title: str
    """Title. If proposals are judged blind, the masked title or, until there is a report, the row number."""
    bid: Bid | None


class ReviewerBid(Resource):
    evaluation: JobId
    member: MemberId
    bid: Bid
    bid_at: dt.datetime
