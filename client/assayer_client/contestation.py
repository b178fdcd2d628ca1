"""What was used to judge a proposal, for the applicant who contests it."""

import datetime as dt

from assayer_client.points import Score
from assayer_client.reports import Blinding, CorpusFit, Reference, SourceUse, TextFlag
from assayer_client.requests import ApiCall, path, reads, reads_file_of
from assayer_client.resources import Absent, Dropped, PromptVersion, Resource


class ContestablePart(Resource):
    title: str
    score: Score | Absent


class Contestation(Resource):
    evaluation: str
    title: str
    source: str
    method: str
    evaluated_at: dt.datetime
    cutoff: dt.date | None
    characters: int
    """Of the text that was judged, after masking."""
    text_sha256: str
    """Of that text in UTF-8."""
    blinding: Blinding | None
    flags: tuple[TextFlag, ...]
    score: float | Absent
    """All parts together, 0 to 1."""
    parts: tuple[ContestablePart, ...]
    program: str
    models: tuple[str, ...]
    embedding_model: str
    reranking_model: str | None
    prompts: tuple[PromptVersion, ...]
    prompt_tokens: int
    completion_tokens: int
    corpus_version: str
    corpus_fit: CorpusFit | Absent
    sources: tuple[SourceUse, ...]
    papers: tuple[Reference, ...]
    papers_found: int
    papers_read: int
    dropped: tuple[Dropped, ...]


def contestation(job: str) -> ApiCall[Contestation]:
    """Nothing of other proposals or of reviewers stands in it."""
    return ApiCall("GET", path("evaluations", job, "contestation"), reads(Contestation))


def contestation_pdf(job: str) -> ApiCall[None]:
    """The same, to be given to the applicant."""
    return ApiCall(
        "GET",
        path("evaluations", job, "contestation"),
        reads_file_of("application/pdf"),
        {"format": "pdf"},
        headers={"Accept": "*/*"},
    )
