"""Everything that a tenant has stored about one applicant, or of one batch: found, and deleted."""

from collections.abc import Sequence

from assayer.models import Frozen
from orchestrator.jobs.models import BatchId, JobId, JobKind, JobState, TenantId
from orchestrator.store.database import Database
from orchestrator.store.documents import PgDocuments
from orchestrator.store.job_sql import called
from orchestrator.store.retention import delete_jobs
from orchestrator.store.rows import from_row

__all__ = ["JobToErase", "PgErasures"]

_AT_ONCE = 200


def _called(column: str) -> str:
    return called(column, "$2")


# Rankings, comparisons and scores hold whole ideas: by the sender's name for them, or by the words of an idea that an
# evaluation found here has. Lists of items name them by `id`, `reference` or `source`.
_FOUND = f"""
    WITH direct AS (
        SELECT jobs.id, coalesce(jobs.request #>> '{{idea,id}}', evaluations.idea_id) AS idea
        FROM jobs LEFT JOIN evaluations ON evaluations.id = jobs.run_id
        WHERE tenant = $1 AND kind = 'evaluation' AND (
            batch = $3 OR {_called("(jobs.request ->> 'source')")} OR {_called("(jobs.request #>> '{idea,source}')")}
        )
    )
    SELECT id, kind, state, subject, batch, "row" FROM jobs
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
_FORGET_REFUSED = f"""
    UPDATE batches SET erased = erased + forgotten.rows, rejected = forgotten.others
    FROM (
        SELECT id, count(*) FILTER (WHERE {_called("(one ->> 'source')")}) AS rows,
               coalesce(
                   jsonb_agg(one ORDER BY place) FILTER (WHERE NOT {_called("(one ->> 'source')")}), '[]'
               ) AS others
        FROM batches, jsonb_array_elements(rejected) WITH ORDINALITY AS each (one, place)
        WHERE tenant = $1 GROUP BY id
    ) AS forgotten
    WHERE batches.id = forgotten.id AND forgotten.rows > 0
"""  # noqa: S608 - put together from constants
_DELETE_BATCH = "DELETE FROM batches WHERE tenant = $1 AND id = $2"


_STILL_STORED = """
    SELECT id FROM jobs WHERE tenant = $1 AND id = ANY($2)
    UNION SELECT id FROM batches WHERE tenant = $1 AND id = ANY($2)
    UNION SELECT job FROM document_files WHERE job = ANY($2) ORDER BY id
"""


class JobToErase(Frozen):
    id: JobId
    kind: JobKind
    state: JobState
    subject: str
    batch: BatchId | None
    row: int | None


class PgErasures:
    def __init__(self, database: Database, documents: PgDocuments | None = None) -> None:
        self._database = database
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

    async def erase(self, tenant: TenantId, jobs: Sequence[JobId], source: str | None, batch: BatchId | None) -> int:
        """How many jobs went. Those that have not ended are to be cancelled before."""
        gone = 0
        for start in range(0, len(jobs), _AT_ONCE):
            gone += await delete_jobs(self._database, tenant, jobs[start : start + _AT_ONCE])
        if source is not None:
            await self._database.execute(_FORGET_REFUSED, tenant, _stored(source))
        if batch is not None:
            await self._database.execute(_DELETE_BATCH, tenant, batch)
        if self._documents is not None:
            await self._documents.sweep_soon()
        return gone

    async def still_stored(self, tenant: TenantId, things: Sequence[str]) -> list[str]:
        """Of these ids of jobs and batches, those that are there, if only with the file of a document."""
        return [row["id"] for row in await self._database.fetch(_STILL_STORED, tenant, list(things))]


def _stored(source: str | None) -> str | None:
    """As a name was stored."""
    return None if source is None else source.replace("\x00", "")
