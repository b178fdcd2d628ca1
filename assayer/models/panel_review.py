"""Review of a plan by a panel: a verdict, findings in order of weight, and the passages that support them."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Self

from pydantic import model_validator

from assayer.models.base import Frozen
from assayer.models.plan_review import PlanQuote
from assayer_client.points import Citation, Label

PAGE_WORDS = 120
"""Number of words that a review's page contains in addition to its texts: headings, numbers and hints."""

_CITED_AS = "Author et al., 2024 [P1]:"
"""Placeholder for the author, year and label before a passage, which only the report knows; used to count words."""

Axis = Literal["soundness", "contribution"]
FindingKind = Literal["strength", "weakness", "question"]
FindingSeverity = Literal["fatal", "major", "minor"]
"""Severity of a finding. `fatal` means that the planned work cannot show the main claim."""
EvidenceRelation = Literal[
    "supports", "weakens", "contradicts", "already_has", "has_part", "missing_comparison", "background"
]
"""Relation between a passage and the point that it was read for.

`already_has`: the paper has all of what the plan claims as new; `has_part`: it has a part of it. `missing_comparison`:
the paper describes something that the plan should be compared with."""


NamedRole = Literal["already_does", "contradicts", "baseline", "method"]
"""Reason why a work that the panel cited from memory matters. `already_does`: it does all or part of what is planned.
`contradicts`: it found the opposite. `baseline`: it is the expected comparison. `method`: it has a method that the plan
needs."""


class PanelEvidence(Frozen):
    """Passage from a paper, with the conclusion that the model which read the paper drew from it."""

    label: Label
    relation: EvidenceRelation
    conclusion: str
    """Conclusion drawn from the passage, in the reading model's words. The support check compares it with the
    passage."""
    quote: Citation
    """Verified quotes from the paper. The first states what was done, further quotes the result and conditions."""


class PanelFinding(Frozen):
    """Strength, weakness or question about the plan."""

    kind: FindingKind
    axis: Axis
    severity: FindingSeverity | None
    """Severity of the finding; None for a strength."""
    headline: str
    """Headline of the finding; empty for further points."""
    text: str
    fix: str
    """Smallest change that would fix the weakness; empty if none was named."""
    plan: PlanQuote
    """Words from the plan that the finding is about; empty if no quote was verified."""
    evidence: tuple[int, ...] = ()
    """Indexes into the review's `evidence`. If empty, the finding is the panel's own judgement."""
    works_from_memory: tuple[int, ...] = ()
    """Indexes into the review's `works_from_memory`. These works are not evidence."""


class NamedWork(Frozen):
    """Work that the panel cited from memory rather than from search results, and that no passage confirms. It never
    counts as evidence."""

    title: str
    author: str
    """Family name of the first author; empty if the model did not state it."""
    year: int | None
    role: NamedRole
    relevance: str
    """Reason why the work matters for the plan, according to the panel's memory."""
    label: Label | None = None
    """Label of the work's record in the references; None if no record was found."""
    lookup_complete: bool
    """True if every source that can search for the work gave an answer."""


class PanelParagraph(Frozen):
    """Paragraph on the plan as a whole."""

    text: str
    evidence: tuple[int, ...] = ()
    """Indexes into the review's `evidence`."""
    works_from_memory: tuple[int, ...] = ()
    """Indexes into the review's `works_from_memory`."""


class OmittedPoint(Frozen):
    """A referee's point that is not on the page, in the referee's own words."""

    kind: FindingKind
    text: str
    plan: PlanQuote
    """Words from the plan that the point is about; empty if no quote was verified."""


class ClosestWork(Frozen):
    """Work close to what the plan claims as new: either a paper that was read or a work cited from memory."""

    difference: str
    """Contribution that the plan adds to this work, according to the plan's own text."""
    evidence: int | None = None
    """Index into the review's `evidence`; None for a work cited from memory."""
    work_from_memory: int | None = None
    """Index into the review's `works_from_memory`; None for a paper that was read."""

    @model_validator(mode="after")
    def _require_one_index(self) -> Self:
        if (self.evidence is None) == (self.work_from_memory is None):
            raise ValueError("needs either `evidence` or `work_from_memory`")
        return self


