"""Convert the editor model's answer to a review. Labels are resolved; repeated findings are removed, and so are
citations that failed the support check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from assayer.citing.evidence import check_plan_quote
from assayer.citing.labels import build_marker
from assayer.criteria.part import label_criteria
from assayer.evaluation_context import EvaluationContext
from assayer.llm import Task
from assayer.methods.review import tasks
from assayer.methods.review.literature import LiteratureRead
from assayer.methods.review.options import ReviewOptions
from assayer.methods.review.panel import Panel, remove_repeated
from assayer.methods.review.passages import ReadPassage
from assayer.methods.review.prior_work import mask_titles
from assayer.methods.review.schemas import (
    EditedFinding,
    EditedParagraph,
    EditedReview,
    EditedReviewByCriteria,
    EditorQuestion,
    FurtherPoint,
    NearWork,
    NotedPassage,
    PlanScores,
    RecalledWork,
)
from assayer.models import (
    PAGE_WORDS,
    ClaimSupport,
    ClosestWork,
    EvidenceRelation,
    FindingKind,
    FindingSeverity,
    NamedRole,
    NamedWork,
    OmittedPoint,
    PanelEvidence,
    PanelFinding,
    PanelParagraph,
    PanelReview,
    PaperId,
    PlanQuote,
)
from assayer.reports.wording import format_named_work

_NO_QUOTE = PlanQuote(quote="", state="not_found")
_NEAR: tuple[EvidenceRelation, ...] = ("already_has", "has_part")
_NEAR_ROLES: tuple[NamedRole, ...] = ("already_does", "baseline")
_SCORES_WORDS = 30
"""Number of words in the table of scores that the editor does not write."""
_CITED_PASSAGES, _PASSAGE_WORDS = 6, 15
_REFERRED_WORKS, _WORK_WORDS = 7, 5
_CLOSEST_WORKS, _CLOSEST_WORDS = 2, 30
"""Typical number of references on the page, and the words that each takes: passages, works named from memory, and works
from memory among the closest works."""


_Edited: TypeAlias = EditedFinding | FurtherPoint


@dataclass(frozen=True)
class Passages:
    """Passages keyed by label. The quote of each holds the result of its support check."""

    by_label: dict[str, ReadPassage]

    @classmethod
    def label_passages(cls, passages: Sequence[ReadPassage]) -> "Passages":
        """Label the passages `E1`, `E2` … in order."""
        return cls({f"E{number}": passage for number, passage in enumerate(passages, start=1)})

    def find_supported_about(self, point: str) -> list[str]:
        """Return the labels of the passages that were read for a point and that `keep_supported` accepts."""
        return self.keep_supported([label for label, passage in self.by_label.items() if point in passage.points])

    def keep_supported(self, labels: Sequence[str]) -> list[str]:
        """Filter labels: drop unknown labels, duplicates, and passages whose text does not support the statement
        derived from them. Passages that could not be checked are kept."""
        support_by_label = {label: self.by_label[label].quote.support for label in labels if label in self.by_label}
        return [
            label
            for label, support in support_by_label.items()
            if not isinstance(support, ClaimSupport) or support.outcome in {"supports", "partly"}
        ]


async def ask_editor(
    context: EvaluationContext[ReviewOptions],
    panel: Panel,
    literature: LiteratureRead,
    recalled_works: Sequence[RecalledWork],
    scores: PlanScores | None,
) -> EditedReview:
    """Ask the editor model for the review. Raises an AssayerError if there is no answer."""
    passages = Passages.label_passages(literature.passages).by_label
    noted_passages = tuple(
        NotedPassage(
            label=label, title=item.title, year=item.year, relation=item.relation, points=item.points, shows=item.shows
        )
        for label, item in passages.items()
    )
    reference_words = PAGE_WORDS + _SCORES_WORDS + _PASSAGE_WORDS * min(len(noted_passages), _CITED_PASSAGES)
    reference_words += _WORK_WORDS * min(len(recalled_works), _REFERRED_WORKS) + _CLOSEST_WORDS * min(
        len(recalled_works), _CLOSEST_WORKS
    )
    question = EditorQuestion(
        idea=context.text,
        words=(context.options.words - reference_words) // 10 * 10,
        overview=panel.overview,
        points=panel.points,
        novelty=panel.novelty,
        passages=noted_passages,
        named=tuple(recalled_works),
        scores=scores,
        fit=literature.fit,
        day=context.run.cutoff,
        criteria=label_criteria(context.run.criteria),
    )
    task: Task[EditorQuestion, Any] = tasks.EDITOR_BY_CRITERIA if question.criteria else tasks.EDITOR
    if context.options.brief and not question.criteria:
        task = tasks.EDITOR_BRIEF
    answer: EditedReview = await context.ask(task, question)
    labels = [
        *passages,
        *(work.label for work in recalled_works),
        *(item.label for item in panel.novelty),
        *(item.label for item in panel.points),
    ]
    return mask_titles(answer, panel.prior_work, context.run, labels, recalled_works)


def build_panel_review(
    answer: EditedReview,
    context: EvaluationContext[ReviewOptions],
    panel: Panel,
    passages: Passages,
    recalled_works: Sequence[RecalledWork],
) -> PanelReview:
    """Convert the editor's answer to the form used in the report.

    Repeated findings are removed, and so are citations that failed the support check. If the review is too long, its
    last further points are removed. The journal records what was removed."""
    journal, max_words = context.run.journal, context.options.words
    strengths, major = remove_repeated(answer.strengths, _join_words), remove_repeated(answer.major, _join_words)
    further: list[_Edited] = remove_repeated(answer.further, _join_words, map(_join_words, major))
    answered_findings: list[_Edited] = [*answer.strengths, *answer.major, *answer.further]
    findings: list[_Edited] = [*strengths, *major, *further]
    journal.record_dropped("finding", "repeats another finding", len(answered_findings) - len(findings))
    rejected_count = sum(point.label in answer.dropped for point in panel.points)
    journal.record_dropped("point", "the editor judged it wrong, or already answered in the plan", rejected_count)
    unsupported_count = sum(len({*finding.cites}) - len(passages.keep_supported(finding.cites)) for finding in findings)
    journal.record_dropped(
        "cited passage", "its text does not support the statement derived from it", unsupported_count
    )
    closest = _choose_near_works(answer.closest, passages, {work.label: work for work in recalled_works})
    dropped_works = len(answer.closest) - len(closest)
    journal.record_dropped("closest work", "no passage shows that it is close, or it is listed already", dropped_works)
    repeated_labels = [label for finding in answered_findings if finding not in findings for label in finding.labels]
    edited_review = answer.model_copy(
        update={
            "strengths": strengths,
            "major": major,
            "further": further,
            "closest": closest,
            "dropped": [*answer.dropped, *repeated_labels],
        }
    )
    review = _number_citations(edited_review, context.text, panel, passages, recalled_works)
    while review.words > max_words and edited_review.further:
        edited_review = edited_review.model_copy(update={"further": edited_review.further[:-1]})
        review = _number_citations(edited_review, context.text, panel, passages, recalled_works)
    journal.record_dropped(
        "further point", f"the review is limited to {max_words:,} words", len(further) - len(edited_review.further)
    )
    journal.record_dropped(
        "work from memory", "no finding refers to it", len(recalled_works) - len(review.works_from_memory)
    )
    return review


def _join_words(finding: _Edited) -> str:
    return f"{finding.lead} {finding.text}" if isinstance(finding, EditedFinding) else finding.text


def _list_printed_texts(finding: _Edited) -> tuple[str, ...]:
    """Return the finding's printed texts, which may name works from memory."""
    return (finding.lead, finding.text, finding.fix) if isinstance(finding, EditedFinding) else (finding.text,)


