"""Documents of jobs in a store of files. The database notes a file before it is written and until it has gone, so that
whatever dies in between, no byte outlives its job."""

import asyncio
import datetime as dt
import logging
import uuid
from collections.abc import Callable, Sequence
from typing import Protocol

from assayer.errors import FullTextError, StorageError
from orchestrator.jobs.submissions import NewJob
from orchestrator.store.database import Database

__all__ = ["DocumentFiles", "PgDocuments"]

_LOG = logging.getLogger(__name__)
_AT_ONCE = 8
_SOME = 200

_NOTE = "INSERT INTO document_files (file, job) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING"
_UNUSED = "NOT EXISTS (SELECT FROM jobs WHERE id = document_files.job AND document_file = file)"
_RELEASE = f"UPDATE document_files SET released_at = now() WHERE file = ANY($1::text[]) AND {_UNUSED}"  # noqa: S608
_RELEASE_ABANDONED = f"""
    UPDATE document_files SET released_at = now() WHERE released_at IS NULL AND written_at < $1 AND {_UNUSED}
"""  # noqa: S608 - put together from constants
_RELEASED = "SELECT file FROM document_files WHERE released_at IS NOT NULL ORDER BY released_at LIMIT $1"
_FORGET = "DELETE FROM document_files WHERE file = ANY($1::text[])"


class DocumentFiles(Protocol):
    """A file is there whole or not at all. All raise StorageError."""

    async def read(self, name: str) -> bytes | None: ...

    async def write(self, name: str, data: bytes) -> None: ...

    async def delete(self, name: str) -> None:
        """One that is not there is no error."""
        ...


class PgDocuments:
    def __init__(self, database: Database, files: DocumentFiles, draw: Callable[[], uuid.UUID] = uuid.uuid4) -> None:
        self._database = database
        self._files = files
        self._draw = draw

    async def written(self, jobs: Sequence[NewJob]) -> list[NewJob]:
        """The same jobs, with files in place of their documents. Raises StorageError."""
        names = {job.id: self._name() for job in jobs if job.document is not None}
        if not names:
            return list(jobs)
        await self._database.execute(_NOTE, list(names.values()), list(names))
        places = asyncio.Semaphore(_AT_ONCE)

        async def write(job: NewJob) -> NewJob:
            if job.document is None:
                return job
            async with places:
                await self._files.write(names[job.id], job.document)
            return job.model_copy(update={"document": None, "document_file": names[job.id]})

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(write(job)) for job in jobs]
        except* StorageError as errors:
            await self.release(list(names.values()))
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def release(self, files: Sequence[str]) -> None:
        """Files that were written for jobs that were not accepted; those that a job has stay."""
        await self._database.execute(_RELEASE, list(files))

    async def read(self, file: str) -> bytes:
        """Raises StorageError, and FullTextError where it has gone."""
        document = await self._files.read(file)
        if document is None:
            raise FullTextError("Its document is not where it was stored.", "Submit it again.")
        return document

    async def sweep(self) -> int:
        """Deletes the files that nobody needs any more; how many. What cannot be deleted now stays noted. Raises
        StorageError."""
        swept = 0
        while rows := await self._database.fetch(_RELEASED, _SOME):
            names = [row["file"] for row in rows]
            for name in names:
                await self._files.delete(name)
            await self._database.execute(_FORGET, names)
            swept += len(names)
        return swept

    async def sweep_soon(self) -> None:
        """At once if it can be, later otherwise: for those who have deleted what they were asked to."""
        try:
            await self.sweep()
        except StorageError as error:
            _LOG.warning("documents that were erased are deleted later: %s", error)

    async def release_abandoned(self, now: dt.datetime, seconds: float) -> None:
        """Files of no job that are older: a process wrote them that died before it could submit the job."""
        await self._database.execute(_RELEASE_ABANDONED, now - dt.timedelta(seconds=seconds))

    def _name(self) -> str:
        name = self._draw().hex
        return f"{name[:2]}/{name}"
