"""Reviewing: assignments, conflicts of interest, opinions, the panel, sign-off. People score from 1 to 5."""

import datetime as dt
from typing import Literal

from assayer_client.people import Member
from assayer_client.requests import ApiCall, path, reads, reads_nothing
from assayer_client.resources import Absent, Body, JobState, Page, Resource


class AssignBody(Body):
    per_proposal: int = 2
    """Reviewers of each proposal, those that it has included."""
    reviewers: tuple[str, ...] | None = None
    """Of those who review the call; None: all of them. Where nobody was chosen for it, they are all reviewers."""
    dry_run: bool = False
    """Only say who would get what."""


class CallReviewersBody(Body):
    reviewers: tuple[str, ...] | None
    """These and nobody else; None: all members who are reviewers, as if nobody had been chosen."""
    dry_run: bool = False
    """Only say what would change."""


class CallInvitationBody(Body):
    name: str
    email: str
    """By it they are known when they first sign in with an identity provider."""
    affiliation: str = ""
    """Institutions, separated by semicolons: proposals from there are not assigned to them."""
    mails: bool = True
    """Whether they are told by mail: of this invitation and call, and of proposals assigned to them."""


class ConflictBody(Body):
    reviewer: str | None = None
    """None: oneself."""
    reason: str


class OpinionBody(Body):
    score: int
    """From 1, weak, to 5, outstanding."""
    note: str = ""


class JudgementBody(Body):
    point: str
    """JSON Pointer to a point of the report."""
    agrees: bool
    reason: str


class OverrideBody(Body):
    score: int
    reason: str


class RemarkBody(Body):
    text: str


class SignOffBody(Body):
    note: str = ""
    despite_missing: bool = False
    """Also while assigned opinions are missing; how many is written down."""
    despite_unfinished: bool = False
    """Also while evaluations have not ended; how many is written down. They still end, and cannot be cancelled."""


class CallReviewers(Resource):
    chosen: bool
    """False: nobody was chosen, and all reviewers are asked."""
    reviewers: tuple[Member, ...]
    """Who gets proposals when they are assigned, by name."""


class WithdrawnAssignment(Resource):
    evaluation: str
    member: str


class ChosenOutcome(Resource):
    """What a choice changed, or would."""

    dry_run: bool
    added: tuple[str, ...]
    removed: tuple[str, ...]
    """Chosen before, and no more."""
    withdrawn: tuple[WithdrawnAssignment, ...]
    """Assignments without an opinion that end."""


class ConflictOfInterest(Resource):
    """Why somebody must not review a proposal."""

    evaluation: str
    member: str
    source: Literal["declared", "name", "affiliation"]
    reason: str
    cleared: str | None
    """Why it is none after all; None while it stands."""
    at: dt.datetime


class UnfilledProposal(Resource):
    """A proposal that does not get as many reviewers as it should."""

    evaluation: str
    title: str
    missing: int


class AssignmentOutcome(Resource):
    """What was assigned, or would be."""

    dry_run: bool
    assigned: int
    withdrawn: int = 0
    """Assignments without an opinion that end: a conflict of interest bars them, or their person reviews no more, or
    could read the reports."""
    loads: dict[str, int]
    """Proposals of this call by reviewer."""
    unfilled: tuple[UnfilledProposal, ...]
    conflicts: tuple[ConflictOfInterest, ...]
    not_blind: tuple[str, ...] = ()
    """Reviewers who get none of this call: another role let them read its reports."""
    not_searched: tuple[str, ...]
    """Proposals whose text is not there yet, as they came as documents."""


class Assignment(Resource):
    """A proposal that somebody is to review."""

    evaluation: str
    batch: str
    row: int | None
    title: str
    state: JobState
    member: str
    at: dt.datetime
    opinion: Literal["none", "blind", "revised"]
    due: dt.date | None = None
    """The last day for it, as whoever runs the call has set it."""


class ProposalToRead(Resource):
    """A proposal as its reviewers read it."""

    evaluation: str
    title: str
    text: str
    masked: bool


