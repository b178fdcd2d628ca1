"""Funding calls: the terms under which a batch of proposals is reviewed, and the form that its reviewers fill in."""

import datetime as dt
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from assayer_client.evaluations import CriterionBody
from assayer_client.resources import Body, Resource

Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
LongText = Annotated[str, StringConstraints(max_length=50_000)]
Confidence = Annotated[int, Field(ge=1, le=5)]
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
"""Amount of money in the funding call's currency."""


class ReviewField(Body):
    """Question in a funding call's review form, in addition to its criteria."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=60, pattern=r"^[^\n\r]*$")]
    question: Annotated[str, StringConstraints(strip_whitespace=True, max_length=600, pattern=r"^[^\n\r]*$")] = ""
    kind: Literal["scale", "text"] = "text"
    highest: int = Field(default=5, ge=2, le=10)
    """Highest score on a scale; the lowest is 1."""
    required: bool = True


class ReviewForm(Body):
    """Contents of a review besides its score, its note to the panel and the answers to the call's criteria."""

    fields: tuple[ReviewField, ...] = Field(default=(), max_length=12)
    confidence: bool = False
    """Ask how certain the reviewer is, from 1 to 5."""
    to_applicant: bool = False
    """Ask for comments to the applicant. They are sent only if an officer releases them."""


class CallTerms(Body):
    """Terms of a funding call."""

    text: LongText = ""
    deadline: dt.date | None = None
    """Last day on which proposals are accepted, which is shown but not enforced."""
    eligibility: LongText = ""
    budget: Amount | None = None
    """Total amount that can be awarded; null: no limit is stated."""
    currency: Currency = "EUR"
    criteria: tuple[CriterionBody, ...] = Field(default=(), max_length=12)
    """Criteria that reviewers score from 1 to 10. Reports answer them too, if the proposals are submitted with them."""
    form: ReviewForm = ReviewForm()
    conflict_policy: LongText = ""
    """Text about conflicts of interest that reviewers see before they open a proposal."""
    coauthor_years: int = Field(default=3, ge=0, le=50)
    """Years before the deadline (or before the call was created) in which a joint paper gives a reviewer a conflict of
    interest with an applicant. 0: do not search for joint papers."""


class CallBody(Body):
    """New funding call, without proposals."""

    name: str = Field(min_length=1, max_length=200)
    tags: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(default=(), max_length=20)
    opinions_due: dt.date | None = None
    """Due date for the call's reviewers."""
    terms: CallTerms = CallTerms()


class CallDetails(Resource):
    """Terms of a batch as a funding call, and who last changed them."""

    version: int
    """Version of the call details (name, tags, due date, terms); 0 if they were never changed."""
    terms: CallTerms
    changed_by: str
    """Name of the person who made the last change; empty for version 0."""
    changed_at: dt.datetime | None


class ReviewAnswers(Body):
    """A reviewer's answers to the funding call's review form."""

    criteria: dict[str, Annotated[int, Field(ge=1, le=10)]] = Field(default_factory=dict, max_length=12)
    """Scores from 1 to 10, keyed by the criterion's name."""
    fields: dict[str, Annotated[int, Field(ge=1, le=10)] | Annotated[str, Field(max_length=20_000)]] = Field(
        default_factory=dict, max_length=12
    )
    """Answers keyed by the field's name: a score for a scale, otherwise text."""
    confidence: Confidence | None = None
    to_applicant: str = Field(default="", max_length=20_000)
    """Comments to the applicant, who sees them only if an officer releases them."""
