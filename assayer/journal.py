"""What happened in a run. The report's coverage box and provenance are drawn from it, nothing else is."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from assayer.errors import AssayerError
from assayer.models import (
    CallRecord,
    Dropped,
    Fault,
    FaultCount,
    Operation,
    PaperId,
    PromptVersion,
    SourceTrouble,
    SourceUse,
)

__all__ = ["Journal"]


@dataclass
class Journal:
    """What happened in a run; the report's coverage and provenance are drawn from it."""

    calls: list[CallRecord] = field(default_factory=list)
    lost: list[tuple[str, tuple[Fault, ...]]] = field(default_factory=list)
    """Task calls that ended without an answer, with the faults they met."""
    errors: list[AssayerError] = field(default_factory=list)
    """What `fail` was told, in order."""
    suspects: dict[PaperId, str] = field(default_factory=dict)
    """Titles of papers whose text seems to give orders to whoever judges it."""
    found: set[PaperId] = field(default_factory=set)
    read: set[PaperId] = field(default_factory=set)
    full_texts: set[PaperId] = field(default_factory=set)
    near_beyond: dict[PaperId, str] = field(default_factory=dict)
    """Papers near what was searched for that came from beyond the corpus, and from which source."""
    _dropped: Counter[tuple[str, str]] = field(default_factory=Counter)
    _without_full_text: dict[PaperId, str] = field(default_factory=dict)
    _sources: dict[tuple[str, Operation], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    _troubles: Counter[tuple[str, Operation, str]] = field(default_factory=Counter)

    def drop(self, what: str, reason: str, count: int = 1) -> None:
        if count:
            self._dropped[what, reason] += count

    def fail(self, what: str, error: AssayerError, count: int = 1) -> None:
        """So many things were lost to an error."""
        self.drop(what, error.reason, count)
        self.errors.append(error)

    def use(self, source: str, operation: Operation, requests: int = 0, results: int = 0, cached: int = 0) -> None:
        """Requests that a source of literature answered, how many of them from the shared cache, and how much came
        back."""
        if not (requests or results):
            return
        entry = self._sources[source, operation]
        entry[0] += requests
        entry[1] += results
        entry[2] += cached

    def trouble(self, source: str, operation: Operation, error: AssayerError) -> None:
        """A request that ended without an answer."""
        self._troubles[source, operation, error.reason] += 1

    def searched_beyond(self, source: str) -> tuple[str, ...]:
        """Other sources in which a search found something."""
        searched = (one for one, used in self._sources.items() if one[1] in ("search", "snippets") and used[1])
        return tuple(sorted({name for name, _ in searched} - {source}))

    def without_full_text(self, paper: PaperId, reason: str) -> None:
        """Counted once a paper, however many methods wanted to read it."""
        self._without_full_text.setdefault(paper, reason)

    def dropped(self) -> tuple[Dropped, ...]:
        dropped = self._dropped + Counter(("full text", reason) for reason in self._without_full_text.values())
        return tuple(
            Dropped(what=what, count=count, reason=reason) for (what, reason), count in sorted(dropped.items())
        )

    def sources(self) -> tuple[SourceUse, ...]:
        return tuple(
            SourceUse(source=source, operation=operation, requests=requests, results=results, cached=cached)
            for (source, operation), (requests, results, cached) in sorted(self._sources.items())
        )

    def troubles(self) -> tuple[SourceTrouble, ...]:
        return tuple(
            SourceTrouble(source=source, operation=operation, reason=reason, requests=requests)
            for (source, operation, reason), requests in sorted(self._troubles.items())
        )

    def faults(self) -> tuple[FaultCount, ...]:
        met: Counter[tuple[str, str]] = Counter()
        recovered: Counter[tuple[str, str]] = Counter()
        for call in self.calls:
            for fault in call.faults:
                met[call.task, fault.kind] += 1
                recovered[call.task, fault.kind] += 1
        for task, faults in self.lost:
            for fault in faults:
                met[task, fault.kind] += 1
        return tuple(
            FaultCount.model_validate({"task": task, "kind": kind, "met": count, "recovered": recovered[task, kind]})
            for (task, kind), count in sorted(met.items())
        )

    def prompts(self) -> tuple[PromptVersion, ...]:
        versions = sorted({(call.task, call.version) for call in self.calls})
        return tuple(PromptVersion(task=task, version=version) for task, version in versions)
