"""The records of reviewing: members, conflicts of interest, assignments, opinions, overrides, sign-off.

A call is a batch, a proposal an evaluation. People score from 1 to 5; nothing here is a score of the program.
"""

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

__all__ = [
    "Assignment",
    "ConflictOfInterest",
    "Member",
    "NewMember",
    "Opinion",
    "PointJudgement",
    "Remark",
    "ReviewRefused",
    "ScoreOfPerson",
    "ScoreOverride",
    "SignOff",
]


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
    """Whether the service notifies the member by mail of pending work, if it sends mails."""
