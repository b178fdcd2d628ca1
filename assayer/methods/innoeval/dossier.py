"""What the search hands to the board: the idea in parts, what is known around it, and how the two hold together."""

from typing import Literal, Protocol

from assayer.evidence import Quoted
from assayer.models import BoardRecord, CorpusFit, Frozen, Idea, Notice, Paper, PaperId, Part, Summary

__all__ = ["Board", "Deliberation", "Dossier", "Grounding", "IdeaPart", "Kind", "Knowledge", "SixTuple"]

Kind = Literal["literature", "web", "code"]


class IdeaPart(Frozen):
    """One part of the six-tuple, under the name by which groundings speak of it."""

    name: str
    """`summary`, `motivation 1`, `research question 2`, `method 3`, `settings`, `results`."""
    text: str


class SixTuple(Frozen):
    """The idea taken apart. What an idea does not say is None or empty: nothing is made up for it."""

    tldr: str | None = None
    motivations: tuple[str, ...] = ()
    research_questions: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    settings: str | None = None
    results: str | None = None

    @property
    def parts(self) -> tuple[IdeaPart, ...]:
        """In the order of an idea; those that it has."""
        several = {
            "motivation": self.motivations,
            "research question": self.research_questions,
            "method": self.methods,
        }
        named = [("summary", self.tldr)]
        named += [(f"{name} {n}", text) for name, texts in several.items() for n, text in enumerate(texts, start=1)]
        named += [("settings", self.settings), ("results", self.results)]
        return tuple(IdeaPart(name=name, text=text) for name, text in named if text)


class Knowledge(Frozen):
    """Something that was found, ranked and read."""

    paper: Paper
    """Pages and repositories are records too: source `web` or `github`, the abstract says what they are."""
    kind: Kind
    text: str
    """What was read of it, sanitised: the only place that quotes of it may come from."""
    score: float
    """α·semantic + (1−α)·judge, 0 to 10."""
    dated: bool
    """False: nobody knows when it was published. Never so when a cutoff is set."""
    full_text: bool = False
    """More was read than the abstract or the snippet."""


class Grounding(Frozen):
    """One piece of knowledge that speaks for or against one part of the idea."""

    part: str
    """Name of an `IdeaPart`."""
    paper_id: PaperId
    stance: Literal["supports", "contradicts"]
    analysis: str
    """Cites by marker, not by a prompt's label."""
    quote: Quoted | None
    """None when the answer quoted nothing."""


class Dossier(Frozen):
    """Everything that the board may know, and apart from it what only revision advice may use."""

    idea: Idea
    text: str
    """The idea as prompts show it: cut to the length that the options allow."""
    six: SixTuple
    before: tuple[Knowledge, ...]
    """Published up to the cutoff, within each kind the best first."""
    after: tuple[Knowledge, ...]
    """Published after the cutoff: for revision advice only, no board sees it. Empty without a cutoff."""
    groundings: tuple[Grounding, ...]
    """Of what is in `before`, in the order of the parts."""
    fit: CorpusFit
    """Whether the local corpus covers the idea's field: silence of a corpus that does not says nothing."""


class Deliberation(Frozen):
    """What a board made of a dossier. Papers stand in all texts and labels as markers; the pipeline numbers them."""

    summary: Summary
    parts: tuple[Part, ...]
    """One for each dimension, scores absent with a reason where nobody could judge."""
    notices: tuple[Notice, ...] = ()
    board: BoardRecord | None = None
    """Who judged and what they saw; copied to the report."""


class Board(Protocol):
    """The reviewers. Bound to one run: language model, personas and options are its own."""

    async def deliberate(self, dossier: Dossier) -> Deliberation:
        """Raises an AssayerError when no reviewer could judge."""
        ...
