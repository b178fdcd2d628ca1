"""Letters to applicants: templates, texts, comments that officers release, and objections."""

import datetime as dt
from typing import Annotated

from pydantic import Field, StringConstraints

from assayer_client.decisions import DecisionOutcome
from assayer_client.requests import ApiCall, build_path, make_file_check, make_json_parser
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
    """Letter templates, one for each outcome. Placeholders, in braces: applicant, institution, title, reference, call,
    decision, amount, currency, reason, comments and date. A paragraph is omitted if all its placeholders are empty."""

    fund: LetterText = _FUND
    reserve: LetterText = _RESERVE
    decline: LetterText = _DECLINE
    closing: LetterText = "Yours sincerely"
    """Closing of every letter, such as a greeting and the name of the person who signs."""


class LetterTemplatesBody(Body):
    templates: LetterTemplates
    version: int | None = Field(default=None, ge=0)
    """Version that this change replaces. If the templates have been changed since, the request is rejected. Null: no
    check."""


class StoredTemplates(Resource):
    """A batch's templates."""

    templates: LetterTemplates
    version: int
    """Version of the templates; 0 for the built-in ones."""
    changed_by: str
    changed_at: dt.datetime | None


class Letter(Resource):
    """Letter about the decision on a proposal."""

    evaluation: JobId
    reference: str
    """The submitter's own name for the proposal."""
    title: str
    applicant: str
    """The applicant's name; empty if unknown."""
    outcome: DecisionOutcome
    text: str
    """Text as it was sent or, if it has not been sent, as it would be sent now."""
    comments: int
    """Number of comments to the applicant written by reviewers."""
    released_comments: int
    """Number of those comments that were released."""
    sent_at: dt.datetime | None
    sent_by: str | None


class SentBody(Body):
    evaluations: tuple[Annotated[str, Field(max_length=64)], ...] = Field(min_length=1, max_length=1_000)
    """Proposals whose letters were sent. The texts are stored as they are now."""


class ReleaseBody(Body):
    reviewers: tuple[Annotated[str, Field(max_length=64)], ...] | None = Field(max_length=100)
    """Reviewers whose comments to the applicant are released; all others are withheld. Null: release all."""


class ReleasedComment(Resource):
    """Comment to the applicant that an officer released, with its text at that time."""

    evaluation: JobId
    member: MemberId
    text: str
    released_by: str
    """Name of the person who released it."""
    released_at: dt.datetime


class ObjectionBody(Body):
    text: Annotated[str, Explained, Field(max_length=20_000)]
    received_on: dt.date
    """Day on which the objection was received."""


class AnswerBody(Body):
    answer: Annotated[str, Explained, Field(max_length=20_000)]


class Objection(Resource):
    """An applicant's objection to the decision on a proposal."""

    id: int
    evaluation: JobId
    text: str
    received_on: dt.date
    recorded_by: str
    """Name of the person who recorded it."""
    recorded_at: dt.datetime
    answer: str | None
    answered_by: str | None
    answered_at: dt.datetime | None


def save_letters(batch: str) -> ApiCall[None]:
    """Download a batch's letters as one PDF."""
    query = {"format": "pdf"}
    return ApiCall("GET", build_path("batches", batch, "letters"), make_file_check("application/pdf"), query)


def answer_objection(evaluation: str, number: int, body: AnswerBody) -> ApiCall[Objection]:
    """Record the answer to an objection. It cannot be changed later."""
    objection_path = build_path("evaluations", evaluation, "objections", str(number), "answer")
    return ApiCall("POST", objection_path, make_json_parser(Objection), body=body)
