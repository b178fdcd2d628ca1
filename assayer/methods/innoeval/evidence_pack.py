"""The board's input and output: the idea in parts, the sources that were read and their stance on it, and the board's
result."""

from typing import Literal, Protocol

from assayer.citing.evidence import Quoted, ShownPlace
from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.extraction import SixTuple
from assayer.models import BoardRecord, CorpusFit, Frozen, Idea, Notice, Paper, PaperId, Part, PlanFlaw, Summary


class ReadSource(Frozen):
    """A paper, page, repository or data set that was found, ranked and read."""

    paper: Paper
    """The source's record. Pages, repositories and data sets have records too: their source is `web`, `github`,
    `kaggle` or `datacite`, and their abstract describes them."""
    kind: EvidenceKind
    text: str
    """Sanitised text that was read from the source; quotes must come from it."""
    places: tuple[ShownPlace, ...] = ()
    """Places in the source from which the spans of the text were taken."""
    score: float
    """Combined score `α·semantic + (1−α)·judge`, 0 to 10."""
    full_text: bool = False
    """Whether more than the abstract or the snippet was read."""


class Grounding(Frozen):
    """A source's support for, or contradiction of, a part of the idea."""

    part: str
    """Name of an `IdeaPart`."""
    paper_id: PaperId
    stance: Literal["supports", "contradicts"]
    analysis: str
    """The analysis, which cites papers by markers rather than by the prompt's labels."""
    quote: Quoted | None
    """A quote from the source, or None if the answer contains none."""


class EvidencePack(Frozen):
    """The evidence for the board. Sources for revision advice are kept separate."""

    idea: Idea
    text: str
    """The idea's text as shown in prompts, cut to the length that the options allow."""
    six_tuple: SixTuple
    before_cutoff: tuple[ReadSource, ...]
    """Sources published up to the cutoff, best first within each kind."""
    after_cutoff: tuple[ReadSource, ...]
    """Sources published after the cutoff. They are used only for revision advice and never shown to the board; empty if
    there is no cutoff."""
    groundings: tuple[Grounding, ...]
    """Groundings for the sources in `before_cutoff`, in the order of the parts."""
    plan_flaws: tuple[PlanFlaw, ...] = ()
    """Flaws found by reading the plan alone. Only the meta-review sees them: reviewers who saw them would all repeat
    them."""
    fit: CorpusFit
    """Coverage of the idea's field by the local corpus. If it is poor, an empty search result proves nothing."""


class BoardResult(Frozen):
    """A board's result. Papers appear as markers in all texts and labels; the pipeline numbers them."""

    summary: Summary
    parts: tuple[Part, ...]
    """One part per dimension. Its score is absent, with the reason, if no reviewer could judge the dimension."""
    notices: tuple[Notice, ...] = ()
    board: BoardRecord | None = None
    """Record of the reviewers and the evidence that each saw; copied to the report."""


class ReviewBoard(Protocol):
    """Port for the review board, bound to one run with its own language model, personas and options."""

    async def deliberate(self, pack: EvidencePack) -> BoardResult:
        """Run the board's deliberation. Raises an AssayerError if no reviewer gave a judgement."""
        ...
