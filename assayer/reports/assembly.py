"""Assembly of a report from a method's findings and the journal of its run: coverage, provenance, usage and notices."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from assayer.backends import Backends
from assayer.citing.numbering import Numbering
from assayer.claim_support.checking import check_claims
from assayer.criteria.judging import judge_criteria
from assayer.evaluation_context import EvaluationContext
from assayer.literature.library import Library, rate_field_coverage
from assayer.models import (
    CRITERIA,
    Absent,
    BoardRecord,
    Citation,
    ClaimCounts,
    CorpusFit,
    Coverage,
    EdgeBasis,
    EvidenceReport,
    GraphRecord,
    IdeaCard,
    Notice,
    PanelReview,
    Paper,
    PaperId,
    Part,
    PlanReview,
    Provenance,
    Reference,
    Report,
    Summary,
    Verdict,
)
from assayer.reports.notices import (
    LEADING_KINDS,
    list_general_notices,
    list_literature_notices,
    list_own_reference_notices,
)
from assayer.reports.release import apply_minima
from assayer.run.accounting import measure_usage, sum_costs
from assayer.run.run import Run
from assayer.version import __version__


class EvaluationResult(NamedTuple):
    report: Report
    papers: tuple[Paper, ...]
    """Full records of the report's references, in the same order."""


@dataclass(frozen=True)
class Findings:
    """Findings that a method produced. Their texts cite papers by markers, which become numbered labels when the report
    is assembled."""

    summary: Summary
    parts: tuple[Part, ...]
    """Judged parts of the report."""
    corpus_fit: CorpusFit | Absent
    papers: Mapping[PaperId, Paper] = field(default_factory=dict)
    """Papers keyed by the ids used in the markers; contains at least the cited papers."""
    not_papers: Set[PaperId] = frozenset()
    """Ids of the web pages and repositories among the papers; these are not checked for retractions."""
    board: BoardRecord | None = None
    graph: GraphRecord | None = None
    """Graph of the literature that the method built; markers stand for its papers."""
    background: tuple[Part, ...] = ()
    """Parts that were not judged; they follow the others."""
    verdict: Verdict | Absent | None = None
    plan_review: PlanReview | None = None
    """Review of the plan. It comes last, so that its references are numbered after all others."""
    panel_review: PanelReview | None = None
    """The panel's review. It comes first, as page one, so papers are numbered in the order that it cites them."""
    evidence: EvidenceReport | None = None
    """Evidence without any judgement; if present, it is the whole report."""
    claims: ClaimCounts | None = None
    """Outcome of the support check if the method ran it itself; the check is then not repeated."""
    notices: tuple[Notice, ...] = ()
    on_subject: str = ""
    """Sentence added to the corpus coverage notice if few of the papers that were read are on the plan's subject."""
    corpus_version: str | None = None
    """Version of the comparison data, if the method uses such data instead of the literature."""


async def assemble_report(
    method: str, context: EvaluationContext[Any], findings: Findings, reads_literature: bool = True
) -> EvaluationResult:
    """Turn a method's findings into a report.

    Checks claims against their quotes, numbers citations in reading order, marks retracted papers, adds the data
    recorded in the run's journal, and withholds totals if the report falls below a minimum. Raises LiteratureError if
    the check for retractions fails, and LlmRejected or LlmUnavailable if the language model cannot be used at all."""
    idea, backends, run, library = context.idea, context.backends, context.run, context.library
    findings, claims = await _check_claims(findings, backends, run)
    if run.criteria and not any(part.name == CRITERIA for part in findings.parts):
        part = await judge_criteria(context, findings.summary, findings.parts)
        findings = replace(findings, parts=(*findings.parts, part))
    numbering = Numbering()
    findings = _number_citations(findings, numbering)
    parts = (*findings.parts, *findings.background)
    own_references = await run.own_references_check if run.own_references_check else None
    papers = numbering.list_papers(findings.papers)
    for paper in papers:
        run.journal.record_if_suspicious(paper)
    if not reads_literature:
        references = numbering.build_references(papers)
        notices = (*findings.notices, *list_general_notices(idea, run))
    else:
        papers = await _mark_retracted(library, papers, findings.not_papers)
        references = numbering.build_references(papers)
        notices = (
            *list_literature_notices(
                idea,
                backends,
                run,
                findings.corpus_fit,
                library.own_papers,
                findings.parts,
                references,
                findings.on_subject,
            ),
            *list_own_reference_notices(own_references),
            *findings.notices,
        )
    report = Report(
        evaluation_id=run.id,
        method=method,
        idea=IdeaCard(
            id=idea.id,
            title=idea.title,
            source=idea.source,
            text=idea.text,
            flags=idea.flags,
            blinding=idea.blinding,
            people_fields=idea.people_fields,
            reference_list=idea.reference_list,
            reading=idea.reading,
        ),
        cutoff=run.cutoff,
        notices=tuple(sorted(notices, key=lambda notice: notice.kind not in LEADING_KINDS)),
        summary=findings.summary,
        parts=parts,
        verdict=findings.verdict,
        board=findings.board,
        graph=findings.graph,
        references=references,
        own_references=own_references,
        plan_review=findings.plan_review,
        panel_review=findings.panel_review,
        evidence=findings.evidence,
        coverage=_build_coverage(run, findings, parts, references, claims),
        provenance=_build_provenance(backends, run, findings.corpus_version),
        usage=measure_usage(run, context.started),
    )
    return EvaluationResult(report if context.minima is None else apply_minima(report, context.minima), papers)


