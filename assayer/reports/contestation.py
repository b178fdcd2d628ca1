"""Information for contesting an evaluation: what was judged, how, and with which sources.

It is safe to give to the applicant, because it contains nothing about other proposals and no reviewers' opinions."""

import hashlib

from assayer.models import Report
from assayer.reports.scores import compute_total_score
from assayer_client.contestation import ContestablePart, Contestation


def build_contestation(report: Report, evaluation: str) -> Contestation:
    provenance, coverage, text = report.provenance, report.coverage, report.idea.text
    return Contestation(
        evaluation=evaluation,
        title=report.idea.title,
        source=report.idea.source,
        method=report.method,
        evaluated_at=report.usage.started_at,
        cutoff=report.cutoff,
        characters=len(text),
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        blinding=report.idea.blinding,
        flags=report.idea.flags,
        score=compute_total_score(report),
        parts=tuple(ContestablePart(title=part.title, score=part.score) for part in report.parts),
        program=f"assayer {provenance.assayer_version}",
        models=provenance.models,
        embedding_model=provenance.embedding_model,
        reranking_model=provenance.reranking_model,
        prompts=provenance.prompts,
        prompt_tokens=provenance.prompt_tokens,
        completion_tokens=provenance.completion_tokens,
        corpus_version=provenance.corpus_version,
        corpus_fit=coverage.corpus_fit,
        sources=coverage.sources,
        papers=report.references,
        papers_found=coverage.papers_found,
        papers_read=coverage.papers_read,
        dropped=coverage.dropped,
    )
