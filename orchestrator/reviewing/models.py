"""Records of the review by people: members, conflicts of interest, assignments, opinions, overrides, sign-off.

A call is a batch, and a proposal is an evaluation. All scores here are given by people, from 1 to 5; none comes from a
report."""

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
    """Raised if the state of the call or proposal does not allow an act, for example if the reviewer is not assigned or
    has a conflict of interest, or if the call is signed off."""


class NewMember(Frozen):
    name: str
    email: str
    affiliation: str = ""
    """Institutions, separated by semicolons. Proposals from these institutions are not assigned to the member."""
    role: PersonRole
    receives_email: bool = True
    """True to notify the member by email, if the service sends emails."""
