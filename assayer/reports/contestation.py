"""Information for contesting an evaluation: what was judged, by what means, and from which sources.

It can be given to the applicant, because it contains nothing about other proposals and no opinions of reviewers."""

import hashlib

from assayer.models import Report
from assayer.reports.scores import score_of
from assayer_client.contestation import ContestablePart, Contestation


def contestation_of(report: Report, evaluation: str) -> Contestation:
    made, coverage, text = report.provenance, report.coverage, report.idea.text
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
        score=score_of(report),
        parts=tuple(ContestablePart(title=part.title, score=part.score) for part in report.parts),
        program=f"assayer {made.assayer_version}",
        models=made.models,
        embedding_model=made.embedding_model,
        reranking_model=made.reranking_model,
        prompts=made.prompts,
        prompt_tokens=made.prompt_tokens,
        completion_tokens=made.completion_tokens,
        corpus_version=made.corpus_version,
        corpus_fit=coverage.corpus_fit,
        sources=coverage.sources,
        papers=report.references,
        papers_found=coverage.papers_found,
        papers_read=coverage.papers_read,
        dropped=coverage.dropped,
    )
