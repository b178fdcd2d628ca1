"""Settings of `assayer corpus ingest`: where data sets are fetched, and what the work may take."""

from pydantic import Field

from assayer.models import Frozen
from workers.fetching.settings import TransferSettings

__all__ = ["IngestSettings"]


class IngestSettings(Frozen):
    memory_mb: int = Field(default=4096, ge=256)
    """Of joining; what does not fit is spilled to disk."""
    threads: int = Field(default=2, ge=1)
    """Of joining."""
    jobs: int = Field(default=1, ge=1)
    """Files parsed at the same time."""
    partitions: int = Field(default=64, ge=1, le=4096)
    """Of a new folder: 64 give 200 million papers parts of three million."""
    arxiv_url: str = "https://oaipmh.arxiv.org/oai"
    openalex_url: str = "https://openalex.s3.amazonaws.com/data/jsonl/works/manifest.json"
    vector_model: str = "allenai/specter2"
    """What the embedder's name is called in the corpus for which Semantic Scholar's vectors are taken."""
    transfers: TransferSettings = TransferSettings()
