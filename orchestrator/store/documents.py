"""Jobs' documents in a file store. The database records each file before it is written and until it is deleted, so that
no file outlives its job even if a process dies in between."""

import asyncio
import datetime as dt
import logging
import uuid
from collections.abc import Sequence
from typing import Protocol

from assayer.errors import FullTextError, StorageError
from orchestrator.jobs.submissions import NewJob
from orchestrator.store.database import Database, Store

_LOG = logging.getLogger(__name__)
_MAX_CONCURRENT_WRITES = 8
_FILES_PER_QUERY = 200

_INSERT_FILES = (
    "INSERT INTO document_files (file, job) SELECT * FROM unnest($1::text[], $2::text[]) ON CONFLICT DO NOTHING"
)
_IS_UNUSED = "NOT EXISTS (SELECT FROM jobs WHERE id = document_files.job AND document_file = file)"
_RELEASE_FILES = f"UPDATE document_files SET released_at = now() WHERE file = ANY($1::text[]) AND {_IS_UNUSED}"
_RELEASE_ABANDONED = f"""
    UPDATE document_files SET released_at = now() WHERE released_at IS NULL AND written_at < $1 AND {_IS_UNUSED}
"""
_SELECT_RELEASED = "SELECT file FROM document_files WHERE released_at IS NOT NULL ORDER BY released_at LIMIT $1"
_DELETE_FILES = "DELETE FROM document_files WHERE file = ANY($1::text[])"


class DocumentFiles(Protocol):
    """A file store that writes each file completely or not at all. All methods raise StorageError if the store
    fails."""

    async def read(self, name: str) -> bytes | None: ...

    async def write(self, name: str, data: bytes) -> None: ...

    async def delete(self, name: str) -> None:
        """Delete a file; a missing file is not an error."""
        ...


class PgDocuments(Store):
    def __init__(self, database: Database, files: DocumentFiles) -> None:
        super().__init__(database)
        self._files = files

    async def write_documents(self, jobs: Sequence[NewJob]) -> list[NewJob]:
        """Write jobs' documents to files, and return the jobs with file names instead of the documents. Raises
        StorageError if a file cannot be written."""
        names = {job.id: self._make_file_name() for job in jobs if job.document is not None}
        if not names:
            return list(jobs)
        await self._database.execute(_INSERT_FILES, list(names.values()), list(names))
        slots = asyncio.Semaphore(_MAX_CONCURRENT_WRITES)

        async def write(job: NewJob) -> NewJob:
            if job.document is None:
                return job
            async with slots:
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
        """Mark files for deletion unless a job uses them, for example if the jobs were not accepted."""
        await self._database.execute(_RELEASE_FILES, list(files))

    async def read(self, file: str) -> bytes:
        """Return a document's content. Raises FullTextError if the document no longer exists, and StorageError if the
        file store fails."""
        document = await self._files.read(file)
        if document is None:
            raise FullTextError("The document is no longer in the document store.", "Submit it again.")
        return document

    async def delete_released(self) -> int:
        """Delete the files marked for deletion, and return their number. Raises StorageError if the file store fails;
        the remaining files stay marked."""
        deleted = 0
        while rows := await self._database.fetch(_SELECT_RELEASED, _FILES_PER_QUERY):
            names = [row["file"] for row in rows]
            for name in names:
                await self._files.delete(name)
            await self._database.execute(_DELETE_FILES, names)
            deleted += len(names)
        return deleted

    async def try_delete_released(self) -> None:
        """Delete the files marked for deletion. If the file store fails, log a warning and leave them to a later
        call."""
        try:
            await self.delete_released()
        except StorageError as error:
            _LOG.warning("erased documents could not be deleted yet and will be deleted later: %s", error)

    async def release_abandoned(self, now: dt.datetime, seconds: float) -> None:
        """Mark for deletion files older than `seconds` that no job uses: the process that wrote them died before it
        submitted the job."""
        await self._database.execute(_RELEASE_ABANDONED, now - dt.timedelta(seconds=seconds))

    def _make_file_name(self) -> str:
        name = uuid.uuid4().hex
        return f"{name[:2]}/{name}"
