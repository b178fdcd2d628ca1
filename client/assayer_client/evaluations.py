"""Evaluations, each of one idea and with one report."""

import datetime as dt
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from assayer_client.points import ScoreCertainty
from assayer_client.reports import FitLevel
from assayer_client.requests import ApiCall, build_path, make_json_parser, make_text_parser, parse_text
from assayer_client.resources import DEFAULT_METHOD, Body, JobResource, JobState, Limits, Page, Priority, Resource

BoardModel = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""Model name, as used by the endpoint."""
BoardSize = Annotated[int, Field(ge=0, le=100)]
"""Number of reviewers drawn for each idea; 0 means one reviewer without persona or masking, as a control."""


class SectionBody(Body):
    title: str = Field(max_length=1_000)
    text: str


class IdeaBody(Body):
    """Text of an idea, either as a single text or as a list of sections."""

    title: str | None = Field(default=None, max_length=1_000)
    """Title of the idea; if null, it is taken from the text."""
    text: str | None = None
    sections: tuple[SectionBody, ...] | None = Field(default=None, min_length=1, max_length=200)

    @model_validator(mode="after")
    def _has_words_once(self) -> Self:
        if (self.text is None) == (self.sections is None):
            raise ValueError("Give either `text` or `sections`")
        return self


class CriterionBody(Body):
    """Question in a call for proposals, which the report answers with a score from 1 to 10."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=60, pattern=r"^[^\n\r]*$")]
    question: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=10, max_length=600, pattern=r"^[^\n\r]*$")
    ]
    anchors: dict[str, str] = Field(default_factory=dict, max_length=10)
    """Meaning of some scores: `{"1": "no user is named", "10": "the field would work differently"}`."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight in the mean of all criteria."""


class EvaluationBody(Body):
    idea: IdeaBody
    source: str = Field(default="", max_length=200)
    """The caller's name for the idea: a file name or the caller's own id."""
    method: str = Field(default=DEFAULT_METHOD, max_length=100)
    cutoff: dt.date | None = None
    """Cutoff: literature published after this day is ignored."""
    blind: bool | None = None
    """Mask names, affiliations and similar details before the idea is judged. Null: the service's setting, which by
    default is no."""
    board: BoardSize | None = None
    """Number of reviewers on the board (method innoeval only). 0: one reviewer without a persona, as a control. Null:
    the service's setting."""
    board_models: tuple[BoardModel, ...] = Field(default=(), max_length=20)
    """Models distributed among the reviewers (method innoeval only). The service must allow them; see the method's
    `board_models`. If empty, the service's settings apply."""
    criteria: tuple[CriterionBody, ...] = Field(default=(), max_length=12)
    """Criteria in the call for proposals. The report answers each with a score, evidence and the finding that limits
    the score. Their weighted mean is then the report's total."""
    limits: Limits = Limits()
    priority: Priority = "interactive"


class Links(Resource):
    """Paths to an evaluation and its related resources."""

    evaluation: str
    report: str
    events: str
    timeline: str


class Accepted(Resource):
    """Accepted evaluation. It is stored, and will end in exactly one outcome."""

    id: str
    state: JobState = "queued"
    links: Links


class ScoredPart(Resource):
    """Part of a report, such as soundness or contribution."""

    name: str
    title: str
    score: float | None
    """The part's score. Null means no score, which is not a low score."""
    scale_max: float | None
    certainty: ScoreCertainty | None
    reason: str | None
    """Why there is no score; null if there is one."""


class EvaluationScores(Resource):
    """A report's scores, as shown in the table of a call for proposals."""

    score: float | None
    """Total score, from 0 to 100. Null means no score, which is not a low score."""
    reason: str | None
    """Why there is no score, for example that the corpus does not cover the field."""
    certainty: ScoreCertainty | None
    """Lowest certainty among the parts."""
    corpus_fit: FitLevel | None
    """Degree to which the corpus covers the proposal's field."""
    complete: bool
    """Whether every part has a score and neither a budget nor a minimum requirement cut the report short."""
    parts: tuple[ScoredPart, ...]
    notices: tuple[str, ...]
    """Kinds of notices in the report, such as `budget` or `corpus_fit`."""


class Evaluation(JobResource):
    source: str
    """Submitter's name for the idea, including the id from its row: `proposals.csv:7 (A-2026-0007)`. Empty if there is
    none."""
    reference: str
    """Submitter's own name alone, for joining results: the id from the row, or a file name. Empty if there is none."""
    batch: str | None
    row: int | None
    """Row number in the batch's input, from 1."""
    scores: EvaluationScores | None
    """Scores from the evaluation's report; null until there is a report."""
    waiting_reason: str | None = None
    """Why the evaluation has not started yet; null in lists, and once it has started."""
    links: Links


class Method(Resource):
    name: str
    summary: str
    board_models: tuple[str, ...] = ()
    """Models that a request may name for InnoEval's boards; if empty, the boards use the models in the service's
    settings."""


def list_evaluations(
    *,
    state: JobState | None = None,
    batch: str | None = None,
    source: str | None = None,
    reference: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> ApiCall[Page[Evaluation]]:
    """List the caller's own evaluations, newest first. `after` is `next` from the previous page.

    `source` is the submitter's name: the complete name, a row's id, or a file name. `reference` matches only the
    submitter's own id or file name, exactly."""
    query = {"state": state, "batch": batch, "source": source, "reference": reference, "after": after, "limit": limit}
    return ApiCall("GET", build_path("evaluations"), make_json_parser(Page[Evaluation]), query=query)


def get_report_text(job: str, media_type: str = "text/markdown") -> ApiCall[str]:
    """Return the report verbatim, as `text/markdown`, `text/html` or `application/json`."""
    return ApiCall(
        "GET", build_path("evaluations", job, "report"), make_text_parser(media_type), headers={"Accept": media_type}
    )


def get_graph_text(job: str, format: Literal["json", "graphml"] = "graphml") -> ApiCall[str]:
    """Return a SciCompanion report's graph, with the references to which its labels refer."""
    return ApiCall("GET", build_path("evaluations", job, "graph"), parse_text, query={"format": format})
