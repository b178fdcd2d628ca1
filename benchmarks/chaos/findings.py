"""Check the tables for the guarantee that every accepted evaluation ends in exactly one verdict."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from assayer.models import Frozen
from benchmarks.chaos.ledger_audit import Books

_LOST = "accepted, and not in the tables"
_WITHOUT = "without a verdict"
_TWICE = "accepted twice under one idempotency key"
_VERDICTS = {"succeeded", "failed", "cancelled"}


class Accepted(Frozen):
    """Line of the clients' record: an accepted submission (202)."""

    tenant: str
    key: str
    """Idempotency key."""
    job: str


class Told(NamedTuple):
    """Evaluation as stored in the tables."""

    state: str
    attempts: int
    leased: bool
    reported: bool
    """Whether its run has a report."""
    problem: str | None
    events: Sequence[tuple[int, str]]
    """Numbers and kinds of the events, by number."""

    @property
    def verdicts(self) -> int:
        return sum(kind in _VERDICTS for _, kind in self.events)


_GUARANTEES: Mapping[str, Callable[[Told], bool]] = {
    _WITHOUT: lambda job: job.state not in _VERDICTS,
    "still leased": lambda job: job.leased,
    "not told of exactly one verdict": lambda job: job.verdicts != 1,
    "told of another verdict than theirs, or of more after it": lambda job: (
        job.events[-1:] != [(len(job.events), job.state)]
    ),
    "with a gap in their events": lambda job: (
        [number for number, _ in job.events] != list(range(1, len(job.events) + 1))
    ),
    "done without a report": lambda job: job.state == "succeeded" and not job.reported,
    "failed without an explanation": lambda job: job.state == "failed" and not job.problem,
}


class Findings(Frozen):
    accepted: int
    """Number of different evaluations in the clients' record."""
    states: Mapping[str, int]
    interrupted: int
    """Number of evaluations with more than one attempt."""
    attempts: int
    calls_paid: int
    """Number of ledger rows with answers that did not come from the cache."""
    broken: Mapping[str, tuple[str, ...]]
    """Ids of evaluations by the guarantee that was violated; all should be empty."""
    problems: tuple[str, ...]
    """Problems of evaluations that ended without a report."""
    erased: int = 0
    tokens: int = 0
    """Tokens of paid answers in the ledger."""
    ledger_usd: float = 0.0
    spent_usd: float = 0.0
    """Amount charged to the tenants."""
    late: int = 0
    """Number of calls recorded after the verdict."""

    @property
    def lost(self) -> int:
        return len(set(self.broken.get(_LOST, ())) | set(self.broken.get(_WITHOUT, ())))

    @property
    def doubled(self) -> int:
        return len(self.broken.get(_TWICE, ()))

    @property
    def violations(self) -> list[str]:
        return [f"{rule}: {', '.join(ids)}" for rule, ids in self.broken.items() if ids]


def judge(
    jobs: Mapping[str, Told],
    late_ids: Iterable[str],
    paid_calls: int,
    accepted_jobs: Collection[Accepted],
    erased_ids: Collection[str] = (),
    books: Books | None = None,
) -> Findings:
    """Return the findings; `late_ids` are the evaluations that called a language model after their verdict,
    `paid_calls` is the number of paid calls."""
    known_ids = {item.job for item in accepted_jobs}
    by_key: dict[tuple[str, str], set[str]] = defaultdict(set)
    for item in accepted_jobs:
        by_key[item.tenant, item.key].add(item.job)
    violations = {
        _LOST: known_ids - jobs.keys() - set(erased_ids),
        "in the tables, and never accepted": jobs.keys() - known_ids,
        _TWICE: {job for ids in by_key.values() if len(ids) > 1 for job in ids},
        "called a language model after the verdict": set(late_ids),
        **({} if books is None else {rule: set(job_ids) for rule, job_ids in books.broken.items()}),
        **{rule: {id for id, job in jobs.items() if is_broken(job)} for rule, is_broken in _GUARANTEES.items()},
    }
    return Findings(
        accepted=len(known_ids),
        states=Counter(job.state for job in jobs.values()),
        interrupted=sum(job.attempts > 1 for job in jobs.values()),
        attempts=sum(job.attempts for job in jobs.values()),
        calls_paid=paid_calls,
        broken={rule: tuple(sorted(job_ids)) for rule, job_ids in violations.items()},
        problems=tuple(f"{id} is {job.state}: {job.problem}" for id, job in sorted(jobs.items()) if job.problem),
        erased=len(set(erased_ids)),
        tokens=0 if books is None else books.tokens,
        ledger_usd=0.0 if books is None else books.ledger_usd,
        spent_usd=0.0 if books is None else books.spent_usd,
        late=0 if books is None else books.late,
    )