def _choose_near_works(
    closest: Sequence[NearWork], passages: Passages, recalled_by_label: Mapping[str, RecalledWork]
) -> list[NearWork]:
    """Return the works that the editor listed as closest, without duplicates. Two kinds are kept: papers with a passage
    that shows that they are close to the plan, and works named from memory as close or as a baseline."""
    kept_works: dict[PaperId | str, NearWork] = {}
    for work in closest:
        if work.work in recalled_by_label and recalled_by_label[work.work].role in _NEAR_ROLES:
            kept_works.setdefault(work.work, work)
        for label in passages.keep_supported([work.work]):
            if passages.by_label[label].relation in _NEAR:
                kept_works.setdefault(passages.by_label[label].paper, work)
    return list(kept_works.values())


class _Numbering:
    """Numbers of the evidence and of the works from memory, in the order in which a review refers to them."""

    def __init__(
        self, answer: EditedReview, plan: str, panel: Panel, passages: Passages, named: Sequence[RecalledWork]
    ) -> None:
        self._plan, self._quotes, self._passages = plan, panel.quotes, passages
        self.works = {work.label: work for work in named}
        self._printed_names = {work.label: format_named_work(work.author, work.year) for work in named}
        findings: list[_Edited] = [*answer.strengths, *answer.major, *answer.further]
        cited_labels = [label for item in (*answer.paragraphs, *findings) for label in item.cites]
        cited_labels += [item.work for item in answer.closest]
        cited_labels += [*answer.soundness.cites, *answer.contribution.cites]
        if isinstance(answer, EditedReviewByCriteria):
            cited_labels += [label for item in answer.criteria for label in item.cites]
        self.evidence = passages.keep_supported(cited_labels)
        mentioned_works = self._find_named_works(
            [], answer.verdict, answer.soundness.limited_by, answer.contribution.limited_by
        )
        mentioned_works += [item.work for item in answer.closest if item.work in self.works]
        for paragraph in answer.paragraphs:
            mentioned_works += self._find_named_works(paragraph.named, paragraph.text)
        for finding in findings:
            mentioned_works += self._find_named_works(finding.named, *_list_printed_texts(finding))
        self.referred_works = list(dict.fromkeys(mentioned_works))

    def _find_named_works(self, labels: Sequence[str], *texts: str) -> list[str]:
        """Return the labels of the works named for some texts, beginning with works whose names occur in the texts."""
        labels_in_texts = [label for label, name in self._printed_names.items() if any(name in text for text in texts)]
        return [label for label in dict.fromkeys((*labels_in_texts, *labels)) if label in self.works]

    def _number_passages(self, labels: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.evidence.index(label) for label in self._passages.keep_supported(labels))

    def _number_works(self, labels: Sequence[str], *texts: str) -> tuple[int, ...]:
        return tuple(self.referred_works.index(label) for label in self._find_named_works(labels, *texts))

    def build_finding(self, edited: _Edited, kind: FindingKind, severity: FindingSeverity | None) -> PanelFinding:
        full_finding = edited if isinstance(edited, EditedFinding) else None
        quotes = [check_plan_quote(full_finding.quote if full_finding else "", self._plan)]
        quotes += [self._quotes[label] for label in edited.labels if label in self._quotes]
        return PanelFinding(
            kind=kind,
            axis=edited.axis,
            severity=severity,
            headline=full_finding.lead.rstrip(".:") if full_finding else "",
            text=edited.text,
            fix=full_finding.fix if full_finding and kind != "strength" else "",
            plan=next((quote for quote in quotes if quote.state == "verified"), _NO_QUOTE),
            evidence=self._number_passages(edited.cites),
            works_from_memory=self._number_works(edited.named, *_list_printed_texts(edited)),
        )

    def build_paragraph(self, edited: EditedParagraph) -> PanelParagraph | None:
        if not edited.text:
            return None
        return PanelParagraph(
            text=edited.text,
            evidence=self._number_passages(edited.cites),
            works_from_memory=self._number_works(edited.named, edited.text),
        )

    def build_closest_work(self, work: NearWork) -> ClosestWork:
        return ClosestWork(
            evidence=self.evidence.index(work.work) if work.work in self.evidence else None,
            work_from_memory=self.referred_works.index(work.work) if work.work in self.works else None,
            difference=f"{work.difference.rstrip('.')}.",
        )


