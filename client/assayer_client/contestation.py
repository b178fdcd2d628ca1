"""Record of how a proposal was judged, for an applicant who contests the evaluation."""

import datetime as dt

from assayer_client.points import Score
from assayer_client.reports import Blinding, CorpusFit, Reference, SourceUse, TextFlag
from assayer_client.resources import Absent, Dropped, PromptVersion, Resource


class ContestablePart(Resource):
    title: str
    score: Score | Absent


class Contestation(Resource):
    evaluation: str
    """The evaluation's id."""
    title: str
    source: str
    method: str
    evaluated_at: dt.datetime
    cutoff: dt.date | None
    """Cutoff: literature published later was ignored."""
    characters: int
    """Length of the judged text in characters, after masking."""
    text_sha256: str
    """SHA-256 of the judged text in UTF-8, with which anyone who has the text can verify it."""
    blinding: Blinding | None
    """Texts that were masked before the proposal was judged; null if it was judged as submitted."""
    flags: tuple[TextFlag, ...]
    """Suspicious passages in the text. Invisible text was removed."""
    score: float | Absent
    """Total score, from 0 to 1."""
    parts: tuple[ContestablePart, ...]
    program: str
    models: tuple[str, ...]
    """Language models whose answers were used; empty if none was used."""
    embedding_model: str
    reranking_model: str | None
    prompts: tuple[PromptVersion, ...]
    """Prompt versions, each with its prompt file's digest. The prompt files are published with the program."""
    prompt_tokens: int
    completion_tokens: int
    corpus_version: str
    corpus_fit: CorpusFit | Absent
    """Degree to which the corpus covers the field. If coverage is poor, finding no related work means nothing."""
    sources: tuple[SourceUse, ...]
    papers: tuple[Reference, ...]
    """Papers that the report cites."""
    papers_found: int
    papers_read: int
    dropped: tuple[Dropped, ...]
    """Data that was left out, and why."""
