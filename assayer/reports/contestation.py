"""Information for contesting an evaluation: what was judged, by what means, from which sources.

It can be given to the applicant: it contains nothing about other proposals, and no person's opinion."""

import datetime as dt
import hashlib

from pydantic import ConfigDict

from assayer.models import (
    Absent,
    Blinding,
    CorpusFit,
    Dropped,
    Frozen,
    PromptVersion,
    Reference,
    Report,
    Score,
    SourceUse,
    TextFlag,
)
from assayer.reports.scores import score_of


class ContestablePart(Frozen):
    title: str
    score: Score | Absent


class Contestation(Frozen):
    model_config = ConfigDict(use_attribute_docstrings=True)

    evaluation: str
    """Id of the evaluation in the service."""
    title: str
    source: str
    method: str
    evaluated_at: dt.datetime
    cutoff: dt.date | None
    """Last publication date of literature that was used."""
    characters: int
    """Number of characters in the judged text, after masking."""
    text_sha256: str
    """SHA-256 of the judged text in UTF-8, so that anyone with the text can verify it."""
    blinding: Blinding | None
    """Record of what was masked before judging; null if the text was judged as submitted."""
    flags: tuple[TextFlag, ...]
    """Suspicious parts of the text; invisible ones were removed."""
    score: float | Absent
    """Score over all parts, 0 to 1."""
    parts: tuple[ContestablePart, ...]
    program: str
    models: tuple[str, ...]
    """Language models whose answers were used; empty if none was used."""
    embedding_model: str
    reranking_model: str | None
    prompts: tuple[PromptVersion, ...]
    """Prompts with the digests of their files, which are published with the program."""
    prompt_tokens: int
    completion_tokens: int
    corpus_version: str
    corpus_fit: CorpusFit | Absent
    """Whether the corpus covers the field; if it does not, missing results mean nothing."""
    sources: tuple[SourceUse, ...]
    papers: tuple[Reference, ...]
    """Papers that the report cites."""
    papers_found: int
    papers_read: int
    dropped: tuple[Dropped, ...]
    """Items that were left out, with reasons."""


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
