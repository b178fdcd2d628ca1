"""Convert the editor model's answer to a review. Labels are resolved; repeated findings are removed, and so are
citations that failed the support check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from assayer.citing.evidence import plan_quote
from assayer.citing.labels import marker
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
from assayer.reports.wording import named_work

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
    """Passages keyed by label, with the results of the support check."""

    by_label: dict[str, ReadPassage]

    @classmethod
    def of(cls, passages: Sequence[ReadPassage]) -> "Passages":
        """Label the passages `E1`, `E2` … in order."""
        return cls({f"E{number}": passage for number, passage in enumerate(passages, start=1)})

    def supported_about(self, point: str) -> list[str]:
        """Return the labels of the passages that were read for a point and that `supported` accepts."""
        return self.supported([label for label, passage in self.by_label.items() if point in passage.points])

    def supported(self, labels: Sequence[str]) -> list[str]:
        """Filter labels: drop unknown labels, duplicates, and passages whose text does not support the statement
        derived from them. Passages that could not be checked are kept."""
        known = {label: self.by_label[label].quote.support for label in labels if label in self.by_label}
        return [
            label
            for label, support in known.items()
            if not isinstance(support, ClaimSupport) or support.outcome in {"supports", "partly"}
        ]


async def ask_editor(
    context: EvaluationContext[ReviewOptions],
    panel: Panel,
    literature: LiteratureRead,
    named: Sequence[RecalledWork],
    scores: PlanScores | None,
) -> EditedReview:
    """Ask the editor model for the review. Raises an AssayerError if there is no answer."""
    passages = Passages.of(literature.passages).by_label
    noted = tuple(
        NotedPassage(
            label=label, title=item.title, year=item.year, relation=item.relation, points=item.points, shows=item.shows
        )
        for label, item in passages.items()
    )
    apparatus = PAGE_WORDS + _SCORES_WORDS + _PASSAGE_WORDS * min(len(noted), _CITED_PASSAGES)
    apparatus += _WORK_WORDS * min(len(named), _REFERRED_WORKS) + _CLOSEST_WORDS * min(len(named), _CLOSEST_WORKS)
    question = EditorQuestion(
        idea=context.text,
        words=(context.options.words - apparatus) // 10 * 10,
        overview=panel.overview,
        points=panel.points,
        novelty=panel.novelty,
        passages=noted,
        named=tuple(named),
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
        *(work.label for work in named),
        *(item.label for item in panel.novelty),
        *(item.label for item in panel.points),
    ]
    return mask_titles(answer, panel.prior_work, context.run, labels, named)


def panel_review(
    answer: EditedReview,
    context: EvaluationContext[ReviewOptions],
    panel: Panel,
    passages: Passages,
    named: Sequence[RecalledWork],
) -> PanelReview:
    """Convert the editor's answer to the form used in the report.

    Repeated findings are removed, and so are citations that failed the support check. If the review is too long, its
    last further points are removed. The journal records what was removed."""
    journal, max_words = context.run.journal, context.options.words
    strengths, major = remove_repeated(answer.strengths, _join_words), remove_repeated(answer.major, _join_words)
    further: list[_Edited] = remove_repeated(answer.further, _join_words, map(_join_words, major))
    answered: list[_Edited] = [*answer.strengths, *answer.major, *answer.further]
    findings: list[_Edited] = [*strengths, *major, *further]
    journal.record_dropped("finding", "repeats another finding", len(answered) - len(findings))
    rejected = sum(point.label in answer.dropped for point in panel.points)
    journal.record_dropped("point", "the editor judged it wrong, or already answered in the plan", rejected)
    unsupported = sum(len({*finding.cites}) - len(passages.supported(finding.cites)) for finding in findings)
    journal.record_dropped("cited passage", "its text does not support the statement derived from it", unsupported)
    closest = _choose_near_works(answer.closest, passages, {work.label: work for work in named})
    dropped = len(answer.closest) - len(closest)
    journal.record_dropped("closest work", "no passage shows that it is close, or it is listed already", dropped)
    repeated = [label for finding in answered if finding not in findings for label in finding.labels]
    edited = answer.model_copy(
        update={
            "strengths": strengths,
            "major": major,
            "further": further,
            "closest": closest,
            "dropped": [*answer.dropped, *repeated],
        }
    )
    review = _number_citations(edited, context.text, panel, passages, named)
    while review.words > max_words and edited.further:
        edited = edited.model_copy(update={"further": edited.further[:-1]})
        review = _number_citations(edited, context.text, panel, passages, named)
    journal.record_dropped(
        "further point", f"the review is limited to {max_words:,} words", len(further) - len(edited.further)
    )
    journal.record_dropped("work from memory", "no finding refers to it", len(named) - len(review.works_from_memory))
    return review


def _join_words(finding: _Edited) -> str:
    return f"{finding.lead} {finding.text}" if isinstance(finding, EditedFinding) else finding.text


def _texts(finding: _Edited) -> tuple[str, ...]:
    """Return the finding's printed texts, which may name works from memory."""
    return (finding.lead, finding.text, finding.fix) if isinstance(finding, EditedFinding) else (finding.text,)


