"""Audit log entries for acts on jobs: which acts are recorded, and the content of their entries.
Each act has a single entry, regardless of the number of proposals. Recorded acts: submitting, extending, cancelling or
rerunning a call; cancelling or rerunning an evaluation; starting or cancelling a ranking. Single ideas and jobs for
training models belong to no call and are not recorded."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from orchestrator.access.audit_chain import AuditedAct
from orchestrator.jobs.models import BatchId, JobKind
from orchestrator.jobs.requests import EvaluationRequest, RankingRequest
from orchestrator.jobs.submissions import MoreRows, NewBatch, NewJob

CANCELLATION_ACTS: dict[JobKind, AuditedAct] = {"evaluation": "evaluation cancelled", "ranking": "ranking cancelled"}
"""Act recorded when a single job is cancelled, by the kind of job. Cancelling a job of any other kind is not recorded.
"""


class EntryContent(NamedTuple):
    """Content of an audit log entry that is to be written."""

    act: AuditedAct
    subject: str
    content: dict[str, Any]


def build_rows_entry(batch: NewBatch | MoreRows, jobs: Sequence[NewJob]) -> EntryContent:
    """Return the audit entry for submitted rows. It contains no titles or file names, because entries about a call
    remain when an applicant is erased."""
    rows: dict[str, Any] = {"proposals": len(jobs), "refused": len(batch.rejected) or None, "open": batch.open or None}
    if isinstance(batch, MoreRows):
        rows["replaces"] = list(batch.replaces)
        return EntryContent("proposals added", batch.id, _drop_empty_values(rows | _collect_settings(jobs)))
    due_date = None if batch.opinions_due is None else batch.opinions_due.isoformat()
    labels = {"name": batch.name, "tags": list(batch.tags), "opinions_due": due_date}
    return EntryContent("call submitted", batch.id, _drop_empty_values(labels | rows | _collect_settings(jobs)))


def build_ranking_entry(job: NewJob, request: RankingRequest, call: BatchId | None) -> EntryContent:
    content = {
        "call": call,
        "proposals": len(request.ideas),
        "places": request.shortlist_size,
        "comparisons_per_proposal": request.comparisons_per_idea,
        "known_comparisons": len(request.known) or None,
        "blind": request.blind,
        "max_usd": request.limits.max_usd,
    }
    return EntryContent("ranking started", job.id, _drop_empty_values(content))


def _collect_settings(jobs: Sequence[NewJob]) -> dict[str, Any]:
    """Return the settings with which the jobs are evaluated. They are taken from the first job; only the cutoff can
    differ between jobs."""
    requests = [job.request for job in jobs if isinstance(job.request, EvaluationRequest)]
    if not requests:
        return {}
    first_request, cutoffs = requests[0], {request.cutoff for request in requests}
    cutoff = next(iter(cutoffs))
    return {
        "method": first_request.method,
        "cutoff": "differs between proposals" if len(cutoffs) > 1 else None if cutoff is None else cutoff.isoformat(),
        "blind": first_request.blind,
        "board": first_request.board,
        "board_models": list(first_request.board_models),
        "criteria": [criterion.name for criterion in first_request.criteria],
        "max_usd": first_request.limits.max_usd,
        "priority": jobs[0].priority,
    }


def _drop_empty_values(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content without empty values."""
    return {name: value for name, value in content.items() if value not in (None, "", [])}
