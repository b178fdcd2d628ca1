"""Reviewing: assignments, conflicts of interest, opinions, the panel and sign-off. Reviewers score from 1 to 5."""

import datetime as dt
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from assayer_client.calls import ReviewAnswers
from assayer_client.people import Affiliation, Email, Member, PersonRole
from assayer_client.requests import ApiCall, build_path, ignore_response, make_json_parser
from assayer_client.resources import Absent, BatchId, Body, Explained, JobId, JobState, MemberId, Name, Page, Resource

ReviewerId = Annotated[str, Field(pattern=r"^mb_[A-Za-z0-9]{1,60}$")]
ConflictReason = Annotated[str, Explained, Field(max_length=2_000)]
Reason = Annotated[str, Explained, Field(max_length=5_000)]
Note = Annotated[str, Field(max_length=20_000)]
RemarkText = Annotated[str, Field(min_length=1, max_length=10_000)]
ScoreOfPerson: TypeAlias = Annotated[int, Field(ge=1, le=5)]
"""Reviewer's score: 1 is weak, 5 outstanding."""


class AssignBody(Body):
    strategy: Literal["expertise", "load"] = "expertise"
    """Strategy for choosing reviewers. expertise: prefer reviewers whose keywords and papers are close to the proposal,
    and respect bids; no one gets more than `max_load` proposals or, without it, more than the mean load, unless there
    are too few others. load: make loads as even as possible; also used if there is no expertise and there are no
    bids."""
    per_proposal: int = Field(default=2, ge=1, le=10)
    """Number of reviewers per proposal, including those already assigned."""
    reviewers: tuple[ReviewerId, ...] | None = Field(default=None, min_length=1, max_length=500)
    """Reviewers to assign, chosen from the call's reviewers; null: all of them. If no reviewers were chosen for the
    call, all reviewers are eligible."""
    max_load: int | None = Field(default=None, ge=1, le=1_000)
    """Maximum number of this call's proposals per reviewer, including those already assigned; null: no limit."""
    dry_run: bool = False
    """Only report the assignments, without making them."""


class AssignOneBody(Body):
    reviewer: ReviewerId


class CallReviewersBody(Body):
    reviewers: tuple[ReviewerId, ...] | None = Field(min_length=1, max_length=5_000)
    """The only reviewers for the call; null: all members who are reviewers, as if none had been chosen."""
    dry_run: bool = False
    """Only report the changes, without making them."""


class CallInvitationBody(Body):
    name: Name
    email: Email
    """Email address by which the reviewer is recognised when they first sign in with an identity provider."""
    affiliation: Affiliation = ""
    """Institutions, separated by semicolons. Proposals from them are not assigned to the reviewer."""
    receives_email: bool = True
    """Send the reviewer email about this invitation, this call, and assigned proposals."""


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
    """Answers to the call's criteria and review form; required answers must be present."""


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
    allow_missing_opinions: bool = False
    """Sign off even if assigned opinions are missing. Their number is recorded."""
    allow_unfinished_evaluations: bool = False
    """Sign off even if evaluations have not ended. Their number is recorded; they continue until they end and cannot be
    cancelled."""
    allow_undecided_proposals: bool = False
    """Sign off even if only some proposals have a decision. The number of undecided proposals is recorded."""


class CallReviewers(Resource):
    chosen: bool
    """Whether reviewers were chosen for the call; if not, all reviewers are asked."""
    reviewers: tuple[Member, ...]
    """Reviewers to whom proposals can be assigned, ordered by name, except those who could read the reports in another
    role (`reviewers_not_blind` in an assignment). Chosen members who are no longer reviewers are omitted."""


class WithdrawnAssignment(Resource):
    evaluation: str
    member: str


class ChosenOutcome(Resource):
    """Changes made by choosing reviewers, or that would be made in a dry run."""

    dry_run: bool
    added: tuple[str, ...]
    removed: tuple[str, ...]
    """Reviewers who had been chosen and no longer are."""
    withdrawn: tuple[WithdrawnAssignment, ...]
    """Withdrawn assignments, none of which had an opinion. The next assignment gives their proposals to other
    reviewers."""


