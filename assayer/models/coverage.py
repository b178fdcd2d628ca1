"""What was searched, found, read and lost on the way to a report."""

from typing import Literal

from assayer.models.base import Absent, Frozen
from assayer.models.paper import CorpusFit, FitLevel

FaultKind = Literal[
    "invalid_json",
    "schema_violation",
    "wrapped",
    "coerced",
    "failed_check",
    "truncated",
    "empty",
    "refusal",
    "rate_limited",
    "server_error",
    "timeout",
    "connection",
]


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
"""Why no parser could read a document."""


class Fault(Frozen):
    """One thing that went wrong in one LLM call."""

    kind: FaultKind
    detail: str
    """One line, no prompt text, no keys."""


class FaultCount(Frozen):
    """Faults of one kind in one task, and how many of the calls that met them still gave an answer."""

    task: str
    kind: FaultKind
    met: int
    recovered: int


Operation = Literal[
    "search",
    "snippets",
    "neighbours",
    "references",
    "own_references",
    "citations",
    "papers",
    "retractions",
    "open_access",
    "full_texts",
    "web",
    "code",
    "datasets",
]


class SourceUse(Frozen):
    """How one source of literature was used."""

    source: str
    operation: Operation
    requests: int
    """Asked of the source, whether the answer then came over the network or from the shared cache."""
    results: int
    cached: int = 0
    """Requests among them that the shared cache answered."""


class SourceTrouble(Frozen):
    """Requests to one source that ended without an answer: what they would have found is not in the report."""

    source: str
    operation: Operation
    reason: str
    """The error's reason in a few words: `a source was down`, `a source's rate budget was spent`, …"""
    requests: int


class Dropped(Frozen):
    """Something that did not make it into the verdict, and why."""

    what: str
    """A counted noun: `paper`, `method`, `relevance judgement`, `quote`, …"""
    count: int
    reason: str


class ClaimCounts(Frozen):
    """Claims that have a verified quote, each with each of its quotes, by what the check of one against the other
    came to. A point that stands in a summary too counts once."""

    supported: int
    partly_supported: int
    not_supported: int
    contradicted: int
    unchecked: int
    """The check gave no answer, or the claim says nothing of the paper that could be checked."""


class ModuleDepth(Frozen):
    """The measured number of LLM calls that had to wait for each other."""

    module: str
    levels: int


class Coverage(Frozen):
    """The report's coverage box."""

    corpus_fit: CorpusFit | Absent
    field_covered: FitLevel | None = None
    """By the corpus and what searches beyond it found; None where nothing was searched, and in older reports."""
    sources: tuple[SourceUse, ...]
    troubles: tuple[SourceTrouble, ...] = ()
    papers_found: int
    """Distinct papers that any search returned, after the cutoff and the idea's own paper were taken out."""
    papers_read: int
    """Distinct papers whose text reached a prompt or a fallback."""
    papers_cited: int
    """Distinct papers of the references; those that only stand near a comparison that the plan lacks were not read."""
    full_texts: int
    """Distinct papers read beyond their abstract."""
    quotes_verified: int
    """Quotes of the readings that stand in the text the reader was shown."""
    quotes_unverified: int
    """Quotes of the readings that do not."""
    claims: ClaimCounts | None = None
    """None where no claim has a verified quote, and in reports made before claims were checked."""
    llm_calls: int
    """Answers used, cached ones included."""
    llm_calls_lost: int | None = None
    """Questions that ended without a usable answer, whatever was tried; None in older reports."""
    faults: tuple[FaultCount, ...]
    dropped: tuple[Dropped, ...]
    depth: tuple[ModuleDepth, ...]
