"""Everything that a tenant has stored about one applicant, or of one batch: found, and deleted."""

import datetime as dt
from collections.abc import Sequence, Set
from functools import partial
from typing import NamedTuple

import asyncpg

from assayer.models import Frozen
from orchestrator.access.audit_chain import Actor, AuditTip
from orchestrator.jobs.models import BatchId, JobId, JobKind, JobState, TenantId
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database
from orchestrator.store.documents import PgDocuments
from orchestrator.store.job_sql import PAID_SO_FAR, called, finish_statement
from orchestrator.store.notifications import cancelled_notifications, notify
from orchestrator.store.open_calls import hold_call_open
from orchestrator.store.retention import erase_batch, erase_jobs
from orchestrator.store.rows import from_row
from orchestrator.store.taken_out import (
    APPLICANT,
    LEAST_LEFT,
    STILL_RANKED,
    TAKE_OUT_SECONDS,
    ranked_applicant,
    take_out,
)

__all__ = ["JobToErase", "PgErasures"]

_AT_ONCE = 200


def _called(column: str) -> str:
    return called(column, "$2")


# Comparisons, scores and rankings hold whole ideas: by the sender's name for them, or by the words of an idea that an
# evaluation found here has. Lists of items name them by `id`, `reference` or `source`.
_FOUND = f"""
    WITH direct AS ({APPLICANT})
    SELECT id, kind, state, subject, batch, "row", cost_usd, size AS ranked, (
        SELECT count(*)::integer FROM jsonb_array_elements(ideas) AS one
        WHERE {_called("(one ->> 'source')")} OR one ->> 'id' IN (SELECT idea FROM direct)
    ) AS taken, jsonb_array_length(ideas) AS standing
    FROM jobs LEFT JOIN rankings ON job = id
    WHERE tenant = $1 AND (
        id IN (SELECT id FROM direct)
        OR kind <> 'evaluation' AND (
            EXISTS (
                SELECT FROM jsonb_path_query(request, '$.**.source') AS named WHERE {_called("(named #>> '{}')")}
            )
            OR EXISTS (
                SELECT FROM jsonb_path_query(request, '$.items[*]') AS item
                WHERE $2::text IN (item ->> 'id', item ->> 'reference')
            )
            OR EXISTS (
                SELECT FROM jsonb_path_query(request, '$.**.id') AS named
                WHERE named #>> '{{}}' IN (SELECT idea FROM direct)
            )
        )
    )
    ORDER BY created_at, id
"""  # noqa: S608 - put together from constants
_REFUSED = f"""
    SELECT count(*)::integer AS rows FROM batches, jsonb_array_elements(rejected) AS one
    WHERE tenant = $1 AND {_called("(one ->> 'source')")}
"""  # noqa: S608 - put together from constants
# What others add to the list at the same moment stays: it is filtered as it is when its row is changed.
_FORGET_REFUSED = f"""
    UPDATE batches SET (erased, rejected) = (
        SELECT erased + count(*) FILTER (WHERE {_called("(one ->> 'source')")}),
               coalesce(jsonb_agg(one ORDER BY place) FILTER (WHERE NOT {_called("(one ->> 'source')")}), '[]')
        FROM jsonb_array_elements(batches.rejected) WITH ORDINALITY AS each (one, place)
    )
    WHERE tenant = $1 AND EXISTS (
        SELECT FROM jsonb_array_elements(batches.rejected) AS one WHERE {_called("(one ->> 'source')")}
    )
    RETURNING id
"""  # noqa: S608 - put together from constants
_CANCEL = finish_statement(
    f"state = 'cancelled', cost_usd = {PAID_SO_FAR}",
    "id IN (SELECT id FROM jobs WHERE tenant = $1 AND state IN ('queued', 'running') AND id = ANY($2) "
    "ORDER BY id FOR UPDATE)",
)
# Calls before their jobs, as whoever acts about a call does.
_LOCK_BATCHES_OF = """
    SELECT id FROM batches WHERE id IN (SELECT batch FROM jobs WHERE tenant = $1 AND id = ANY($2))
    ORDER BY id FOR NO KEY UPDATE
"""
# Messages to webhooks tell titles and names, also that it was cancelled just now.
_FORGET_MESSAGES = """
    DELETE FROM deliveries USING webhooks
    WHERE webhooks.id = webhook AND webhooks.tenant = $1 AND payload #>> '{data,id}' = ANY($2)
"""
# What a request was answered tells which rows were refused, doubled or left out. Whoever repeats it within its week is
# still told what became of it, without those lists.
_FORGET_RESPONSES = """
    UPDATE idempotency SET body = convert_to(
        (
            SELECT jsonb_object_agg(name, CASE jsonb_typeof(value) WHEN 'array' THEN '[]' ELSE value END)
            FROM jsonb_each(convert_from(body, 'UTF8')::jsonb) AS said (name, value)
        )::text,
        'UTF8'
    )
    WHERE tenant = $1 AND split_part(location, '/', 4) = ANY($2)
"""
_CLOSE_BATCH = "UPDATE batches SET open = false WHERE tenant = $1 AND id = $2"
_SOME_OF_BATCH = "SELECT id FROM jobs WHERE tenant = $1 AND batch = $2 ORDER BY id LIMIT $3"


