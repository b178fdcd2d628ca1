"""The response 410 (Gone), used instead of 404 for deleted resources. It states when and why the resource was deleted,
and where the proof is."""

from assayer.reports.wording import format_moment
from orchestrator.access.api_keys import Caller
from orchestrator.problems import HttpProblem, NotFoundProblem
from orchestrator.store.tombstones import Tombstone
from orchestrator.web.authentication import has_scope


def build_gone_problem(problem: NotFoundProblem, tombstone: Tombstone, caller: Caller) -> HttpProblem:
    """Return a 410 problem. It links to the proof of erasure if there is one and the caller may read it."""
    proof = tombstone.proof if has_scope(caller, "manage") and caller.role != "reviewer" else None
    kind = {"rewards": "set of rewards", "score": "set of scores"}.get(tombstone.kind, tombstone.kind)
    subject, deleted_at = f"The {kind} {problem.id!r}", format_moment(tombstone.deleted_at)
    if tombstone.why == "erased":
        detail = f"{subject} was erased on {deleted_at}."
    else:
        detail = f"{subject} was deleted on {deleted_at}, when its retention period ended."
    detail += "" if proof is None else f" The proof is at /v1/erasures/{proof}."
    return HttpProblem("gone", detail, reason=tombstone.why, deleted_at=tombstone.deleted_at, proof=proof)