class Opinion(Resource):
    """What one reviewer thinks of a proposal."""

    evaluation: str
    member: str
    name: str
    blind_score: int
    blind_note: str
    blind_at: dt.datetime
    score: int
    note: str
    revised_at: dt.datetime | None
    conflict: bool = False
    """A conflict of interest of theirs stands: it counts in no figure."""


class PointJudgement(Resource):
    """Whether a reviewer agrees with one point of the report."""

    evaluation: str
    member: str
    name: str
    point: str
    agrees: bool
    reason: str
    at: dt.datetime


class ScoreOverride(Resource):
    """The score that counts in place of what the opinions come to."""

    evaluation: str
    score: int
    reason: str
    by: str
    name: str
    at: dt.datetime


class Remark(Resource):
    """What somebody added about a proposal; it stays as it is."""

    id: int
    evaluation: str
    by: str
    name: str
    role: Literal["owner", "officer", "reviewer", "auditor"]
    text: str
    at: dt.datetime


class SignOff(Resource):
    """The call is decided: nothing about it changes any more."""

    batch: str
    by: str
    name: str
    note: str
    missing_opinions: int
    at: dt.datetime
    audit_number: int
    audit_hash: str


class PanelPair(Resource):
    first: str
    second: str
    common: int
    kappa: float | Absent


class PanelAgreement(Resource):
    kappa: float | Absent
    pairs: tuple[PanelPair, ...]


class PanelRow(Resource):
    evaluation: str
    row: int | None
    title: str
    assigned: int
    opinions: tuple[Opinion, ...]
    set_aside: int = 0
    """Of the opinions, those of people whose conflict of interest stands: they count in no figure."""
    mean: float | None
    spread: int | None
    override: ScoreOverride | None
    score: float | None
    """What counts: the override, else the mean."""


class Panel(Resource):
    """What the reviewers of a batch think. Nothing of it is the program's."""

    batch: str
    assigned: int
    given: int
    revised: int
    set_aside: int = 0
    """Of those given, opinions of people whose conflict of interest stands: they count in no figure."""
    rows: tuple[PanelRow, ...]
    next: str | None = None
    """The cursor of the next page; None where there is none, or no limit was given."""
    blind: PanelAgreement
    standing: PanelAgreement
    sign_off: SignOff | None


def call_reviewers(batch: str) -> ApiCall[CallReviewers]:
    """Who reviews a batch: those chosen and invited for it; where nobody was, all members who are reviewers."""
    return ApiCall("GET", path("batches", batch, "reviewers"), reads(CallReviewers))


def choose_reviewers(batch: str, body: CallReviewersBody) -> ApiCall[ChosenOutcome]:
    """Chooses who reviews a batch, and nobody else. Assignments of others end, unless an opinion was given."""
    return ApiCall("PUT", path("batches", batch, "reviewers"), reads(ChosenOutcome), body=body)


def invite_reviewer(batch: str, body: CallInvitationBody) -> ApiCall[Member]:
    """Makes somebody a member who is a reviewer, tells them of which call, and chooses them for it."""
    return ApiCall("POST", path("batches", batch, "reviewers"), reads(Member), body=body)


def assign(batch: str, body: AssignBody) -> ApiCall[AssignmentOutcome]:
    """Assigns reviewers to all proposals of a batch: nobody with a conflict, all with about the same load."""
    return ApiCall("POST", path("batches", batch, "assignments"), reads(AssignmentOutcome), body=body)


def assignments(*, batch: str | None = None, limit: int = 1_000) -> ApiCall[Page[Assignment]]:
    """A reviewer's own queue, first what waits for an opinion; for others, everybody's."""
    return ApiCall("GET", path("assignments"), reads(Page[Assignment]), {"batch": batch, "limit": limit})


def withdraw_assignment(evaluation: str, *, reviewer: str) -> ApiCall[None]:
    """Takes a proposal from a reviewer who has not given an opinion on it."""
    own = path("evaluations", evaluation, "assignments")
    return ApiCall("DELETE", own, reads_nothing, {"reviewer": reviewer})