_CALLS_RANKED = "SELECT batch FROM ranking_calls WHERE job = $1 ORDER BY batch"

_STILL_STORED = """
    SELECT id FROM jobs WHERE tenant = $1 AND id = ANY($2)
    UNION SELECT id FROM batches WHERE tenant = $1 AND id = ANY($2)
    UNION SELECT job FROM document_files WHERE job = ANY($2)
    UNION SELECT payload #>> '{data,id}' FROM deliveries JOIN webhooks ON webhooks.id = webhook
          WHERE webhooks.tenant = $1 AND payload #>> '{data,id}' = ANY($2)
    UNION SELECT words.about FROM audit_contents AS words JOIN audit_log AS entry USING (tenant, number)
          WHERE words.tenant = $1 AND words.about = ANY($2) AND entry.act <> 'erased'
    ORDER BY id
"""


class JobToErase(Frozen):
    id: JobId
    kind: JobKind
    state: JobState
    subject: str
    batch: BatchId | None
    row: int | None
    cost_usd: float | None
    ranked: int | None
    """Ideas that were ranked: of a ranking that is done."""
    standing: int | None
    """Of those, how many were not erased before."""
    taken: int
    """Of those, how many are the applicant's."""

    @property
    def left(self) -> int | None:
        """Of a ranking that is done: proposals of others in it."""
        return None if self.standing is None else self.standing - self.taken

    @property
    def stays(self) -> bool:
        """Whether it is a ranking that is worth something without the applicant."""
        return self.kind == "ranking" and self.state == "done" and self.left is not None and self.left >= LEAST_LEFT


class PgErasures:
    def __init__(self, database: Database, log: PgAuditLog, documents: PgDocuments | None = None) -> None:
        self._database = database
        self._log = log
        self._documents = documents

    async def find(self, tenant: TenantId, source: str | None, batch: BatchId | None) -> list[JobToErase]:
        """Evaluations whose sender called them so, or of the batch, and whatever else holds their ideas. The oldest
        first."""
        rows = await self._database.fetch(_FOUND, tenant, _stored(source), batch)
        return [from_row(JobToErase, row) for row in rows]

    async def refused_rows(self, tenant: TenantId, source: str | None) -> int:
        """Rows of batches that held no usable idea and are named so."""
        row = await self._database.fetch_one(_REFUSED, tenant, _stored(source))
        return 0 if row is None else int(row["rows"])

    async def erase(
        self,
        tenant: TenantId,
        actor: Actor,
        jobs: Sequence[JobId],
        now: dt.datetime,
        *,
        source: str | None = None,
        batch: BatchId | None = None,
        ranking: JobId | None = None,
        taken_out_of: Sequence[JobId] = (),
    ) -> AuditTip:
        """These jobs, the rows that were refused under this name, and the batch with all that it has come to hold.
        Jobs that have not ended are cancelled, of which no webhook is told. The entry of the audit log that says so.
        `ranking`: the job is that, and goes for itself, not with an applicant. Raises ReviewRefused where a call that
        it ranks is signed off: what was decided may rest on it. `taken_out_of`: rankings that are done, which stay,
        signed off or not, without whatever is named so."""
        # First: should this end half way, the log says more than was done, never less.
        things = [*jobs, *([batch] if batch else [])]
        about = batch or ("an applicant" if source is not None or len(jobs) != 1 else jobs[0])

        async def announce(connection: Connection) -> AuditTip:
            async with connection.transaction():
                for row in await connection.fetch(_CALLS_RANKED, ranking):
                    await hold_call_open(connection, tenant, row["batch"])
                return await self._log.erase_within(connection, tenant, actor, about, things, now)

        if ranking is None:
            tip = await self._log.erase(tenant, actor, about, things, now, taken_out_of)
        else:
            tip = await self._database.run(announce)
        deed = _Deed(self._log, tenant, actor, about, now, tip.number)
        if source is not None:
            # First: by the evaluations of the applicant their ideas are found in rankings that name them otherwise.
            for kept in taken_out_of:
                await self._database.run(partial(deed.take_out_of, kept, source), TAKE_OUT_SECONDS)
        for start in range(0, len(jobs), _AT_ONCE):
            await self._database.run(partial(deed.delete_jobs, jobs[start : start + _AT_ONCE]))
        if source is not None:
            await self._database.run(partial(deed.forget_refused, source))
        if batch is not None:
            # No part of it comes in from here on, and one that was just coming in has come.
            await self._database.execute(_CLOSE_BATCH, tenant, batch)
            while rows := await self._database.fetch(_SOME_OF_BATCH, tenant, batch, _AT_ONCE):
                await self._database.run(partial(deed.delete_jobs, [JobId(row["id"]) for row in rows]))
            await self._database.run(partial(deed.delete_batch, batch))
        if source is not None:
            await self._erase_begun(tenant, actor, source, now, {*jobs, *taken_out_of})
        if self._documents is not None:
            await self._documents.sweep_soon()
        return tip

    async def _erase_begun(
        self, tenant: TenantId, actor: Actor, source: str, now: dt.datetime, known: Set[JobId]
    ) -> None:
        """What began with the applicant's idea since it was looked for, with an entry of its own. Evaluations that were
        sent under the name meanwhile stay: nobody has been shown them."""
        found = [one for one in await self.find(tenant, source, None) if one.kind != "evaluation"]
        begun = [one for one in found if one.id not in known]
        if begun:
            going = [one.id for one in begun if not one.stays]
            kept = [one.id for one in begun if one.stays]
            await self.erase(tenant, actor, going, now, source=source, taken_out_of=kept)

    async def still_stored(
        self, tenant: TenantId, things: Sequence[str], taken_out_of: Sequence[str] = (), proof: int = 0
    ) -> list[str]:
        """Of these ids of jobs and batches, those of which something is there: themselves, the file of a document, a
        message to a webhook, words in the audit log. Of rankings from which the erasure with that number
        took somebody out, those that still hold something of an idea which has no place in them."""
        rows = await self._database.fetch(_STILL_STORED, tenant, list(things))
        if taken_out_of:
            rows += await self._database.run(partial(_still_ranked, tenant, taken_out_of, proof), TAKE_OUT_SECONDS)
        return sorted({row["id"] for row in rows})


