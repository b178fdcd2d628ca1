"""Report model shared by all methods."""

import datetime as dt
from typing import Literal, NewType

from pydantic import Field

from assayer.models.base import Frozen
from assayer.models.board import BoardRecord
from assayer.models.coverage import Coverage
from assayer.models.document import ReadingRecord
from assayer.models.evidence_graph import GraphRecord
from assayer.models.evidence_report import EvidenceReport
from assayer.models.idea import append_reference_list
from assayer.models.own_references import OwnReferences
from assayer.models.panel_review import PanelReview
from assayer.models.plan_review import PlanReview
from assayer.models.release import ReportRelease
from assayer.models.verdict import Verdict
from assayer_client.reports import Blinding, Part, Reference, RunUsage, Summary, TextFlag
from assayer_client.resources import Absent, Dollars, IdeaId, PromptVersion

EvaluationId = NewType("EvaluationId", str)
REPORT_SCHEMA_VERSION: Literal[1] = 1


class Notice(Frozen):
    """Notice that a reader must see before the rest of the report."""

    kind: Literal[
        "small_review",
        "example",
        "no_llm",
        "corpus_fit",
        "budget",
        "retraction",
        "unchecked_retractions",
        "undated_version",
        "injection",
        "absent_part",
        "own_paper",
        "own_references",
        "long_idea",
        "weak_signal",
        "other_viewpoints",
        "repeated_idea",
        "graph",
    ]
    text: str


class Provenance(Frozen):
    """Components used to make the report. Equal inputs give equal provenance."""

    assayer_version: str
    models: tuple[str, ...]
    """LLMs whose answers were used; empty if none was used."""
    embedding_model: str
    reranking_model: str | None = None
    """Reranking model; None if results were not reranked."""
    prompts: tuple[PromptVersion, ...]
    corpus_version: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent
    """Cost of the answers used, at the prices paid for them."""


class IdeaCard(Frozen):
    """Idea as shown in the report."""

    id: IdeaId
    title: str
    source: str
    text: str
    """Judged text, without front matter and reference lists."""
    flags: tuple[TextFlag, ...]
    blinding: Blinding | None = None
    """Record of what was masked before judging; None if the idea was judged as submitted."""
    people_fields: tuple[str, ...] = ()
    """Fields above the text that name people, which were not judged; empty if the idea was judged blind."""
    reference_list: str = ""
    """Reference lists as printed, masked in the same way as the text."""
    reading: ReadingRecord | None = None
    """Record of the parts of the document that were read; None if the idea did not come from a document."""

    @property
    def whole_text(self) -> str:
        """Return the text with its reference list at the end, for people who read the proposal."""
        return append_reference_list(self.text, self.reference_list)


class Report(Frozen):
    """Full evaluation report. `[P3]` in any text is the label of one of `references`."""

    schema_version: Literal[1] = REPORT_SCHEMA_VERSION
    evaluation_id: EvaluationId
    method: str
    idea: IdeaCard
    cutoff: dt.date | None
    release: ReportRelease | None = None
    """Release state, which decides whether the report shows a total, with the minima that decided it; None if no minima
    apply."""
    notices: tuple[Notice, ...]
    summary: Summary
    parts: tuple[Part, ...]
    verdict: Verdict | Absent | None = None
    """Verdict based on a graph of labelled ideas; None if the method produces none."""
    board: BoardRecord | None = None
    """Board of reviewers whose assessments are in the parts; None if the method has no board."""
    graph: GraphRecord | None = None
    """Literature graph that the method built step by step; None if the method builds none."""
    references: tuple[Reference, ...]
    own_references: OwnReferences | Absent | None = None
    """The idea's own references, checked; None if it has none or the method reads no literature."""
    plan_review: PlanReview | None = None
    """Review of the plan without literature; None if the method does not review plans."""
    panel_review: PanelReview | None = None
    """A panel's review, if the method has a panel. Summary and parts then repeat its points in machine-readable
    form."""
    evidence: EvidenceReport | None = None
    """Evidence without judgement, if the report was made without a language model."""
    coverage: Coverage
    provenance: Provenance
    usage: RunUsage = Field(description="Of this execution only; excluded when two reports are compared.")
