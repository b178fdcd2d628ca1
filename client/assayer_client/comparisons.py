"""Comparisons: which of two ideas is better."""

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
    """Record of how an answer was made. The digests show whether the same question would be asked again; None means
    unknown."""

    model: str | None = Field(default=None, max_length=200)
    question: str | None = Field(default=None, max_length=64)
    """Digest of the prompt and of every dimension in it."""
    first_text: str | None = Field(default=None, max_length=64)
    """Digest of all the text shown about the first idea."""
    second_text: str | None = Field(default=None, max_length=64)


class Comparison(Resource):
    """Answer from a judge who was shown two ideas. Keep it: a later ranking with more ideas can reuse it."""

    first: IdeaId
    second: IdeaId
    verdicts: tuple[DimensionVerdict, ...]
    blinding_rules: int | None = None
    """Version of the masking rules applied to both ideas; None if they were shown as submitted."""
    with_evidence: bool = False
    """Whether the judge also saw the findings in the ideas' reports."""
    judged_by: JudgedBy | None = None
    """Record of how the answer was made; None in comparisons that do not record it."""


class NamedComparison(Comparison):
    """Comparison in a ranking, with the submitters' own names for the ideas."""

    first_reference: str = ""
    """Submitter's own name for the idea, equal to `reference` in the ranked idea; empty if there is none."""
    second_reference: str = ""


class Outcome(Resource):
    """Result of a comparison in one dimension: the better of two ideas."""

    dimension: str
    winner: Winner
    """The winner. Positions are as in the request. If swapping the ideas changes the verdict, the result is a tie."""
    orders_agree: bool | None
    """Whether both orders gave the same verdict; None if only one order was requested or answered."""


class ComparisonResult(Resource):
    kind: Literal["comparison"] = "comparison"
    first: IdeaId
    second: IdeaId
    dimension: str
    """Dimension whose outcome is the overall outcome."""
    outcomes: tuple[Outcome, ...]
    answers: tuple[Comparison, ...]
    """The judge's answers, with reasons, which a later ranking of these ideas can reuse. Empty if the judge was not
    asked."""
    unjudged: Absent | None = None
    """Why no judge was asked. Every outcome is then a tie, because the judge would have been shown the same text
    twice."""
    blind: bool | None = None
    """Whether names, affiliations and similar details were masked for the judge; None in results that do not record
    it."""
    blinding: tuple[Blinding, ...] = ()
    """Texts masked in the first and the second idea; empty if they were shown as submitted."""
    failed: int = 0
    """Number of requested orders that got no usable answer."""
    models: tuple[str, ...]
    prompts: tuple[PromptVersion, ...]
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent

    @model_validator(mode="after")
    def _has_answers_or_reason(self) -> Self:
        if not self.answers and self.unjudged is None:
            raise ValueError("a comparison needs `answers` or `unjudged`")
        return self


class ComparisonBody(Body):
    """Request to compare two ideas, each given as text or as one of the caller's finished evaluations."""

    first: IdeaBody | None = None
    second: IdeaBody | None = None
    first_evaluation: EvaluationName | None = None
    """Evaluation to use instead of `first`. Its idea is compared in the form in which it was judged."""
    second_evaluation: EvaluationName | None = None
    """Evaluation to use instead of `second`."""
    both_orders: bool = True
    """Ask the judge twice, the second time with the ideas swapped, which reveals position bias."""
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and similar details before the judge sees the ideas. Null: the
    service's setting, which by default is yes."""
    limits: Limits = Limits()
    priority: LivePriority = "interactive"


class AcceptedComparison(Resource):
    """Accepted comparison. It is stored, and will end in exactly one outcome."""

    id: str
    state: JobState = "queued"
    link: str


class ComparisonResource(JobResource):
    """Comparison job. Its `title` names both ideas."""

    result: ComparisonResult | None
    """Result of the comparison. `outcomes` says which idea is better in each dimension; `answers` says why. Null until
    the state is succeeded."""
    link: str
