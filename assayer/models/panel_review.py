"""Review of a plan by a panel: a verdict, findings in order of weight, and the passages that support them."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Self

from pydantic import model_validator

from assayer.models.base import Frozen
from assayer.models.plan_review import PlanQuote
from assayer_client.points import Citation, Label

PAGE_WORDS = 120
"""Number of words on the page of a review besides its texts: headings, numbers and hints."""

_CITED_AS = "Author et al., 2024 [P1]:"
"""Text as long as the author, year and label before a passage, which are known only to the report: for counting."""

Axis = Literal["soundness", "contribution"]
FindingKind = Literal["strength", "weakness", "question"]
FindingSeverity = Literal["fatal", "major", "minor"]
"""Severity of a finding. `fatal` means that the planned work cannot show the main claim."""
EvidenceRelation = Literal[
    "supports", "weakens", "contradicts", "already_has", "has_part", "missing_comparison", "background"
]
"""Relation of a passage to the point for which it was read.

`already_has`, `has_part`: the paper has all or one part of what the plan claims as new. `missing_comparison`: the paper
describes something that the plan should be compared with."""


NamedRole = Literal["already_does", "contradicts", "baseline", "method"]
"""Reason why a work named from memory matters: it already does all or part of what is planned; it found the opposite;
it is the expected comparison; or it has a method that the plan needs."""


class PanelEvidence(Frozen):
    """Passage of a paper, with the reader's conclusion from it."""

    label: Label
    relation: EvidenceRelation
    shows: str
    """Conclusion that the passage supports, in the reader's words; the support check compares it with the passage."""
    quote: Citation
    """Verified quotes from the paper. The first quote states what was done; further quotes state the result and
    conditions."""


class PanelFinding(Frozen):
    """Strength, weakness or question about the plan."""

    kind: FindingKind
    axis: Axis
    severity: FindingSeverity | None
    """Severity of the finding; None for a strength."""
    lead: str
    """Headline of the finding; empty for further points."""
    text: str
    fix: str
    """Smallest change that fixes the weakness; empty if none was named."""
    plan: PlanQuote
    """Words from the plan that the finding is about; the quote is empty if none was verified."""
    evidence: tuple[int, ...] = ()
    """Indexes into the review's `evidence`. If empty, the finding is the panel's own judgement."""
    named: tuple[int, ...] = ()
    """Indexes into the review's `named`. These works are not evidence."""


class NamedWork(Frozen):
    """Work that the panel named from memory and that no passage confirms. It is never evidence."""

    title: str
    author: str
    """Family name of the first author; empty if not remembered."""
    year: int | None
    role: NamedRole
    why: str
    """Reason why the work matters for the plan, as the panel remembers it."""
    label: Label | None = None
    """Label of the work's record in the references; None if no record was found."""
    looked_up: bool
    """True if all sources that could search for the work gave an answer."""


class PanelParagraph(Frozen):
    """Paragraph on the plan as a whole."""

    text: str
    evidence: tuple[int, ...] = ()
    """Indexes into the review's `evidence`."""
    named: tuple[int, ...] = ()
    """Indexes into the review's `named`."""


class NotedPoint(Frozen):
    """Point of a referee that is not on the page, in the referee's own words."""

    kind: FindingKind
    text: str
    plan: PlanQuote
    """Words from the plan that the point is about; the quote is empty if none was verified."""


class ClosestWork(Frozen):
    """Work close to what the plan claims as new: a paper that was read, or a work named from memory."""

    difference: str
    """Contribution of the plan beyond this work, according to the plan's own text."""
    evidence: int | None = None
    """Index into the review's `evidence`; None for a work named from memory."""
    named: int | None = None
    """Index into the review's `named`; None for a paper that was read."""

    @model_validator(mode="after")
    def _require_one_index(self) -> Self:
        if (self.evidence is None) == (self.named is None):
            raise ValueError("needs either `evidence` or `named`")
        return self


class NumberedFinding(NamedTuple):
    """Finding with its number on the page: `S1`, `W2`, `F3`."""

    number: str
    finding: PanelFinding


class PanelReview(Frozen):
    """Self-contained review in reading order. Scores are in the parts of the report."""

    verdict: str
    strengths: tuple[PanelFinding, ...]
    """Strengths, beginning with the importance of the question."""
    newness: PanelParagraph | None
    """Comparison with earlier work: which parts exist already, what remains new, who would use it; None if the review
    has no editor."""
    outlook: PanelParagraph | None
    """Expected results, and whether the plan can be carried out; None if the review has no editor."""
    redesign: PanelParagraph | None
    """Stronger study with about the same means; None if the review has no editor."""
    major: tuple[PanelFinding, ...]
    """Weaknesses, most harmful first."""
    further: tuple[PanelFinding, ...]
    """Lesser weaknesses and questions, weightiest first."""
    closest: tuple[ClosestWork, ...]
    evidence: tuple[PanelEvidence, ...]
    """All passages, each once, in the order in which findings cite them."""
    named: tuple[NamedWork, ...] = ()
    """Works named from memory that findings refer to, in their order."""
    noted: tuple[NotedPoint, ...] = ()
    """Points of the referees for which the page had no room, in their order. Those that the editor found wrong are left
    out."""

    @property
    def numbered(self) -> tuple[NumberedFinding, ...]:
        """Return all findings with their numbers."""
        groups = (("S", self.strengths), ("W", self.major), ("F", self.further))
        return tuple(
            NumberedFinding(f"{letter}{place}", finding)
            for letter, findings in groups
            for place, finding in enumerate(findings, start=1)
        )

    @property
    def words(self) -> int:
        """Number of words in the review as printed on the first page, excluding scores."""
        texts = [self.verdict]
        for _, finding in self.numbered:
            texts += [finding.lead, finding.text, finding.fix, *self._cited(finding)]
        if self.newness is not None:
            texts += [self.newness.text, *self._cited(self.newness, self.closest_evidence, self.closest_named)]
        for paragraph in (self.outlook, self.redesign):
            if paragraph is not None:
                texts += [paragraph.text, *self._cited(paragraph)]
        for item in self.closest:
            texts += [self._near(item), "The plan adds:", item.difference]
        return PAGE_WORDS + sum(len(text.split()) for text in texts)

    @property
    def closest_evidence(self) -> tuple[int, ...]:
        """Evidence printed with the closest works, and therefore not with `newness`."""
        return tuple(item.evidence for item in self.closest if item.evidence is not None)

    @property
    def closest_named(self) -> tuple[int, ...]:
        """Works named from memory printed among the closest works, and therefore not with `newness`."""
        return tuple(item.named for item in self.closest if item.named is not None)

    def _near(self, item: ClosestWork) -> str:
        if item.named is not None:
            work = self.named[item.named]
            return f"{work.author} {work.year or ''}, {work.title}: {work.why}"
        return self._shown(item.evidence) if item.evidence is not None else ""

    def _shown(self, at: int) -> str:
        return f"{_CITED_AS} {self.evidence[at].shows}"

    def _cited(
        self, item: PanelFinding | PanelParagraph, evidence: Sequence[int] = (), named: Sequence[int] = ()
    ) -> Iterator[str]:
        """Yield as many words as are printed of an item's evidence and of the works named for it, without those printed
        elsewhere."""
        yield from (self._shown(at) for at in item.evidence if at not in evidence)
        for at in item.named:
            if at not in named and (shown := f"{self.named[at].author} {self.named[at].year or ''}") not in item.text:
                yield shown
