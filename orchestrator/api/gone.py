"""Response 410 instead of 404: time and reason of the resource's deletion by the caller's tenant, and the location of
the proof."""

from assayer.reports.wording import moment
from orchestrator.access.api_keys import Caller
from orchestrator.problems import HttpProblem, NoSuchThing
from orchestrator.store.tombstones import Tombstone
from orchestrator.web.authentication import has_scope


def gone(sought: NoSuchThing, tombstone: Tombstone, caller: Caller) -> HttpProblem:
    """Return a 410 problem. It includes the number of the proof if the caller is allowed to read it."""
    proof = tombstone.proof if has_scope(caller, "manage") and caller.role != "reviewer" else None
    kind = {"rewards": "set of rewards", "score": "set of scores"}.get(tombstone.kind, tombstone.kind)
    what, when = f"The {kind} {sought.id!r}", moment(tombstone.deleted_at)
    if tombstone.why == "erased":
        detail = f"{what} was erased on {when}."
    else:
        detail = f"{what} was deleted on {when}, when its retention period ended."
    detail += "" if proof is None else f" The proof: /v1/erasures/{proof}."
    return HttpProblem("gone", detail, reason=tombstone.why, deleted_at=tombstone.deleted_at, proof=proof)
