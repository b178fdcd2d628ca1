"""Record of what was searched, found and read for a report, and of what failed."""

from typing import Literal

from assayer.models.base import Frozen
from assayer_client.llm_requests import FaultCount
from assayer_client.reports import CorpusFit, FitLevel, Operation, SourceUse
from assayer_client.resources import Absent, Dropped

UnreadableCause = Literal[
    "broken_parser",
    "computing_time",
    "damaged",
    "empty",
    "encrypted",
    "html",
    "markup",
    "memory",
    "no_pages",
    "no_text",
    "not_a_pdf",
    "other_document",
    "refused",
    "time",
    "too_large",
    "too_many_pages",
    "too_much_text",
]
"""Reason why no parser could read a document."""


class SourceFailure(Frozen):
    """Requests to one source that ended without an answer. Their results are missing from the report."""

    source: str
    operation: Operation
    reason: str
    """Reason for the failure in a few words: `a source was down`, `a source's rate budget was spent`, …"""
    requests: int


class ClaimCounts(Frozen):
    """Counts of claims that have a verified quote, by the result of checking the claims against their quotes. A claim
    is counted once per quote. A point that is repeated in a summary is not counted again."""

    supported: int
    partly_supported: int
    not_supported: int
    contradicted: int
    unchecked: int
    """Number of claims that the check did not answer, or that say nothing checkable about the paper."""


class Coverage(Frozen):
    """Coverage section of the report."""

    corpus_fit: CorpusFit | Absent
    field_coverage: FitLevel | None = None
    """Level to which the corpus and searches in other sources together cover the field; None if nothing was
    searched."""
    sources: tuple[SourceUse, ...]
    source_failures: tuple[SourceFailure, ...] = ()
    papers_found: int
    """Number of distinct papers returned by any search, after removing papers published after the cutoff and the idea's
    own paper."""
    papers_read: int
    """Number of distinct papers whose text reached a prompt."""
    papers_cited: int
    """Number of distinct papers among the references. Papers that are listed only beside a missing comparison were not
    read."""
    full_texts: int
    """Number of distinct papers that were read beyond the abstract."""
    quotes_verified: int
    """Number of quotes that appear in the text shown to the model that quoted it."""
    quotes_unverified: int
    """Number of quotes that do not appear in the text shown to the model that quoted it."""
    claims: ClaimCounts | None = None
    """Claim counts; None if no claim has a verified quote."""
    llm_requests: int
    """Number of LLM answers used, including cached ones."""
    llm_requests_failed: int
    """Number of LLM calls that ended without a usable answer after all retries."""
    faults: tuple[FaultCount, ...]
    dropped: tuple[Dropped, ...]