def _number_citations(
    answer: EditedReview, plan: str, panel: Panel, passages: Passages, named: Sequence[RecalledWork]
) -> PanelReview:
    """Return the review with evidence and named works numbered in order of citation."""
    numbering = _Numbering(answer, plan, panel, passages, named)
    findings: list[_Edited] = [*answer.strengths, *answer.major, *answer.further]
    merged_labels = {label for item in (*findings, *answer.paragraphs) for label in item.labels} | {*answer.dropped}
    return PanelReview(
        verdict=answer.verdict,
        novelty=numbering.build_paragraph(answer.newness),
        outlook=numbering.build_paragraph(answer.outlook),
        redesign=numbering.build_paragraph(answer.redesign),
        strengths=tuple(numbering.build_finding(item, "strength", None) for item in answer.strengths),
        major_weaknesses=tuple(numbering.build_finding(item, "weakness", item.severity) for item in answer.major),
        minor_points=tuple(numbering.build_finding(item, item.kind, "minor") for item in answer.further),
        closest_works=tuple(map(numbering.build_closest_work, answer.closest)),
        evidence=tuple(
            PanelEvidence(
                label=build_marker(item.paper), relation=item.relation, conclusion=item.shows, quote=item.quote
            )
            for item in (passages.by_label[label] for label in numbering.evidence)
        ),
        works_from_memory=tuple(
            NamedWork(
                title=work.title,
                author=work.author,
                year=work.year,
                role=work.role,
                relevance=work.why,
                label=build_marker(work.record) if work.record else None,
                lookup_complete=work.looked_up,
            )
            for work in (numbering.works[label] for label in numbering.referred_works)
        ),
        omitted_points=tuple(
            OmittedPoint(kind=point.kind, text=f"{point.claim} {point.why}".strip(), plan=panel.quotes[point.label])
            for point in panel.points
            if point.label not in merged_labels
        ),
    )
