"""Reviewing: assignments, conflicts of interest, opinions, the panel and sign-off. Reviewers score from 1 to 5."""

import datetime as dt
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from assayer_client.calls import ReviewAnswers
from assayer_client.people import Affiliation, Email, Member, PersonRole
from assayer_client.requests import ApiCall, path, reads, reads_nothing
from assayer_client.resources import (
    Absent,
    BatchId,
    Body,
    Explained,
    JobId,
    JobState,
    MemberId,
    Name,
    Page,
    Resource,
)

ReviewerId = Annotated[str, Field(pattern=r"^mb_[A-Za-z0-9]{1,60}$")]
ConflictReason = Annotated[str, Explained, Field(max_length=2_000)]
Reason = Annotated[str, Explained, Field(max_length=5_000)]
Note = Annotated[str, Field(max_length=20_000)]
RemarkText = Annotated[str, Field(min_length=1, max_length=10_000)]
ScoreOfPerson: TypeAlias = Annotated[int, Field(ge=1, le=5)]
"""Reviewer's score: 1 is weak, 5 outstanding."""


class AssignBody(Body):
    by: Literal["expertise", "load"] = "expertise"
    """expertise: prefer reviewers whose keywords and papers are close to the proposal, and respect bids; no one gets
    more than `max_load` proposals or, without it, than the mean load, unless there are too few others. load: make loads
    as even as possible; also used if nothing is known about expertise and there are no bids."""
    per_proposal: int = Field(default=2, ge=1, le=10)
    """Number of reviewers per proposal, including those already assigned."""
    reviewers: tuple[ReviewerId, ...] | None = Field(default=None, min_length=1, max_length=500)
    """Reviewers to assign, from those who review the call; null: all of them. If no reviewers were chosen for the call,
    all reviewers are eligible."""
    max_load: int | None = Field(default=None, ge=1, le=1_000)
    """Maximum number of this call's proposals for each reviewer, including those already assigned; null: no limit."""
    dry_run: bool = False
    """Only report the assignments without making them."""


class AssignOneBody(Body):
    reviewer: ReviewerId


class CallReviewersBody(Body):
    reviewers: tuple[ReviewerId, ...] | None = Field(min_length=1, max_length=5_000)
    """Reviewers of the call, to the exclusion of all others; null: all members who are reviewers, as if none had been
    chosen."""
    dry_run: bool = False
    """Only report the changes without making them."""


class CallInvitationBody(Body):
    name: Name
    email: Email
    """Email address that identifies the reviewer when they first sign in with an identity provider."""
    affiliation: Affiliation = ""
    """Institutions, separated by semicolons; proposals from them are not assigned to the reviewer."""
    mails: bool = True
    """Send the reviewer mail about this invitation, this call, and assigned proposals."""


class ConflictBody(Body):
    reviewer: ReviewerId | None = None
    """Id of the reviewer; null: the caller."""
    reason: ConflictReason


class OpinionBody(Body):
    score: ScoreOfPerson
    """Score from 1 (weak) to 5 (outstanding)."""
    note: Note = ""
    """Comments to the panel."""
    answers: ReviewAnswers = ReviewAnswers()
    """Answers to the call's criteria and review form; all that the form asks for are required."""


class JudgementBody(Body):
    point: str = Field(max_length=300)
    """JSON Pointer to a point of the report, such as `/parts/0/strengths/2`."""
    agrees: bool
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=5_000)] = ""
    """Reason; required to disagree (at least 3 characters)."""

    @model_validator(mode="after")
    def _explains_disagreement(self) -> Self:
        if not self.agrees and len(self.reason) < 3:
            raise ValueError("Give a reason for disagreeing (at least 3 characters)")
        return self


class OverrideBody(Body):
    score: ScoreOfPerson
    """Score from 1 (weak) to 5 (outstanding)."""
    reason: Reason


class RemarkBody(Body):
    text: RemarkText


class SignOffBody(Body):
    note: str = Field(default="", max_length=5_000)
    despite_missing: bool = False
    """Sign off even if assigned opinions are missing; their number is recorded."""
    despite_unfinished: bool = False
    """Sign off even if evaluations have not ended; their number is recorded. They continue until they end and cannot be
    cancelled."""
    despite_undecided: bool = False
    """Sign off even if some proposals have a decision and others have none; their number is recorded."""


class CallReviewers(Resource):
    chosen: bool
    """True if reviewers were chosen; if false, all reviewers are asked."""
    reviewers: tuple[Member, ...]
    """Reviewers who can be assigned proposals, ordered by name, except those who could read the reports in another role
    (`not_blind` in an assignment). Chosen members who are no longer reviewers are left out."""


