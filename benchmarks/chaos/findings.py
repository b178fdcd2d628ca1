"""Check the tables for the guarantee that every accepted evaluation ends in exactly one verdict."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from assayer.models import Frozen
from benchmarks.chaos.ledger_audit import LedgerAudit

_LOST = "accepted, and not in the tables"
_WITHOUT_VERDICT = "without a verdict"
_ACCEPTED_TWICE = "accepted twice under one idempotency key"
_VERDICTS = {"succeeded", "failed", "cancelled"}


class Accepted(Frozen):
    """Line of the clients' record: an accepted submission (202)."""

    tenant: str
    key: str
    """Idempotency key."""
    job: str


class StoredEvaluation(NamedTuple):
    """Evaluation as stored in the tables."""

    state: str
    attempts: int
    is_leased: bool
    has_report: bool
    """Whether its run has a report."""
    problem: str | None
    events: Sequence[tuple[int, str]]
    """Numbers and kinds of the events, by number."""

    @property
    def verdict_count(self) -> int:
        return sum(kind in _VERDICTS for _, kind in self.events)


_GUARANTEES: Mapping[str, Callable[[StoredEvaluation], bool]] = {
    _WITHOUT_VERDICT: lambda job: job.state not in _VERDICTS,
    "still leased": lambda job: job.is_leased,
    "not told of exactly one verdict": lambda job: job.verdict_count != 1,
    "told of another verdict than theirs, or of more after it": lambda job: (
        job.events[-1:] != [(len(job.events), job.state)]
    ),
    "with a gap in their events": lambda job: (
        [number for number, _ in job.events] != list(range(1, len(job.events) + 1))
    ),
    "done without a report": lambda job: job.state == "succeeded" and not job.has_report,
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
        return len(set(self.broken.get(_LOST, ())) | set(self.broken.get(_WITHOUT_VERDICT, ())))

    @property
    def duplicated(self) -> int:
        return len(self.broken.get(_ACCEPTED_TWICE, ()))

    @property
    def violations(self) -> list[str]:
        return [f"{rule}: {', '.join(ids)}" for rule, ids in self.broken.items() if ids]


def check_guarantees(
    jobs: Mapping[str, StoredEvaluation],
    late_ids: Iterable[str],
    paid_calls: int,
    accepted_jobs: Collection[Accepted],
    erased_ids: Collection[str] = (),
    ledger_audit: LedgerAudit | None = None,
) -> Findings:
    """Return the findings; `late_ids` are the evaluations that called a language model after their verdict,
    `paid_calls` is the number of paid calls."""
    known_ids = {accepted_job.job for accepted_job in accepted_jobs}
    by_key: dict[tuple[str, str], set[str]] = defaultdict(set)
    for accepted_job in accepted_jobs:
        by_key[accepted_job.tenant, accepted_job.key].add(accepted_job.job)
    violations = {
        _LOST: known_ids - jobs.keys() - set(erased_ids),
        "in the tables, and never accepted": jobs.keys() - known_ids,
        _ACCEPTED_TWICE: {job for ids in by_key.values() if len(ids) > 1 for job in ids},
        "called a language model after the verdict": set(late_ids),
        **({} if ledger_audit is None else {rule: set(job_ids) for rule, job_ids in ledger_audit.broken.items()}),
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
        tokens=0 if ledger_audit is None else ledger_audit.tokens,
        ledger_usd=0.0 if ledger_audit is None else ledger_audit.ledger_usd,
        spent_usd=0.0 if ledger_audit is None else ledger_audit.spent_usd,
        late=0 if ledger_audit is None else ledger_audit.late,
    )
