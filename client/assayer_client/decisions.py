"""Applicants, and decisions on their proposals: fund, reserve or decline, with amount and reason."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from assayer_client.calls import Amount
from assayer_client.resources import Body, JobId, Resource

DecisionOutcome = Literal["fund", "reserve", "decline"]
DecisionReason = Annotated[str, StringConstraints(max_length=5_000)]


class ProposalToDecide(Body):
    evaluation: str = Field(max_length=64)
    version: int = Field(default=0, ge=0)
    """Version of the decision that the new one replaces; 0 if there is none. If another decision came first, nothing is
    decided."""


class DecisionBody(Body):
    """One decision on one proposal or several."""

    proposals: tuple[ProposalToDecide, ...] = Field(min_length=1, max_length=1_000)
    outcome: DecisionOutcome
    amount: Amount | None = None
    """Amount for each proposal, in the call's currency. Null: the amount that the applicant asked for, if it is known;
    declined proposals have none."""
    reason: DecisionReason = ""


class Decision(Resource):
    """Decision on a proposal."""

    evaluation: JobId
    outcome: DecisionOutcome
    amount: float | None
    """Amount in the call's currency; null if none is stated."""
    reason: str
    version: int
    by: str
    name: str
    at: dt.datetime


class BudgetUse(Resource):
    """Use of a call's budget by its decisions."""

    budget: float | None
    """Sum that can be awarded; null if the call states none."""
    currency: str
    funded: int
    reserved: int
    declined: int
    undecided: int
    awarded: float
    """Sum of the amounts of funded proposals."""
    reserved_amount: float
    """Sum of the amounts of reserved proposals."""
    without_amount: int
    """Number of funded proposals without an amount, which the sum does not include."""
    over_budget: bool


class CallDecisions(Resource):
    """Decisions on the proposals of a call, in the order of its rows."""

    budget: BudgetUse
    decisions: tuple[Decision, ...]


class ApplicantBody(Body):
    """Applicant of a proposal; replaces what its row or an earlier request said."""

    name: Annotated[str, StringConstraints(max_length=1_000)] = ""
    institution: Annotated[str, StringConstraints(max_length=1_000)] = ""
    amount: Amount | None = None
    """Amount asked for, in the call's currency."""


class SameText(Resource):
    """Another proposal with the same text."""

    evaluation: JobId
    batch: str | None
    call: str
    """Name of its call; empty if it is in none."""
    row: int | None


class Applicant(Resource):
    """Applicant of a proposal."""

    name: str
    institution: str
    amount: float | None
    columns: dict[str, str]
    """Columns of the proposal's row that are not part of its text."""
    same_text: tuple[SameText, ...] = ()
    """Other proposals with the same text, in this call or others."""