class WithdrawnAssignment(Resource):
    evaluation: str
    member: str


class ChosenOutcome(Resource):
    """Changes made by choosing reviewers, or that its dry run would make."""

    dry_run: bool
    added: tuple[str, ...]
    removed: tuple[str, ...]
    """Reviewers who were chosen before and no longer are."""
    withdrawn: tuple[WithdrawnAssignment, ...]
    """Withdrawn assignments, none of which had an opinion. The next assignment distributes their proposals to other
    reviewers."""


class ConflictOfInterest(Resource):
    """Reason why a member must not review a proposal."""

    evaluation: JobId
    member: MemberId
    source: Literal["declared", "declined", "name", "affiliation", "person", "coauthor"]
    """Source of the conflict: declared by a person; declined by the reviewer for another reason; or found because the
    words that identify the proposal's authors contain the reviewer's name, one of the reviewer's institutions, a person
    whom the reviewer declared, or a co-author of the reviewer."""
    reason: str
    """Reason in words; for a conflict that was found, the matching words of the proposal."""
    cleared: str | None
    """Reason why it is not actually a conflict; null while the conflict is active."""
    at: dt.datetime


class PlannedAssignment(Resource):
    evaluation: JobId
    member: MemberId
    reason: str
    """Why the proposal goes to this reviewer."""


class UnfilledProposal(Resource):
    """Proposal that is assigned to fewer reviewers than required."""

    evaluation: str
    title: str
    missing: int
    reason: str
    """Why there are too few reviewers."""


class AssignmentOutcome(Resource):
    """Result of an assignment, or of its dry run."""

    dry_run: bool
    assigned: int
    assignments: tuple[PlannedAssignment, ...]
    """New assignments."""
    withdrawn: int
    """Number of assignments that ended without an opinion, because the reviewer has a conflict of interest, is no
    longer a reviewer, or could read the reports."""
    loads: dict[str, int]
    """Number of this call's proposals assigned to each reviewer, including earlier assignments."""
    unfilled: tuple[UnfilledProposal, ...]
    conflicts: tuple[ConflictOfInterest, ...]
    """Active conflicts of interest, both declared and found."""
    not_blind: tuple[str, ...]
    """Reviewers who are assigned no proposals of this call, because another role allowed them to read its reports, so
    that their first opinion would not be blind."""
    not_searched: tuple[str, ...]
    """Proposals submitted as documents whose text is not available yet, so that they could not be searched for
    conflicts."""


class Assignment(Resource):
    """Proposal assigned to a reviewer."""

    evaluation: JobId
    batch: BatchId
    row: int | None
    title: str
    state: JobState
    """State of the evaluation; a first opinion can be given before it ends."""
    member: MemberId
    reason: str
    """Why it was assigned to the reviewer; empty for reviewers."""
    at: dt.datetime
    opinion: Literal["none", "blind", "revised"]
    due: dt.date | None
    """Due date of the opinion, as set by the person who runs the call."""
    call: str
    """Name of the call, or its id if it has no name."""
    signed_off: bool
    """True if the call is signed off, so that nothing can be changed. Assignments without an opinion are then no longer
    in the reviewer's own list."""


class ProposalToRead(Resource):
    """Proposal as shown to its reviewers."""

    evaluation: str
    title: str
    text: str
    masked: bool
    """True if the words that identify the proposal's authors were masked, as they are for the program."""


class Opinion(Resource):
    """Opinion of one reviewer on a proposal: first given without knowing the program's score, and possibly revised
    afterwards."""

    evaluation: JobId
    member: MemberId
    name: str
    """Name of the reviewer; for a signed-off call, the name at the time of the sign-off."""
    blind_score: ScoreOfPerson
    blind_note: str
    blind_answers: ReviewAnswers
    blind_at: dt.datetime
    score: ScoreOfPerson
    """Current score, equal to the blind score until it is revised."""
    note: str
    answers: ReviewAnswers
    """Current answers to the call's criteria and review form."""
    revised_at: dt.datetime | None
    conflict: bool
    """True if the reviewer has an active conflict of interest that became known later: the opinion is shown but does
    not count in any figure."""


class PointJudgement(Resource):
    """Agreement or disagreement of a reviewer with one point of the report."""

    evaluation: JobId
    member: MemberId
    name: str
    point: str
    """JSON Pointer to the point in the report."""
    agrees: bool
    reason: str
    at: dt.datetime


