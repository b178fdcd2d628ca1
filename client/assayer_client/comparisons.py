"""Comparisons that decide which of two ideas is better."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from assayer_client.evaluations import IdeaBody
from assayer_client.reports import Blinding
from assayer_client.resources import (
    Absent,
    Body,
    Dollars,
    IdeaId,
    JobResource,
    JobState,
    Limits,
    LivePriority,
    PromptVersion,
    Resource,
)

EvaluationName = Annotated[str, Field(pattern=r"^ev_[A-Za-z0-9_-]{1,60}$")]


Winner = Literal["first", "second", "tie"]


class DimensionVerdict(Resource):
    dimension: str
    winner: Winner
    reason: str


class JudgedBy(Resource):
    """Origin of an answer. The digests show whether the same question would be asked again; None means unknown."""

    model: str | None = Field(default=None, max_length=200)
    question: str | None = Field(default=None, max_length=64)
    """Digest of the prompt and of every dimension in it."""
    first_text: str | None = Field(default=None, max_length=64)
    """Digest of all text shown about the first idea."""
    second_text: str | None = Field(default=None, max_length=64)


class Comparison(Resource):
    """Answer of a judge who was shown two ideas. Keep it: a later ranking with more ideas can start from it."""

    first: IdeaId
    second: IdeaId
    verdicts: tuple[DimensionVerdict, ...]
    blinding_rules: int | None = None
    """Version of the rules that masked both ideas for the judge; None if they were shown as submitted."""
    with_evidence: bool = False
    """True if the judge also saw the findings in the ideas' reports."""
    judged_by: JudgedBy | None = None
    """Origin of the answer; None in comparisons that do not record it."""


class NamedComparison(Comparison):
    """Comparison of a ranking, with the submitters' own names of the ideas."""

    first_reference: str = ""
    """Submitter's own name for the idea, the same as `reference` in a ranked idea; empty if there is none."""
    second_reference: str = ""


class Outcome(Resource):
    """Result of a comparison in one dimension: the better of two ideas."""

    dimension: str
    winner: Winner
    """Winner, in the order of the request. A verdict that changes when the ideas are swapped counts as a tie."""
    agreed: bool | None
    """True if both orders gave the same verdict; None if only one order was requested or answered."""


class ComparisonResult(Resource):
    kind: Literal["comparison"] = "comparison"
    first: IdeaId
    second: IdeaId
    dimension: str
    """Dimension that decides the comparison: its outcome is the outcome of the whole comparison."""
    outcomes: tuple[Outcome, ...]
    answers: tuple[Comparison, ...]
    """Judge's answers with reasons, usable as input of a ranking of these ideas. Empty if the judge was not asked."""
    not_asked: Absent | None = None
    """Reason why no judge was asked: every outcome is then a tie, because the judge would have been shown the same
    text twice."""
    blind: bool | None = None
    """True if names, affiliations and similar details were masked for the judge; None in results that do not record it.
    """
    blinding: tuple[Blinding, ...] = ()
    """Masked content of the first and the second idea; empty if they were shown as submitted."""
    failed: int = 0
    """Number of orders that were requested but got no usable answer."""
    models: tuple[str, ...]
    prompts: tuple[PromptVersion, ...]
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent

    @model_validator(mode="after")
    def _has_answers_or_reason(self) -> Self:
        if not self.answers and self.not_asked is None:
            raise ValueError("a comparison needs `answers` or `not_asked`")
        return self


class ComparisonBody(Body):
    """Request to compare two ideas, each specified by its text or by a finished evaluation of the caller."""

    first: IdeaBody | None = None
    second: IdeaBody | None = None
    first_evaluation: EvaluationName | None = None
    """Evaluation to use instead of `first`: its idea is compared in the form in which it was judged."""
    second_evaluation: EvaluationName | None = None
    """Evaluation to use instead of `second`."""
    both_orders: bool = True
    """Ask the judge twice, the second time with the ideas swapped; this reveals a position bias."""
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and similar details before the judge sees the ideas; null: yes,
    unless the service is configured otherwise."""
    limits: Limits = Limits()
    priority: LivePriority = "interactive"


class AcceptedComparison(Resource):
    """Accepted comparison. It is stored, and will end in exactly one outcome."""

    id: str
    state: JobState = "queued"
    link: str


class ComparisonResource(JobResource):
    """Comparison job; its `title` names both ideas."""

    result: ComparisonResult | None
    """Result of the comparison: `outcomes` states which idea is better in each dimension, `answers` states why. Null
    until the state is succeeded."""
    link: str