class NumberedFinding(NamedTuple):
    """Finding with its number on the page: `S1`, `W2`, `F3`."""

    number: str
    finding: PanelFinding


class PanelReview(Frozen):
    """Self-contained review in reading order. Its scores are in the report's parts."""

    verdict: str
    strengths: tuple[PanelFinding, ...]
    """Strengths, beginning with the importance of the question."""
    novelty: PanelParagraph | None
    """Comparison with earlier work: what exists already, what remains new, and who would use it; None if no editor
    model wrote the review."""
    outlook: PanelParagraph | None
    """Expected results, and whether the plan is feasible; None if no editor model wrote the review."""
    redesign: PanelParagraph | None
    """Stronger study with about the same resources; None if no editor model wrote the review."""
    major_weaknesses: tuple[PanelFinding, ...]
    """Weaknesses, most harmful first."""
    minor_points: tuple[PanelFinding, ...]
    """Minor weaknesses and questions, most important first."""
    closest_works: tuple[ClosestWork, ...]
    evidence: tuple[PanelEvidence, ...]
    """All passages, each once, in the order that findings cite them."""
    works_from_memory: tuple[NamedWork, ...] = ()
    """Works cited from memory, in the order that findings refer to them."""
    omitted_points: tuple[OmittedPoint, ...] = ()
    """Referees' points that did not fit on the page, in the referees' order, without those that the editor model found
    to be wrong."""

    @property
    def numbered(self) -> tuple[NumberedFinding, ...]:
        """All findings with their numbers: `S1`, `W2`, `F3`."""
        groups = (("S", self.strengths), ("W", self.major_weaknesses), ("F", self.minor_points))
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
            texts += [finding.headline, finding.text, finding.fix, *self._cited_texts(finding)]
        if self.novelty is not None:
            texts += [self.novelty.text, *self._cited_texts(self.novelty, self.closest_evidence, self.closest_named)]
        for paragraph in (self.outlook, self.redesign):
            if paragraph is not None:
                texts += [paragraph.text, *self._cited_texts(paragraph)]
        for item in self.closest_works:
            texts += [self._closest_text(item), "The plan adds:", item.difference]
        return PAGE_WORDS + sum(len(text.split()) for text in texts)

    @property
    def closest_evidence(self) -> tuple[int, ...]:
        """Indexes of evidence that is printed with the closest works and therefore not repeated with `novelty`."""
        return tuple(item.evidence for item in self.closest_works if item.evidence is not None)

    @property
    def closest_named(self) -> tuple[int, ...]:
        """Indexes of works cited from memory that are printed with the closest works and not repeated with
        `novelty`."""
        return tuple(item.work_from_memory for item in self.closest_works if item.work_from_memory is not None)

    def _closest_text(self, item: ClosestWork) -> str:
        if item.work_from_memory is not None:
            work = self.works_from_memory[item.work_from_memory]
            return f"{work.author} {work.year or ''}, {work.title}: {work.relevance}"
        return self._evidence_text(item.evidence) if item.evidence is not None else ""

    def _evidence_text(self, at: int) -> str:
        return f"{_CITED_AS} {self.evidence[at].conclusion}"

    def _cited_texts(
        self, item: PanelFinding | PanelParagraph, evidence: Sequence[int] = (), named: Sequence[int] = ()
    ) -> Iterator[str]:
        """Yield texts as long as the printed evidence and works cited from memory for an item. `evidence` and `named`
        are the indexes of those that are printed elsewhere."""
        yield from (self._evidence_text(at) for at in item.evidence if at not in evidence)
        for at in item.works_from_memory:
            if (
                at not in named
                and (shown := f"{self.works_from_memory[at].author} {self.works_from_memory[at].year or ''}")
                not in item.text
            ):
                yield shown