class ConflictOfInterest(Resource):
    """Reason why a member must not review a proposal."""

    evaluation: JobId
    member: MemberId
    source: Literal["declared", "declined", "name", "affiliation", "person", "coauthor"]
    """Way in which the conflict became known: a person declared it; the reviewer declined for another reason; or it was
    found in the words that identify the proposal's authors. Those contain one of the reviewer's name, an institution of
    the reviewer, a person whom the reviewer declared, or one of the reviewer's co-authors."""
    reason: str
    """Reason in words. For a conflict that was found, the matching words in the proposal."""
    cleared_reason: str | None
    """Why it is not actually a conflict; null while the conflict is active."""
    recorded_at: dt.datetime


class PlannedAssignment(Resource):
    evaluation: JobId
    member: MemberId
    reason: str
    """Why the proposal is assigned to this reviewer."""


class UnfilledProposal(Resource):
    """Proposal with fewer reviewers than required."""

    evaluation: str
    title: str
    missing_reviewers: int
    reason: str
    """Why there are too few reviewers."""


class AssignmentOutcome(Resource):
    """Result of an assignment, or of its dry run."""

    dry_run: bool
    assigned: int
    assignments: tuple[PlannedAssignment, ...]
    """New assignments."""
    withdrawn: int
    """Number of assignments that were withdrawn without an opinion, because the reviewer has a conflict of interest, is
    no longer a reviewer, or could read the reports."""
    loads: dict[str, int]
    """Number of this call's proposals per reviewer, including earlier assignments."""
    unfilled_proposals: tuple[UnfilledProposal, ...]
    conflicts: tuple[ConflictOfInterest, ...]
    """Active conflicts of interest, both declared and found."""
    reviewers_not_blind: tuple[str, ...]
    """Reviewers who are assigned no proposals in this call, because another role allowed them to read its reports, so
    that their first opinion would not be blind."""
    proposals_not_searched: tuple[str, ...]
    """Proposals submitted as documents that have not been parsed yet, so that their text could not be searched for
    conflicts."""


class Assignment(Resource):
    """Proposal assigned to a reviewer."""

    evaluation: JobId
    batch: BatchId
    row: int | None
    title: str
    state: JobState
    """State of the evaluation. A first opinion can be given before it ends."""
    member: MemberId
    reason: str
    """Why it was assigned to the reviewer; empty for reviewers."""
    assigned_at: dt.datetime
    opinion: Literal["none", "blind", "revised"]
    due_date: dt.date | None
    """Due date for the opinion, set by the person who runs the call."""
    call: str
    """Name of the call, or its id if it has no name."""
    signed_off: bool
    """Whether the call is signed off, so that nothing can be changed. Reviewers no longer see assignments without an
    opinion in their own list."""


class ProposalToRead(Resource):
    """Proposal as shown to its reviewers."""

    evaluation: str
    title: str
    text: str
    masked: bool
    """Whether the words that identify the authors were masked, as they are for the language model."""


class Opinion(Resource):
    """One reviewer's opinion on a proposal, first given without knowing the software's score, and possibly revised
    later."""

    evaluation: JobId
    member: MemberId
    name: str
    """Name of the reviewer; in a signed-off call, the name at the time of the sign-off."""
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
    """Whether the reviewer has an active conflict of interest that became known later. The opinion is shown but
    excluded from all figures."""


class PointJudgement(Resource):
    """A reviewer's agreement or disagreement with one point in the report."""

    evaluation: JobId
    member: MemberId
    name: str
    point: str
    """JSON Pointer to the point in the report."""
    agrees: bool
    reason: str
    judged_at: dt.datetime


class ScoreOverride(Resource):
    """Score set manually, which overrides the one computed from reviewers' opinions."""

    evaluation: JobId
    score: ScoreOfPerson
    reason: str
    overridden_by_id: str
    overridden_by: str
    overridden_at: dt.datetime


class Remark(Resource):
    """Remark that a person made on a proposal. It cannot be changed."""

    id: int
    evaluation: JobId
    author_id: str
    author: str
    role: PersonRole
    text: str
    created_at: dt.datetime


