"""Letters to applicants: templates, texts, comments of reviewers that officers release, and objections."""

import datetime as dt
from typing import Annotated

from pydantic import Field, StringConstraints

from assayer_client.decisions import DecisionOutcome
from assayer_client.requests import ApiCall, path, reads, reads_file_of
from assayer_client.resources import Body, Explained, JobId, MemberId, Resource

LetterText = Annotated[str, StringConstraints(max_length=20_000)]

_FUND = """Dear {applicant},

we are glad to tell you that your proposal “{title}” will be funded in the call “{call}”, with {amount} {currency}.

{reason}

From the reviews:
{comments}
"""
_RESERVE = """Dear {applicant},

your proposal “{title}” is on the reserve list of the call “{call}”. We will write to you if it can be funded.

{reason}

From the reviews:
{comments}
"""
_DECLINE = """Dear {applicant},

thank you for your proposal “{title}” in the call “{call}”. We are sorry that it cannot be funded.

{reason}

From the reviews:
{comments}
"""


class LetterTemplates(Body):
    """Template of a letter for each outcome. Placeholders: applicant, institution, title, reference, call, decision,
    amount, currency, reason, comments and date, in braces. A paragraph whose placeholders are all empty is left out."""

    fund: LetterText = _FUND
    reserve: LetterText = _RESERVE
    decline: LetterText = _DECLINE
    closing: LetterText = "Yours sincerely"
    """End of every letter, such as a greeting with the name of the person who signs."""


class LetterTemplatesBody(Body):
    templates: LetterTemplates
    version: int | None = Field(default=None, ge=0)
    """Version on which the change is based; if another change came first, this one is rejected. Null: no check."""


class StoredTemplates(Resource):
    """Templates of a batch."""

    templates: LetterTemplates
    version: int
    """0 for the templates of the program."""
    changed_by: str
    changed_at: dt.datetime | None


class Letter(Resource):
    """Letter about the decision on a proposal."""

    evaluation: JobId
    reference: str
    """Sender's own name for the proposal."""
    title: str
    applicant: str
    """Name of the applicant; empty if it is not known."""
    outcome: DecisionOutcome
    text: str
    """Text as it was sent or, before that, as it would be sent now."""
    comments: int
    """Number of comments to the applicant that reviewers wrote."""
    released: int
    """Number of these that were released."""
    sent_at: dt.datetime | None
    sent_by: str | None


class SentBody(Body):
    evaluations: tuple[Annotated[str, Field(max_length=64)], ...] = Field(min_length=1, max_length=1_000)
    """Proposals whose letters were sent. Their texts are kept as they are now."""


class ReleaseBody(Body):
    reviewers: tuple[Annotated[str, Field(max_length=64)], ...] | None = Field(max_length=100)
    """Reviewers whose comments to the applicant are released; comments of all others are withheld. Null: all."""


class ReleasedComment(Resource):
    """Comment to the applicant that an officer released, as it read at that time."""

    evaluation: JobId
    member: MemberId
    text: str
    name: str
    """Name of the person who released it."""
    at: dt.datetime


class ObjectionBody(Body):
    text: Annotated[str, Explained, Field(max_length=20_000)]
    received: dt.date
    """Day on which the objection arrived."""


class AnswerBody(Body):
    answer: Annotated[str, Explained, Field(max_length=20_000)]


class Objection(Resource):
    """Objection of an applicant to the decision on a proposal."""

    id: int
    evaluation: JobId
    text: str
    received: dt.date
    name: str
    """Name of the person who recorded it."""
    at: dt.datetime
    answer: str | None
    answered_by: str | None
    answered_at: dt.datetime | None


def save_letters(batch: str) -> ApiCall[None]:
    """Download the letters of a batch as one PDF."""
    query = {"format": "pdf"}
    return ApiCall("GET", path("batches", batch, "letters"), reads_file_of("application/pdf"), query)


def answer_objection(evaluation: str, number: int, body: AnswerBody) -> ApiCall[Objection]:
    """Record the answer to an objection. It cannot be changed."""
    own = path("evaluations", evaluation, "objections", str(number), "answer")
    return ApiCall("POST", own, reads(Objection), body=body)
