"""Applicants, and decisions about their proposals: fund, reserve or decline, with amount and reason."""

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
    """Version of the decision that the new one replaces; 0 if there is none. If it has been replaced since, nothing is
    changed."""


class DecisionBody(Body):
    """One decision about one or more proposals."""

    proposals: tuple[ProposalToDecide, ...] = Field(min_length=1, max_length=1_000)
    outcome: DecisionOutcome
    amount: Amount | None = None
    """Amount for each proposal, in the call's currency. Null: the amount requested by the applicant, if known. Declined
    proposals have no amount."""
    reason: DecisionReason = ""


class Decision(Resource):
    """Decision about a proposal."""

    evaluation: JobId
    outcome: DecisionOutcome
    amount: float | None
    """Amount in the call's currency; null if none is stated."""
    reason: str
    version: int
    decided_by_id: str
    decided_by: str
    decided_at: dt.datetime


class BudgetUse(Resource):
    """Amounts of a funding call's budget used by its decisions."""

    budget: float | None
    """Total amount that can be awarded; null if the call states none."""
    currency: str
    funded: int
    reserved: int
    declined: int
    undecided: int
    awarded: float
    """Total amount for funded proposals."""
    reserved_amount: float
    """Total amount for reserved proposals."""
    funded_without_amount: int
    """Number of funded proposals without an amount; the total does not include them."""
    over_budget: bool


class CallDecisions(Resource):
    """Decisions about the proposals in a funding call, in row order."""

    budget: BudgetUse
    decisions: tuple[Decision, ...]


class ApplicantBody(Body):
    """A proposal's applicant; replaces what the proposal's row or an earlier request stated."""

    name: Annotated[str, StringConstraints(max_length=1_000)] = ""
    institution: Annotated[str, StringConstraints(max_length=1_000)] = ""
    amount: Amount | None = None
    """Amount requested, in the call's currency."""


class SameText(Resource):
    """Another proposal with the same text."""

    evaluation: JobId
    batch: str | None
    call: str
    """Name of its funding call; empty if it is in none."""
    row: int | None


class Applicant(Resource):
    """A proposal's applicant."""

    name: str
    institution: str
    amount: float | None
    columns: dict[str, str]
    """Columns in the proposal's row that are not part of its text."""
    same_text: tuple[SameText, ...] = ()
    """Other proposals with the same text, in this funding call or others."""