def _choose_near_works(
    closest: Sequence[NearWork], passages: Passages, named: Mapping[str, RecalledWork]
) -> list[NearWork]:
    """Return the works that the editor listed as closest, without duplicates. Two kinds are kept: papers with a passage
    that shows that they are close to the plan, and works named from memory as close or as a baseline."""
    kept: dict[PaperId | str, NearWork] = {}
    for work in closest:
        if work.work in named and named[work.work].role in _NEAR_ROLES:
            kept.setdefault(work.work, work)
        for label in passages.supported([work.work]):
            if passages.by_label[label].relation in _NEAR:
                kept.setdefault(passages.by_label[label].paper, work)
    return list(kept.values())


def _number_citations(
    answer: EditedReview, plan: str, panel: Panel, passages: Passages, named: Sequence[RecalledWork]
) -> PanelReview:
    """Return the review with evidence and named works numbered in order of citation."""
    works = {work.label: work for work in named}
    findings: list[_Edited] = [*answer.strengths, *answer.major, *answer.further]
    cited = [label for item in (*answer.paragraphs, *findings) for label in item.cites]
    cited += [item.work for item in answer.closest]
    cited += [*answer.soundness.cites, *answer.contribution.cites]
    if isinstance(answer, EditedReviewByCriteria):
        cited += [label for item in answer.criteria for label in item.cites]
    evidence = passages.supported(cited)

    def named_by(named: Sequence[str], *texts: str) -> list[str]:
        """Return the labels of the works named for some texts, beginning with works whose names occur in the texts."""
        shown = {label: named_work(work.author, work.year) for label, work in works.items()}
        within = [label for label, text in shown.items() if any(text in other for other in texts)]
        return [label for label in dict.fromkeys((*within, *named)) if label in works]

    mentioned = named_by([], answer.verdict, answer.soundness.limited_by, answer.contribution.limited_by)
    mentioned += [item.work for item in answer.closest if item.work in works]
    for passage in answer.paragraphs:
        mentioned += named_by(passage.named, passage.text)
    for edited in findings:
        mentioned += named_by(edited.named, *_texts(edited))
    referred = list(dict.fromkeys(mentioned))

    def cites(labels: Sequence[str]) -> tuple[int, ...]:
        return tuple(evidence.index(label) for label in passages.supported(labels))

    def names(labels: Sequence[str], *texts: str) -> tuple[int, ...]:
        return tuple(referred.index(label) for label in named_by(labels, *texts))

    def finding(edited: _Edited, kind: FindingKind, severity: FindingSeverity | None) -> PanelFinding:
        whole = edited if isinstance(edited, EditedFinding) else None
        quotes = [plan_quote(whole.quote if whole else "", plan)]
        quotes += [panel.quotes[label] for label in edited.labels if label in panel.quotes]
        return PanelFinding(
            kind=kind,
            axis=edited.axis,
            severity=severity,
            headline=whole.lead.rstrip(".:") if whole else "",
            text=edited.text,
            fix=whole.fix if whole and kind != "strength" else "",
            plan=next((quote for quote in quotes if quote.state == "verified"), _NO_QUOTE),
            evidence=cites(edited.cites),
            works_from_memory=names(edited.named, *_texts(edited)),
        )

    def paragraph(edited: EditedParagraph) -> PanelParagraph | None:
        if not edited.text:
            return None
        return PanelParagraph(
            text=edited.text, evidence=cites(edited.cites), works_from_memory=names(edited.named, edited.text)
        )

    merged = {label for item in (*findings, *answer.paragraphs) for label in item.labels} | {*answer.dropped}
    return PanelReview(
        verdict=answer.verdict,
        novelty=paragraph(answer.newness),
        outlook=paragraph(answer.outlook),
        redesign=paragraph(answer.redesign),
        strengths=tuple(finding(item, "strength", None) for item in answer.strengths),
        major_weaknesses=tuple(finding(item, "weakness", item.severity) for item in answer.major),
        minor_points=tuple(finding(item, item.kind, "minor") for item in answer.further),
        closest_works=tuple(
            ClosestWork(
                evidence=evidence.index(item.work) if item.work in evidence else None,
                work_from_memory=referred.index(item.work) if item.work in works else None,
                difference=f"{item.difference.rstrip('.')}.",
            )
            for item in answer.closest
        ),
        evidence=tuple(
            PanelEvidence(label=marker(item.paper), relation=item.relation, conclusion=item.shows, quote=item.quote)
            for item in (passages.by_label[label] for label in evidence)
        ),
        works_from_memory=tuple(
            NamedWork(
                title=work.title,
                author=work.author,
                year=work.year,
                role=work.role,
                relevance=work.why,
                label=marker(work.record) if work.record else None,
                lookup_complete=work.looked_up,
            )
            for work in (works[label] for label in referred)
        ),
        omitted_points=tuple(
            OmittedPoint(kind=point.kind, text=f"{point.claim} {point.why}".strip(), plan=panel.quotes[point.label])
            for point in panel.points
            if point.label not in merged
        ),
    )
