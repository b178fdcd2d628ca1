"""Input and output of the board: the idea in parts, the sources that were read, with their stance on the idea, and the
board's result."""

from typing import Literal, Protocol

from assayer.citing.evidence import Quoted, ShownPlace
from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.extraction import SixTuple
from assayer.models import BoardRecord, CorpusFit, Frozen, Idea, Notice, Paper, PaperId, Part, PlanFlaw, Summary


class ReadSource(Frozen):
    """Paper, page, repository or data set that was found, ranked and read."""

    paper: Paper
    """Record of the source. Pages, repositories and data sets are records too: their source is `web`, `github`,
    `kaggle` or `datacite`, and their abstract describes them."""
    kind: EvidenceKind
    text: str
    """Sanitised text read from the source; quotes must come from it."""
    places: tuple[ShownPlace, ...] = ()
    """Places in the source from which the spans of the text come."""
    score: float
    """Combined score `α·semantic + (1−α)·judge`, 0 to 10."""
    full_text: bool = False
    """True if more than the abstract or the snippet was read."""


class Grounding(Frozen):
    """Source that supports or contradicts a part of the idea."""

    part: str
    """Name of an `IdeaPart`."""
    paper_id: PaperId
    stance: Literal["supports", "contradicts"]
    analysis: str
    """Analysis, which cites papers by markers and not by prompt labels."""
    quote: Quoted | None
    """Quote from the source, or None if the answer contains no quote."""


class EvidencePack(Frozen):
    """Evidence available to the board, with sources for revision advice kept separate."""

    idea: Idea
    text: str
    """Text of the idea as prompts show it, cut to the length that the options allow."""
    six_tuple: SixTuple
    before_cutoff: tuple[ReadSource, ...]
    """Sources published up to the cutoff, best first within each kind."""
    after_cutoff: tuple[ReadSource, ...]
    """Sources published after the cutoff, used only for revision advice and never shown to a board. Empty without a
    cutoff."""
    groundings: tuple[Grounding, ...]
    """Groundings of the sources in `before_cutoff`, in the order of the parts."""
    plan_flaws: tuple[PlanFlaw, ...] = ()
    """Flaws found by reading the plan alone. They are passed only to the meta-review, because reviewers who saw them
    would all repeat them."""
    fit: CorpusFit
    """Coverage of the idea's field by the local corpus; if the field is not covered, an empty search result proves
    nothing."""


class BoardResult(Frozen):
    """Result of a board. Papers appear as markers in all texts and labels; the pipeline numbers them."""

    summary: Summary
    parts: tuple[Part, ...]
    """One part per dimension; its score is absent, with the reason, if no reviewer could judge the dimension."""
    notices: tuple[Notice, ...] = ()
    board: BoardRecord | None = None
    """Record of the reviewers and the evidence that they saw; copied to the report."""


class ReviewBoard(Protocol):
    """Port of the review board, bound to one run with its own language model, personas and options."""

    async def deliberate(self, pack: EvidencePack) -> BoardResult:
        """Run the board. Raises an AssayerError if no reviewer could judge."""
        ...