class SignOff(Resource):
    """Sign-off of a call, after which nothing about the call changes."""

    batch: BatchId
    signed_off_by_id: str
    signed_off_by: str
    note: str
    missing_opinions: int
    """Number of assigned opinions that were never submitted."""
    signed_off_at: dt.datetime
    audit_number: int
    """Number of the sign-off's entry in the audit log. Record it together with its hash."""
    audit_hash: str


class PanelPair(Resource):
    """Two reviewers, and how far they agree."""

    first: str
    second: str
    common_proposals: int
    """Number of proposals that both reviewers have scored."""
    kappa: float | Absent
    """Cohen's kappa with quadratic weights: 1 is full agreement, 0 is agreement by chance."""


class PanelAgreement(Resource):
    kappa: float | Absent
    """Mean kappa over the pairs, weighted by the number of shared proposals."""
    pairs: tuple[PanelPair, ...]


class PanelProposal(Resource):
    """Proposal that has an assigned reviewer, or a score set by an officer."""

    evaluation: JobId
    row: int | None
    title: str
    assigned_reviewers: int
    excluded_opinions: int
    """Number of opinions by people with an active conflict of interest, which are excluded from all figures."""
    mean: float | None
    """Mean of the reviewers' current scores; null if no score counts."""
    spread: int | None
    """Difference between the highest and the lowest score; null if there are fewer than two."""
    override: ScoreOverride | None
    score: float | None
    """Score that counts: the override if there is one, otherwise the mean."""


class PanelRow(PanelProposal):
    """Proposal that has an assigned reviewer, or a score set by an officer, with all opinions on it."""

    opinions: tuple[Opinion, ...]
    criteria: dict[str, float]
    """Mean of the reviewers' current scores, from 1 to 10, by criterion; criteria without a score are omitted."""


class Panel(Resource):
    """The reviewers' opinions on a batch, without any of the software's results."""

    batch: str
    assigned_opinions: int
    submitted_opinions: int
    revised_opinions: int
    excluded_opinions: int
    """Number of opinions by people with an active conflict of interest. They are shown, but excluded from means,
    spreads, scores and agreement."""
    rows: tuple[PanelRow, ...]
    """Rows in the batch's order."""
    next: str | None
    """Cursor for the next page; null on the last page, or if no limit was set."""
    blind: PanelAgreement
    """Agreement between first opinions, which are given before the software's result is shown."""
    current: PanelAgreement
    """Agreement between current opinions."""
    sign_off: SignOff | None


def list_assignments(*, batch: str | None = None, limit: int = 1_000) -> ApiCall[Page[Assignment]]:
    """List assignments: for reviewers, only their own, starting with those without an opinion; for other roles, all."""
    return ApiCall(
        "GET", build_path("assignments"), make_json_parser(Page[Assignment]), {"batch": batch, "limit": limit}
    )


def assign_reviewer(evaluation: str, body: AssignOneBody) -> ApiCall[None]:
    """Assign a proposal to one reviewer, chosen manually."""
    return ApiCall("POST", build_path("evaluations", evaluation, "assignments"), ignore_response, body=body)


def withdraw_assignment(evaluation: str, *, reviewer: str) -> ApiCall[None]:
    """Withdraw a proposal from a reviewer who has not given an opinion on it."""
    assignment_path = build_path("evaluations", evaluation, "assignments")
    return ApiCall("DELETE", assignment_path, ignore_response, {"reviewer": reviewer})


def clear_conflict(evaluation: str, *, reviewer: str, reason: str) -> ApiCall[ConflictOfInterest]:
    """Clear a conflict of interest, with a reason. The conflict stays on record."""
    conflict_path = build_path("evaluations", evaluation, "conflicts")
    return ApiCall(
        "DELETE", conflict_path, make_json_parser(ConflictOfInterest), {"reviewer": reviewer, "reason": reason}
    )


def get_panel(batch: str, *, limit: int | None = None, after: str | None = None) -> ApiCall[Panel]:
    """Return the opinions on a batch and how far its reviewers agree, all at once or with `limit` rows per page.
    `after` is `next` from the previous page. On each page, figures and agreement cover the whole batch."""
    return ApiCall(
        "GET", build_path("batches", batch, "panel"), make_json_parser(Panel), {"limit": limit, "after": after}
    )
