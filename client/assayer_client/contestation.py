"""Basis on which a proposal was judged, for an applicant who contests the evaluation."""

import datetime as dt

from assayer_client.points import Score
from assayer_client.reports import Blinding, CorpusFit, Reference, SourceUse, TextFlag
from assayer_client.resources import Absent, Dropped, PromptVersion, Resource


class ContestablePart(Resource):
    title: str
    score: Score | Absent


class Contestation(Resource):
    evaluation: str
    """Id of the evaluation in the service."""
    title: str
    source: str
    method: str
    evaluated_at: dt.datetime
    cutoff: dt.date | None
    """Cutoff: literature published later was not used."""
    characters: int
    """Number of characters of the judged text, after masking."""
    text_sha256: str
    """SHA-256 of the judged text in UTF-8, with which anyone who has the text can verify it."""
    blinding: Blinding | None
    """Content that was masked before the proposal was judged; null if it was judged as submitted."""
    flags: tuple[TextFlag, ...]
    """Suspicious features of the text; invisible text was removed."""
    score: float | Absent
    """Total score of all parts, 0 to 1."""
    parts: tuple[ContestablePart, ...]
    program: str
    models: tuple[str, ...]
    """Language models whose answers were used; empty if none was used."""
    embedding_model: str
    reranking_model: str | None
    prompts: tuple[PromptVersion, ...]
    """Prompt versions, each with the digest of its prompt file; these files are published with the program."""
    prompt_tokens: int
    completion_tokens: int
    corpus_version: str
    corpus_fit: CorpusFit | Absent
    """Corpus coverage of the field; if coverage is poor, the absence of related work means nothing."""
    sources: tuple[SourceUse, ...]
    papers: tuple[Reference, ...]
    """Papers that the report cites."""
    papers_found: int
    papers_read: int
    dropped: tuple[Dropped, ...]
    """Data that was left out, and why."""
