"""410 in place of 404: when and why the caller's tenant deleted something, and where the proof is."""

from assayer.reports.wording import moment
from orchestrator.api.authentication import has_scope
from orchestrator.api.problems import HttpProblem, NoSuchThing
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.store.tombstones import Tombstone

__all__ = ["gone", "said_of"]

_NAMES = {"rewards": "set of rewards", "score": "set of scores"}


def gone(sought: NoSuchThing, tombstone: Tombstone, caller: AuthenticatedCaller) -> HttpProblem:
    """With the number of the proof for those who may read it."""
    reads_proofs = has_scope(caller, "manage") and caller.role != "reviewer"
    proof = tombstone.proof if reads_proofs else None
    where = "" if proof is None else f" The proof: /v1/erasures/{proof}."
    said = f"{said_of(sought, tombstone)}{where}"
    return HttpProblem("gone", said, reason=tombstone.why, deleted_at=tombstone.deleted_at, proof=proof)


def said_of(sought: NoSuchThing, tombstone: Tombstone) -> str:
    """One sentence, for people."""
    what = f"The {_NAMES.get(tombstone.kind, tombstone.kind)} {sought.id!r}"
    if tombstone.why == "erased":
        return f"{what} was erased on {moment(tombstone.deleted_at)}."
    return f"{what} was deleted on {moment(tombstone.deleted_at)}, when its time of retention was over."
