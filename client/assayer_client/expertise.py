"""Expertise of reviewers, their declared interests, and their bids on the proposals of a call."""

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
    """Paper of a reviewer."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=1_000)]
    authors: tuple[Annotated[str, StringConstraints(max_length=300)], ...] = Field(default=(), max_length=2_000)
    year: int | None = Field(default=None, ge=1500, le=2200)
    doi: Annotated[str, StringConstraints(max_length=300)] = ""
    abstract: Annotated[str, StringConstraints(max_length=20_000)] = ""
    listed: bool = True
    """True if a person listed the paper; false if it was found in the corpus under the reviewer's name. Papers of the
    second kind serve only to find co-authors."""
    in_corpus: bool = False
    """True if the corpus has the paper; title, authors, year and abstract are then those of the corpus."""


class ExpertiseBody(Body):
    """Expertise and interests of a reviewer, replacing those stored before."""

    version: int = Field(default=0, ge=0)
    """Version that this one replaces; 0 if there is none."""
    keywords: tuple[Keyword, ...] = Field(default=(), max_length=50)
    papers: tuple[ReviewerPaper, ...] = Field(default=(), max_length=1_000)
    references: Annotated[str, StringConstraints(max_length=2_000_000)] = ""
    """Further papers of the reviewer: BibTeX, RIS, EndNote, CSL JSON, Zotero's CSV, or a reference list with one entry
    on each line."""
    institutions: tuple[InstitutionName, ...] = Field(default=(), max_length=50)
    """Institutions whose proposals the reviewer must not review, besides those of the member."""
    people: tuple[PersonName, ...] = Field(default=(), max_length=1_000)
    """People whose proposals the reviewer must not review, such as co-authors, advisers and relatives."""


class Expertise(Resource):
    member: MemberId
    version: int
    """0 if nothing has been stored."""
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
    unread: tuple[str, ...]
    """Beginnings of references without a title, which were not stored."""
    corpus: str
    """Why the papers were not looked up in the corpus; empty if they were."""


class BiddingBody(Body):
    open: bool
    """True to ask the reviewers of the call which proposals they would review."""


class Bidding(Resource):
    open: bool


class BidsBody(Body):
    bids: dict[JobId, Bid | None] = Field(min_length=1, max_length=10_000)
    """Bids by the id of the evaluation; null withdraws a bid, but not a declared conflict."""
    reason: Annotated[str, StringConstraints(max_length=2_000)] = ""
    """Reason for the conflicts among the bids."""


class BiddableProposal(Resource):
    """Proposal that a reviewer may be assigned."""

    evaluation: JobId
    row: int | None
    title: str
    """Title; if proposals are judged blind, the masked title or, until there is a report, the number of the row."""
    bid: Bid | None


class GivenBid(Resource):
    evaluation: JobId
    member: MemberId
    bid: Bid
    at: dt.datetime
