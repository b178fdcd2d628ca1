"""Storage of submitted documents: a folder in the data directory, or any fsspec store."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from assayer.errors import FullTextError, StorageError
from cluster.settings import Settings
from orchestrator.store import Database
from orchestrator.store.documents import PgDocuments
from workers.file_storage import FileStorage

Out = TypeVar("Out")
_FOLDER = "submissions"


class SubmittedDocuments:
    """Document store over fsspec. Implements `orchestrator.store.documents.DocumentFiles`."""

    def __init__(self, url: str) -> None:
        """Open the storage at the URL. Raises ConfigurationError if the URL is invalid."""
        self._storage = FileStorage(url)

    async def read(self, name: str) -> bytes | None:
        return await self._translate_errors(lambda: self._storage.read(name))

    async def write(self, name: str, data: bytes) -> None:
        await self._translate_errors(lambda: self._storage.write(name, data))

    async def delete(self, name: str) -> None:
        await self._translate_errors(lambda: self._storage.delete(name))

    async def _translate_errors(self, work: Callable[[], Awaitable[Out]]) -> Out:
        try:
            return await work()
        except FullTextError as error:
            raise StorageError(error.message, "Check ASSAYER_BATCHES__DOCUMENTS and the free disk space.") from error


def open_documents(settings: Settings, database: Database) -> PgDocuments | None:
    """Open the document store, or return None if documents are stored in their jobs' database rows. That is the default
    with an external database, because other machines could not access a folder on this one. Raises ConfigurationError
    if the configured URL is invalid."""
    if settings.batches.documents:
        return PgDocuments(database, SubmittedDocuments(settings.batches.documents))
    if settings.database.url:
        return None
    return PgDocuments(database, SubmittedDocuments(str(settings.home / _FOLDER)))