async def _still_ranked(
    tenant: TenantId, rankings: Sequence[str], proof: int, connection: Connection
) -> list[asyncpg.Record]:
    return await connection.fetch(STILL_RANKED, tenant, list(rankings), str(proof), timeout=TAKE_OUT_SECONDS)


class _Deed(NamedTuple):
    """What is done in one transaction each, so that nobody's words about it are written in between."""

    log: PgAuditLog
    tenant: TenantId
    actor: Actor
    about: str
    now: dt.datetime
    proof: int
    """Number of the entry of the audit log that says what was erased."""

    async def delete_jobs(self, jobs: Sequence[JobId], connection: Connection) -> None:
        async with connection.transaction():
            batches = [row["id"] for row in await connection.fetch(_LOCK_BATCHES_OF, self.tenant, jobs)]
            cancelled = await connection.fetch(_CANCEL, self.tenant, jobs)
            await erase_jobs(connection, self.tenant, jobs, self.now, self.proof)
            await self._forget(connection, jobs, [*jobs, *batches])
        await notify(connection, (one for row in cancelled for one in cancelled_notifications(row["id"])))

    async def take_out_of(self, ranking: JobId, source: str, connection: Connection) -> None:
        async with connection.transaction():
            standing = await ranked_applicant(connection, self.tenant, ranking, _stored(source) or "")
            if standing is None:
                return
            if standing.others >= LEAST_LEFT:
                await take_out(connection, ranking, standing, self.now, self.proof)
                await connection.fetch(_FORGET_RESPONSES, self.tenant, [ranking])
                return
            # Others have been taken out of it since it was looked at. The end of the log is locked last, as ever.
            await connection.fetch(_FORGET_MESSAGES, self.tenant, [ranking])
            await connection.fetch(_FORGET_RESPONSES, self.tenant, [ranking])
            tip = await self.log.erase_within(connection, self.tenant, self.actor, self.about, [ranking], self.now)
            await erase_jobs(connection, self.tenant, [ranking], self.now, tip.number)

    async def forget_refused(self, source: str, connection: Connection) -> None:
        async with connection.transaction():
            rows = await connection.fetch(_FORGET_REFUSED, self.tenant, _stored(source))
            await connection.fetch(_FORGET_RESPONSES, self.tenant, [row["id"] for row in rows])

    async def delete_batch(self, batch: BatchId, connection: Connection) -> None:
        async with connection.transaction():
            await erase_batch(connection, self.tenant, batch, self.now, self.proof)
            await self._forget(connection, [batch], [batch])

    async def _forget(self, connection: Connection, things: Sequence[str], answered: Sequence[str]) -> None:
        await connection.fetch(_FORGET_MESSAGES, self.tenant, things)
        await connection.fetch(_FORGET_RESPONSES, self.tenant, answered)
        await self.log.erase_late(connection, self.tenant, self.actor, self.about, things, self.now)


def _stored(source: str | None) -> str | None:
    """As a name was stored."""
    return None if source is None else source.replace("\x00", "")
