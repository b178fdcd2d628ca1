"""Records of reviewing: members, conflicts of interest, assignments, opinions, overrides, sign-off.

A call is a batch, and a proposal is an evaluation. People score from 1 to 5; no score here comes from the program."""

from assayer.errors import AssayerError
from assayer.models import Frozen
from assayer_client.people import Member
from assayer_client.reviewing import (
    Assignment,
    ConflictOfInterest,
    Opinion,
    PointJudgement,
    Remark,
    ScoreOfPerson,
    ScoreOverride,
    SignOff,
)
from orchestrator.access.roles import PersonRole


class ReviewRefused(AssayerError):
    """Raised when the state of the call or the proposal does not allow the action: no assignment, a conflict, a
    signed-off call."""


class NewMember(Frozen):
    name: str
    email: str
    affiliation: str = ""
    """Institutions, separated by semicolons; proposals from these are not assigned to the member."""
    role: PersonRole
    mails: bool = True
    """True to notify the member of pending work by mail, if the service sends mails."""
