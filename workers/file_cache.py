"""File cache for fetched data, so that a second run does not have to fetch it again."""

import datetime as dt
import gzip
import hashlib
import zlib
from typing import Generic, TypeVar

from pydantic import AwareDatetime, ValidationError

from assayer.models import Absent, Frozen
from assayer.ports import Clock
from assayer.version import __version__
from workers.file_storage import FileStorage

Value = TypeVar("Value", bound=Frozen)


class _CacheEntry(Frozen, Generic[Value]):
    key: str
    at: AwareDatetime
    found: Value | Absent


class FileCache(Generic[Value]):
    """Cache with one file per key, written atomically, so that any number of processes can share the folder. Damaged
    files, and files written by another version of assayer, count as missing."""

    def __init__(
        self,
        storage: FileStorage,
        folder: str,
        value_type: type[Value],
        clock: Clock,
        keep: dt.timedelta,
        retry: dt.timedelta,
    ) -> None:
        """Create a cache that keeps values for the period `keep`, and failures (Absent) for `retry`."""
        self._storage, self._folder, self._clock = storage, folder, clock
        self._record: type[_CacheEntry[Value]] = _CacheEntry[value_type]  # type: ignore[valid-type]  # known to pydantic when it runs
        self._keep, self._retry = keep, retry

    async def get(self, key: str) -> Value | Absent | None:
        """Return the cached value; None if it is missing or expired. Raises FullTextError if the storage fails."""
        data = await self._storage.read(self._build_file_name(key))
        if data is None:
            return None
        try:
            record = self._record.model_validate_json(gzip.decompress(data))
        except (OSError, EOFError, zlib.error, ValidationError):
            return None
        lifetime = self._retry if isinstance(record.found, Absent) else self._keep
        return record.found if record.key == key and self._clock.now() - record.at < lifetime else None

    async def put(self, key: str, value: Value | Absent) -> None:
        record = self._record(key=key, at=self._clock.now(), found=value)
        await self._storage.write(self._build_file_name(key), gzip.compress(record.model_dump_json().encode(), 6))

    def _build_file_name(self, key: str) -> str:
        name = hashlib.sha256(f"{__version__} {key}".encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self._folder}/{name[:2]}/{name}.json.gz"