class ScoreOverride(Resource):
    """Score set by a person that replaces the result of the opinions."""

    evaluation: JobId
    score: ScoreOfPerson
    reason: str
    by: str
    name: str
    at: dt.datetime


class Remark(Resource):
    """Remark by a person on a proposal, which cannot be changed."""

    id: int
    evaluation: JobId
    by: str
    name: str
    role: PersonRole
    text: str
    at: dt.datetime


class SignOff(Resource):
    """Sign-off of a call, after which it is decided and nothing about it changes."""

    batch: BatchId
    by: str
    name: str
    note: str
    missing_opinions: int
    """Number of assigned opinions that were never submitted."""
    at: dt.datetime
    audit_number: int
    """Number of the audit log entry of the sign-off; record it together with its hash."""
    audit_hash: str


class PanelPair(Resource):
    """Pair of reviewers, with their agreement."""

    first: str
    second: str
    common: int
    """Number of proposals that both reviewers have scored."""
    kappa: float | Absent
    """Cohen's kappa with quadratic weights: 1 is full agreement, 0 is agreement by chance."""


class PanelAgreement(Resource):
    kappa: float | Absent
    """Mean kappa of the pairs, weighted by the number of shared proposals."""
    pairs: tuple[PanelPair, ...]


class PanelProposal(Resource):
    """Proposal with an assigned reviewer, or with a score set by an officer."""

    evaluation: JobId
    row: int | None
    title: str
    assigned: int
    set_aside: int
    """Number of opinions from people with an active conflict of interest; they do not count in any figure."""
    mean: float | None
    """Mean of the reviewers' current scores; null if no score counts."""
    spread: int | None
    """Difference between the highest and the lowest score; null for fewer than two."""
    override: ScoreOverride | None
    score: float | None
    """Score that counts: the override if there is one, otherwise the mean."""


class PanelRow(PanelProposal):
    """Proposal with an assigned reviewer, or with a score set by an officer, together with all opinions on it."""

    opinions: tuple[Opinion, ...]
    criteria: dict[str, float]
    """Mean of the reviewers' current scores from 1 to 10 by criterion; criteria without a score are missing."""


class Panel(Resource):
    """Opinions of a batch's reviewers, without any result of the program."""

    batch: str
    assigned: int
    given: int
    revised: int
    set_aside: int
    """Number of opinions from people with an active conflict of interest: shown, but left out of means, spreads, scores
    and agreement."""
    rows: tuple[PanelRow, ...]
    """Rows in the order of the batch."""
    next: str | None
    """Cursor of the next page; null on the last page, or if no limit was set."""
    blind: PanelAgreement
    """Agreement of first opinions, which are given before the program's result is shown."""
    standing: PanelAgreement
    """Agreement of current opinions."""
    sign_off: SignOff | None


def assignments(*, batch: str | None = None, limit: int = 1_000) -> ApiCall[Page[Assignment]]:
    """List assignments: for reviewers only their own, those without an opinion first; for other roles all
    assignments."""
    return ApiCall("GET", path("assignments"), reads(Page[Assignment]), {"batch": batch, "limit": limit})


def assign_reviewer(evaluation: str, body: AssignOneBody) -> ApiCall[None]:
    """Assign a proposal to one reviewer, chosen by hand."""
    return ApiCall("POST", path("evaluations", evaluation, "assignments"), reads_nothing, body=body)


def withdraw_assignment(evaluation: str, *, reviewer: str) -> ApiCall[None]:
    """Withdraw a proposal from a reviewer who has not submitted an opinion on it."""
    own = path("evaluations", evaluation, "assignments")
    return ApiCall("DELETE", own, reads_nothing, {"reviewer": reviewer})


def clear_conflict(evaluation: str, *, reviewer: str, reason: str) -> ApiCall[ConflictOfInterest]:
    """Clear a conflict of interest with a reason. The conflict stays on record."""
    own = path("evaluations", evaluation, "conflicts")
    return ApiCall("DELETE", own, reads(ConflictOfInterest), {"reviewer": reviewer, "reason": reason})


def panel(batch: str, *, limit: int | None = None, after: str | None = None) -> ApiCall[Panel]:
    """Return the opinions on a batch and the agreement of its reviewers, in full or with `limit` rows per page; `after`
    is `next` from the previous page. Figures and agreement cover the whole batch on each page."""
    return ApiCall("GET", path("batches", batch, "panel"), reads(Panel), {"limit": limit, "after": after})