def conflicts(batch: str) -> ApiCall[Page[ConflictOfInterest]]:
    """Conflicts of interest of a batch: declared and found, cleared ones included."""
    return ApiCall("GET", path("batches", batch, "conflicts"), reads(Page[ConflictOfInterest]))


def declare_conflict(evaluation: str, body: ConflictBody) -> ApiCall[ConflictOfInterest]:
    """Says that somebody must not review a proposal."""
    return ApiCall("POST", path("evaluations", evaluation, "conflicts"), reads(ConflictOfInterest), body=body)


def clear_conflict(evaluation: str, *, reviewer: str, reason: str) -> ApiCall[ConflictOfInterest]:
    """Says why a conflict is none after all. It stays on record."""
    own = path("evaluations", evaluation, "conflicts")
    return ApiCall("DELETE", own, reads(ConflictOfInterest), {"reviewer": reviewer, "reason": reason})


def proposal_text(evaluation: str) -> ApiCall[ProposalToRead]:
    """The proposal itself, masked where it is judged blind."""
    return ApiCall("GET", path("evaluations", evaluation, "proposal"), reads(ProposalToRead))


def give_opinion(evaluation: str, body: OpinionBody) -> ApiCall[Opinion]:
    """A reviewer's first opinion, given without knowing the program's. Then the report opens."""
    return ApiCall("POST", path("evaluations", evaluation, "opinions"), reads(Opinion), body=body)


def revise_opinion(evaluation: str, body: OpinionBody) -> ApiCall[Opinion]:
    """A reviewer's opinion after having read the report; the first one is kept."""
    return ApiCall("PATCH", path("evaluations", evaluation, "opinions"), reads(Opinion), body=body)


def opinions(evaluation: str) -> ApiCall[Page[Opinion]]:
    """What reviewers think of a proposal; a reviewer sees their own alone."""
    return ApiCall("GET", path("evaluations", evaluation, "opinions"), reads(Page[Opinion]))


def judge_point(evaluation: str, body: JudgementBody) -> ApiCall[Page[PointJudgement]]:
    """Agrees or disagrees with one point of the report; answers with all of one's own judgements."""
    return ApiCall("POST", path("evaluations", evaluation, "judgements"), reads(Page[PointJudgement]), body=body)


def judgements(evaluation: str) -> ApiCall[Page[PointJudgement]]:
    """Whether reviewers agree with points of the report; a reviewer sees their own alone."""
    return ApiCall("GET", path("evaluations", evaluation, "judgements"), reads(Page[PointJudgement]))


def panel(batch: str, *, limit: int | None = None, after: str | None = None) -> ApiCall[Panel]:
    """The opinions on a batch, and how far reviewers agree. All rows at once, or so many on a page; `after` is `next`
    of the page before. Figures and agreement are of the whole batch on each page."""
    return ApiCall("GET", path("batches", batch, "panel"), reads(Panel), {"limit": limit, "after": after})


def remark(evaluation: str, body: RemarkBody) -> ApiCall[Remark]:
    """It cannot be taken back."""
    return ApiCall("POST", path("evaluations", evaluation, "remarks"), reads(Remark), body=body)


def remarks(evaluation: str) -> ApiCall[Page[Remark]]:
    """The oldest first, all of them."""
    return ApiCall("GET", path("evaluations", evaluation, "remarks"), reads(Page[Remark]))


def override_score(evaluation: str, body: OverrideBody) -> ApiCall[ScoreOverride]:
    """Sets the score that counts, with a reason."""
    return ApiCall("POST", path("evaluations", evaluation, "override"), reads(ScoreOverride), body=body)


def sign_off(batch: str, body: SignOffBody) -> ApiCall[SignOff]:
    """Closes the call: nothing about it changes any more."""
    return ApiCall("POST", path("batches", batch, "sign-off"), reads(SignOff), body=body)
