"""Puts a report together from what a method found and what its run journalled: coverage, provenance, usage, notices."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from assayer import __version__
from assayer.backends import Backends
from assayer.citing.numbering import Numbering
from assayer.claim_support.checking import CheckedClaims, check_claims
from assayer.literature.library import Library, field_coverage
from assayer.models import (
    Absent,
    BoardRecord,
    Citation,
    CorpusFit,
    Coverage,
    EdgeBasis,
    GraphRecord,
    Idea,
    IdeaCard,
    ModuleDepth,
    Notice,
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
from assayer.reports.notices import general_notices, literature_notices, own_reference_notices
from assayer.run.accounting import Started, cost_of, usage
from assayer.run.run import Run
from assayer.run.structured_concurrency import measured

__all__ = ["EvaluationResult", "Findings", "assemble_report"]


class EvaluationResult(NamedTuple):
    report: Report
    papers: tuple[Paper, ...]
    """The full records of the report's references, in their order."""


@dataclass(frozen=True)
class Findings:
    """What a method found. Its texts cite by markers, which become numbers when the report is put together."""

    summary: Summary
    parts: tuple[Part, ...]
    """As judged."""
    depth: tuple[ModuleDepth, ...]
    corpus_fit: CorpusFit | Absent
    papers: Mapping[PaperId, Paper] = field(default_factory=dict)
    """At least those that are cited, by the ids in the markers."""
    not_papers: Set[PaperId] = frozenset()
    """Pages and repositories among them: no source is asked whether they were retracted."""
    board: BoardRecord | None = None
    graph: GraphRecord | None = None
    """What the method built of the literature; its papers stand as markers."""
    background: tuple[Part, ...] = ()
    """Parts that were not judged; they come after the others."""
    verdict: Verdict | None = None
    plan_review: PlanReview | None = None
    """Comes last: what it names is numbered after all that was read."""
    notices: tuple[Notice, ...] = ()
    corpus_version: str | None = None
    """Of what was compared with instead of the literature."""


async def assemble_report(
    method: str, idea: Idea, backends: Backends, run: Run, started: Started, findings: Findings, library: Library | None
) -> EvaluationResult:
    """The report of any method: claims held against their quotes, citations numbered in reading order, cited papers
    marked where they were retracted, and the run's journal told. Without a library for a method that reads no
    literature. Raises LiteratureError, LlmRejected or LlmUnavailable."""
    findings, checked = await _with_checked_claims(findings, backends, run)
    numbering = Numbering()
    summary = numbering.apply(findings.summary)
    judged = tuple(map(numbering.apply, findings.parts))
    board = numbering.apply(findings.board) if findings.board else None
    parts = (*judged, *map(numbering.apply, findings.background))
    graph = numbering.apply(findings.graph) if findings.graph else None
    plan_review = numbering.apply(findings.plan_review) if findings.plan_review else None
    own_references = await run.own_references if run.own_references else None
    papers = numbering.papers(findings.papers)
    for paper in papers:
        run.journal.check_for_suspicion(paper)
    if library is None:
        references = numbering.references(papers)
        notices = (*findings.notices, *general_notices(idea, run))
    else:
        papers = await _marked_if_retracted(library, papers, findings.not_papers)
        references = numbering.references(papers)
        about_literature = literature_notices(
            idea, backends, run, findings.corpus_fit, library.own_papers, judged, references
        )
        notices = (*about_literature, *own_reference_notices(own_references), *findings.notices)
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
        ),
        cutoff=run.cutoff,
        notices=notices,
        summary=summary,
        parts=parts,
        verdict=findings.verdict,
        board=board,
        graph=graph,
        references=references,
        own_references=own_references,
        plan_review=plan_review,
        coverage=_coverage(run, findings, parts, references, checked),
        provenance=_provenance(backends, run, findings.corpus_version),
        usage=usage(run, started),
    )
    return EvaluationResult(report, papers)


async def _with_checked_claims(findings: Findings, backends: Backends, run: Run) -> tuple[Findings, CheckedClaims]:
    stated = (findings.summary, findings.parts, findings.board, findings.background)
    checked, levels = await measured(check_claims(backends.llm, run, stated, findings.papers))
    summary, parts, board, background = checked.written_into(stated)
    depth = (*findings.depth, ModuleDepth(module="claims", levels=levels)) if levels else findings.depth
    return replace(findings, summary=summary, parts=parts, board=board, background=background, depth=depth), checked


async def _marked_if_retracted(
    library: Library, papers: tuple[Paper, ...], not_papers: Set[PaperId]
) -> tuple[Paper, ...]:
    marked = await library.with_retractions([paper for paper in papers if paper.id not in not_papers])
    by_id = {paper.id: paper for paper in marked}
    return tuple(by_id.get(paper.id, paper) for paper in papers)


def _coverage(
    run: Run,
    findings: Findings,
    parts: Sequence[Part],
    references: Sequence[Reference],
    checked: CheckedClaims,
) -> Coverage:
    journal, fit = run.journal, findings.corpus_fit
    states = [*(citation.quote_state for citation in _reading_quotes(parts)), *_edge_quotes(findings.graph)]
    return Coverage(
        corpus_fit=fit,
        field_covered=None if isinstance(fit, Absent) else field_coverage(fit.level, journal.near_remote_papers),
        sources=journal.sources(),
        troubles=journal.troubles(),
        papers_found=len(journal.found),
        papers_read=len(journal.read),
        papers_cited=len(references),
        full_texts=len(journal.full_texts),
        quotes_verified=states.count("verified"),
        quotes_unverified=states.count("not_found"),
        claims=checked.counts,
        llm_calls=sum(call.model != "none" for call in journal.calls),
        llm_calls_lost=len(journal.failed_calls),
        faults=journal.faults(),
        dropped=journal.dropped(),
        depth=findings.depth,
    )


def _reading_quotes(parts: Iterable[Part]) -> list[Citation]:
    return [
        reading.quote
        for part in parts
        for assessment in part.assessments
        for reading in assessment.readings
        if reading.quote is not None
    ]


def _edge_quotes(graph: GraphRecord | None) -> list[Literal["verified", "not_found"]]:
    """Of the graph as it was left, which a language model quoted from papers, or patterns did."""
    states: dict[EdgeBasis, Literal["verified", "not_found"]] = {"quoted": "verified", "unverified": "not_found"}
    return [states[edge.basis] for edge in graph.edges if edge.basis in states] if graph else []


def _provenance(backends: Backends, run: Run, corpus_version: str | None) -> Provenance:
    calls = run.journal.calls
    return Provenance(
        assayer_version=__version__,
        models=tuple(sorted({call.model for call in calls if call.model != "none"})),
        embedding_model=backends.embedder.name,
        reranking_model=backends.reranker.name if backends.reranker else None,
        prompts=run.journal.prompts(),
        corpus_version=corpus_version or backends.literature.version,
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        cost_usd=cost_of(calls),
    )
