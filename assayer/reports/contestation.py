"""What somebody who contests an evaluation must know: what was judged, by what means, from which sources.

It can be given to the applicant: it holds nothing of other proposals, and no opinion of a person.
"""

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

__all__ = ["ContestablePart", "Contestation", "contestation_of"]


class ContestablePart(Frozen):
    title: str
    score: Score | Absent


class Contestation(Frozen):
    model_config = ConfigDict(use_attribute_docstrings=True)

    evaluation: str
    """By which the service knows it."""
    title: str
    source: str
    method: str
    evaluated_at: dt.datetime
    cutoff: dt.date | None
    """Literature published later was not used."""
    characters: int
    """Of the text that was judged, after masking."""
    text_sha256: str
    """Of that text in UTF-8: whoever has the text can check that it is the one."""
    blinding: Blinding | None
    """What was masked before anything judged it; null where it was judged as it came in."""
    flags: tuple[TextFlag, ...]
    """What was suspicious in the text, and removed where nobody could see it."""
    score: float | Absent
    """All parts together, 0 to 1."""
    parts: tuple[ContestablePart, ...]
    program: str
    models: tuple[str, ...]
    """Language models whose answers were used; empty without one."""
    embedding_model: str
    reranking_model: str | None
    prompts: tuple[PromptVersion, ...]
    """With the digest of each one's file, which is public with the program."""
    prompt_tokens: int
    completion_tokens: int
    corpus_version: str
    corpus_fit: CorpusFit | Absent
    """Whether the corpus covers the field: where it does not, what was not found says nothing."""
    sources: tuple[SourceUse, ...]
    papers: tuple[Reference, ...]
    """Those that the report cites."""
    papers_found: int
    papers_read: int
    dropped: tuple[Dropped, ...]
    """What was left out, and why."""


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
