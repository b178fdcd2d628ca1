"""Messages sent to a language model and its answer, for people to read."""

import zlib
from collections.abc import Sequence

from pydantic import TypeAdapter

from assayer.errors import StorageError
from assayer.models import Frozen, Message
from orchestrator.store.database import Store
from orchestrator.store.json_columns import from_json_column_as

_MESSAGES = TypeAdapter(tuple[Message, ...])
_LEVEL = 1
_FIND = "SELECT value, messages FROM answers WHERE key = $1"


class CallContents(Frozen):
    messages: tuple[Message, ...]
    """Messages sent to the model; empty if they were not stored."""
    answer: str
    """JSON, as it was taken."""


def packed_messages(messages: Sequence[Message]) -> bytes | None:
    return zlib.compress(_MESSAGES.dump_json(tuple(messages)), _LEVEL) if messages else None


class PgCallContents(Store):
    async def find(self, key: str) -> CallContents | None:
        """Return the contents of a ledger row's call, or None if no answer is stored because there was none or
        it was deleted."""
        row = await self._database.fetch_one(_FIND, key)
        if row is None:
            return None
        label = f"The messages of answer {key}"
        try:
            packed = row["messages"]
            messages = from_json_column_as(_MESSAGES, zlib.decompress(packed), label) if packed else ()
        except zlib.error as error:
            raise StorageError(f"{label} cannot be read: {type(error).__name__}.") from error
        return CallContents(messages=messages, answer=row["value"])
