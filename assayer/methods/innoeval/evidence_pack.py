"""What the search hands to the board: the idea in parts, the sources read, what they say for and against it; and what
a board hands back.
"""

from typing import Literal, Protocol

from assayer.citing.evidence import Quoted, ShownPlace
from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.extraction import SixTuple
from assayer.models import BoardRecord, CorpusFit, Frozen, Idea, Notice, Paper, PaperId, Part, PlanFlaw, Summary

__all__ = ["BoardResult", "EvidencePack", "Grounding", "ReadSource", "ReviewBoard"]


class ReadSource(Frozen):
    """A paper, page, repository or data set that was found, ranked and read."""

    paper: Paper
    """Pages, repositories and data sets are records too: the source is `web`, `github`, `kaggle` or `datacite`, the
    abstract says what they are."""
    kind: EvidenceKind
    text: str
    """What was read of it, sanitised: the only place that quotes of it may come from."""
    places: tuple[ShownPlace, ...] = ()
    """What the stretches of the text are."""
    score: float
    """α·semantic + (1−α)·judge, 0 to 10."""
    full_text: bool = False
    """More was read than the abstract or the snippet."""


class Grounding(Frozen):
    """A source that supports or contradicts one part of the idea."""

    part: str
    """Name of an `IdeaPart`."""
    paper_id: PaperId
    stance: Literal["supports", "contradicts"]
    analysis: str
    """Cites by marker, not by a prompt's label."""
    quote: Quoted | None
    """None when the answer quoted nothing."""


class EvidencePack(Frozen):
    """Everything that the board may know, and apart from it what only revision advice may use."""

    idea: Idea
    text: str
    """The idea as prompts show it: cut to the length that the options allow."""
    six_tuple: SixTuple
    before_cutoff: tuple[ReadSource, ...]
    """Published up to the cutoff, within each kind the best first."""
    after_cutoff: tuple[ReadSource, ...]
    """Published after the cutoff: for revision advice only, no board sees it. Empty without a cutoff."""
    groundings: tuple[Grounding, ...]
    """Of what is in `before_cutoff`, in the order of the parts."""
    plan_flaws: tuple[PlanFlaw, ...] = ()
    """What a reader of the plan alone doubts. For the meta-review: reviewers who all saw it would repeat it."""
    fit: CorpusFit
    """Whether the local corpus covers the idea's field: silence of a corpus that does not says nothing."""


class BoardResult(Frozen):
    """What a board made of the evidence. Papers stand in all texts and labels as markers; the pipeline numbers them."""

    summary: Summary
    parts: tuple[Part, ...]
    """One for each dimension, scores absent with a reason where nobody could judge."""
    notices: tuple[Notice, ...] = ()
    board: BoardRecord | None = None
    """Who judged and what they saw; copied to the report."""


class ReviewBoard(Protocol):
    """The reviewers. Bound to one run: language model, personas and options are its own."""

    async def deliberate(self, pack: EvidencePack) -> BoardResult:
        """Raises an AssayerError when no reviewer could judge."""
        ...
