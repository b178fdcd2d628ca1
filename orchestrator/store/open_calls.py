"""Locks that prevent a call from being signed off during a transaction that changes it."""

from orchestrator.jobs.models import TenantId
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.database import Connection

# A statement that waits for a row lock sees the rest of the database as it was before the wait. Data that must be read
# under the lock is therefore read by a second statement.
_LOCK_CALL = """
    SELECT id FROM batches
    WHERE tenant = $1 AND id = coalesce((SELECT batch FROM jobs WHERE tenant = $1 AND id = $2), $2) FOR {lock}
"""
_SELECT_SIGNED_OFF_AT = "SELECT signed_off_at FROM sign_offs WHERE batch = $1"


async def prevent_sign_off(
    connection: Connection, tenant: TenantId, job_or_batch: str, *, exclusive: bool = False
) -> None:
    """Prevent a call's sign-off until the transaction ends. `job_or_batch` is the id of a batch or of a job, which
    need not belong to a batch. With `exclusive`, the lock is exclusive; otherwise it is shared. Raises ReviewRefused if
    the call is signed off."""
    call = await connection.fetchval(
        _LOCK_CALL.format(lock="NO KEY UPDATE" if exclusive else "SHARE"), tenant, job_or_batch
    )
    signed_off_at = None if call is None else await connection.fetchval(_SELECT_SIGNED_OFF_AT, call)
    if signed_off_at is not None:
        raise ReviewRefused(f"The call {call} was signed off on {signed_off_at:%Y-%m-%d}. It can no longer be changed.")
