"""A run's journal: LLM requests, failures, papers found and read, and use of sources. Reports derive their coverage
from it."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from assayer.errors import AssayerError
from assayer.models import (
    CallRecord,
    Dropped,
    Fault,
    FaultCount,
    FaultKind,
    Operation,
    Paper,
    PaperId,
    PromptVersion,
    SourceFailure,
    SourceUse,
    TextFlag,
)
from assayer.text.sanitise import sanitise

_MAX_TITLE_CHARS = 300


@dataclass
class Journal:
    """Record of what happened during a run. The report's coverage, provenance and notices are derived from it."""

    calls: list[CallRecord] = field(default_factory=list)
    failed_calls: list[tuple[str, tuple[Fault, ...]]] = field(default_factory=list)
    """Tasks that ended without an answer, with their faults."""
    errors: list[AssayerError] = field(default_factory=list)
    """Errors passed to `record_failure`, in order of arrival."""
    suspicious_papers: dict[PaperId, str] = field(default_factory=dict)
    """Titles of suspicious papers, keyed by paper: the text appears to contain instructions to a judge, or the title or
    venue contains hidden text."""
    found: set[PaperId] = field(default_factory=set)
    read: set[PaperId] = field(default_factory=set)
    full_texts: set[PaperId] = field(default_factory=set)
    near_remote_papers: dict[PaperId, str] = field(default_factory=dict)
    """Papers near a query that a remote source returned but the corpus did not, each with that source's name."""
    prompt_digests: dict[str, str] = field(default_factory=dict)
    """Prompt digests of all tasks that were run, keyed by task name."""
    undated_texts: dict[PaperId, Literal["full text", "web page"]] = field(default_factory=dict)
    """Texts that were read in their current state although a cutoff applies, so they may be newer than the cutoff."""
    revised_later: set[PaperId] = field(default_factory=set)
    """Preprints with a version published after the cutoff; the title and abstract that were read may belong to that
    version."""
    unchecked_for_retraction: Counter[str] = field(default_factory=Counter)
    """Number of papers that could not be checked for retraction before being cited, keyed by the unavailable source."""
    _dropped_counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _missing_full_texts: dict[PaperId, str] = field(default_factory=dict)
    _sources: dict[tuple[str, Operation], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    _source_failures: Counter[tuple[str, Operation, str]] = field(default_factory=Counter)

    def record_if_suspicious(self, paper: Paper, flags: Iterable[TextFlag] = ()) -> None:
        """Record the paper as suspicious if its title, its venue or the flags of its text indicate prompt injection, or
        if its title or venue contains hidden text."""
        title, of_title = sanitise(paper.title)
        in_record = {flag.kind for flag in (*of_title, *sanitise(paper.venue)[1])}
        in_text = {flag.kind for flag in flags}
        if "suspected_injection" in in_record | in_text or "hidden_text" in in_record:
            self.suspicious_papers[paper.id] = " ".join(title.split())[:_MAX_TITLE_CHARS]

    def record_dropped(self, item_kind: str, reason: str, count: int = 1) -> None:
        if count:
            self._dropped_counts[item_kind, reason] += count

    def record_failure(self, item_kind: str, error: AssayerError, count: int = 1) -> None:
        """Record that an error caused `count` items to be lost."""
        self.record_dropped(item_kind, error.reason, count)
        self.errors.append(error)

    def record_use(
        self, source: str, operation: Operation, requests: int = 0, results: int = 0, cached: int = 0
    ) -> None:
        """Record how many requests a literature source answered, how many results it returned, and how many of the
        requests were answered from the shared cache."""
        if not (requests or results):
            return
        entry = self._sources[source, operation]
        entry[0] += requests
        entry[1] += results
        entry[2] += cached

    def record_source_failure(self, source: str, operation: Operation, error: AssayerError) -> None:
        """Record a request to a source that failed."""
        self._source_failures[source, operation, error.reason] += 1

    def list_remote_sources_searched(self, source: str) -> tuple[str, ...]:
        """Return the names of all sources except `source` in which a search had results, sorted."""
        searched = (item for item, used in self._sources.items() if item[1] in ("search", "snippets") and used[1])
        return tuple(sorted({name for name, _ in searched} - {source}))

    def record_missing_full_text(self, paper: PaperId, reason: str) -> None:
        """Record a missing full text, once per paper however many methods wanted to read it."""
        self._missing_full_texts.setdefault(paper, reason)

    def add_calls_from(self, other: "Journal") -> None:
        """Add the LLM requests, failed tasks, prompt digests and dropped items from another journal."""
        self.calls += other.calls
        self.failed_calls += other.failed_calls
        self.prompt_digests |= other.prompt_digests
        self._dropped_counts += other._dropped_counts

    def list_dropped(self) -> tuple[Dropped, ...]:
        dropped = self._dropped_counts + Counter(("full text", reason) for reason in self._missing_full_texts.values())
        return tuple(
            Dropped(item_kind=what, count=count, reason=reason) for (what, reason), count in sorted(dropped.items())
        )

    def list_source_uses(self) -> tuple[SourceUse, ...]:
        return tuple(
            SourceUse(source=source, operation=operation, requests=requests, results=results, cached=cached)
            for (source, operation), (requests, results, cached) in sorted(self._sources.items())
        )

    def list_source_failures(self) -> tuple[SourceFailure, ...]:
        return tuple(
            SourceFailure(source=source, operation=operation, reason=reason, requests=requests)
            for (source, operation, reason), requests in sorted(self._source_failures.items())
        )

    def list_faults(self) -> tuple[FaultCount, ...]:
        answered = [(call.task, fault, 1) for call in self.calls for fault in call.faults]
        lost = [(task, fault, 0) for task, faults in self.failed_calls for fault in faults]
        occurred: Counter[tuple[str, FaultKind]] = Counter()
        recovered: Counter[tuple[str, FaultKind]] = Counter()
        examples: dict[tuple[str, FaultKind], str] = {}
        for task, fault, counted in (*lost, *answered):
            occurred[task, fault.kind] += 1
            recovered[task, fault.kind] += counted
            examples.setdefault((task, fault.kind), fault.detail)
        return tuple(
            FaultCount(
                task=task, kind=kind, occurrences=count, recovered=recovered[task, kind], example=examples[task, kind]
            )
            for (task, kind), count in sorted(occurred.items())
        )

    def list_prompts(self) -> tuple[PromptVersion, ...]:
        versions = sorted({(call.task, call.version) for call in self.calls})
        return tuple(
            PromptVersion(task=task, version=version, digest=self.prompt_digests.get(task, ""))
            for task, version in versions
        )
