"""What was read outside, kept as files, so that a second run reads it here and asks nobody."""

import datetime as dt
import gzip
import hashlib
import zlib
from typing import Generic, TypeVar

from pydantic import AwareDatetime, ValidationError

from assayer import __version__
from assayer.models import Absent, Frozen
from assayer.ports import Clock
from workers.full_texts.storage import Storage

__all__ = ["Keeper"]

Thing = TypeVar("Thing", bound=Frozen)


class _Record(Frozen, Generic[Thing]):
    key: str
    at: AwareDatetime
    found: Thing | Absent


class Keeper(Generic[Thing]):
    """One file for each key, written whole, so that any number of processes may share the folder. A damaged file counts
    as missing, and so does what another version of assayer has read: it may have read it otherwise."""

    def __init__(
        self, storage: Storage, folder: str, thing: type[Thing], clock: Clock, keep: dt.timedelta, retry: dt.timedelta
    ) -> None:
        """What was found counts for `keep`, that nothing could be had for `retry`."""
        self._storage, self._folder, self._clock = storage, folder, clock
        self._record: type[_Record[Thing]] = _Record[thing]  # type: ignore[valid-type]  # known to pydantic when it runs
        self._keep, self._retry = keep, retry

    async def get(self, key: str) -> Thing | Absent | None:
        """None when it is time to look. Raises FullTextError when the storage fails."""
        data = await self._storage.read(self._name(key))
        if data is None:
            return None
        try:
            record = self._record.model_validate_json(gzip.decompress(data))
        except (OSError, EOFError, zlib.error, ValidationError):
            return None
        lasts = self._retry if isinstance(record.found, Absent) else self._keep
        return record.found if record.key == key and self._clock.now() - record.at < lasts else None

    async def put(self, key: str, found: Thing | Absent) -> None:
        record = self._record(key=key, at=self._clock.now(), found=found)
        await self._storage.write(self._name(key), gzip.compress(record.model_dump_json().encode(), 6))

    def _name(self, key: str) -> str:
        name = hashlib.sha256(f"{__version__} {key}".encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self._folder}/{name[:2]}/{name}.json.gz"