def _number_citations(findings: Findings, numbering: Numbering) -> Findings:
    """Replace the markers in the findings with labels, which are assigned in reading order."""
    return replace(
        findings,
        panel_review=findings.panel_review and numbering.apply(findings.panel_review),
        evidence=findings.evidence and numbering.apply(findings.evidence),
        summary=numbering.apply(findings.summary),
        parts=tuple(map(numbering.apply, findings.parts)),
        board=findings.board and numbering.apply(findings.board),
        background=tuple(map(numbering.apply, findings.background)),
        graph=findings.graph and numbering.apply(findings.graph),
        plan_review=findings.plan_review and numbering.apply(findings.plan_review),
    )


async def _check_claims(findings: Findings, backends: Backends, run: Run) -> tuple[Findings, ClaimCounts | None]:
    if findings.panel_review is not None:
        return findings, findings.claims
    claim_sources = (findings.summary, findings.parts, findings.board, findings.background)
    checked_claims = await check_claims(backends.llm, run, claim_sources, findings.papers)
    summary, parts, board, background = checked_claims.write_into(claim_sources)
    return replace(findings, summary=summary, parts=parts, board=board, background=background), checked_claims.counts


async def _mark_retracted(library: Library, papers: tuple[Paper, ...], not_papers: Set[PaperId]) -> tuple[Paper, ...]:
    marked_papers = await library.add_retractions([paper for paper in papers if paper.id not in not_papers])
    by_id = {paper.id: paper for paper in marked_papers}
    return tuple(by_id.get(paper.id, paper) for paper in papers)


def _build_coverage(
    run: Run,
    findings: Findings,
    parts: Sequence[Part],
    references: Sequence[Reference],
    claims: ClaimCounts | None,
) -> Coverage:
    journal, fit = run.journal, findings.corpus_fit
    quotes = [*_collect_reading_quotes(parts), *_collect_evidence_quotes(findings.evidence)]
    states = [*(citation.quote_state for citation in quotes), *_list_edge_quote_states(findings.graph)]
    return Coverage(
        corpus_fit=fit,
        field_coverage=None if isinstance(fit, Absent) else rate_field_coverage(fit.level, journal.near_remote_papers),
        sources=journal.list_source_uses(),
        source_failures=journal.list_source_failures(),
        papers_found=len(journal.found),
        papers_read=len(journal.read),
        papers_cited=len(references),
        full_texts=len(journal.full_texts),
        quotes_verified=states.count("verified"),
        quotes_unverified=states.count("not_found"),
        claims=claims,
        llm_requests=len(journal.calls),
        llm_requests_failed=len(journal.failed_calls),
        faults=journal.list_faults(),
        dropped=journal.list_dropped(),
    )


def _collect_reading_quotes(parts: Iterable[Part]) -> list[Citation]:
    return [
        reading.quote
        for part in parts
        for assessment in part.assessments
        for reading in assessment.readings
        if reading.quote is not None
    ]


def _collect_evidence_quotes(evidence: EvidenceReport | None) -> list[Citation]:
    if evidence is None:
        return []
    return [*(item.paper for item in evidence.closest_passages), *evidence.limitations, *evidence.comparisons]


def _list_edge_quote_states(graph: GraphRecord | None) -> list[Literal["verified", "not_found"]]:
    """Return the verification states of the quotes in the final graph, whether a language model quoted them or a
    pattern found them."""
    states: dict[EdgeBasis, Literal["verified", "not_found"]] = {"quoted": "verified", "unverified": "not_found"}
    return [states[edge.basis] for edge in graph.edges if edge.basis in states] if graph else []


def _build_provenance(backends: Backends, run: Run, corpus_version: str | None) -> Provenance:
    calls = run.journal.calls
    return Provenance(
        assayer_version=__version__,
        models=tuple(sorted({call.model for call in calls})),
        embedding_model=backends.embedder.name,
        reranking_model=backends.reranker.name if backends.reranker else None,
        prompts=run.journal.list_prompts(),
        corpus_version=corpus_version or backends.literature.version,
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        cost_usd=sum_costs(calls),
    )
