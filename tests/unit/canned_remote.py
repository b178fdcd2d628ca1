"""A Remote that answers from memory."""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from workers.remote.call import Ask, Call, Reply

__all__ = ["ASK", "CannedRemote", "said"]

ASK = Ask("evaluation", 5.0)
_NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
_UNKNOWN = Reply(404, b"", _NOW, cached=False)


def said(body: object) -> Reply:
    """The reply whose body is this as JSON, or these bytes."""
    return Reply(200, body if isinstance(body, bytes) else json.dumps(body).encode(), _NOW, cached=False)


@dataclass
class CannedRemote:
    """Knows some paths; `default` is for all others: 404 when not given."""

    replies: Mapping[str, Reply] = field(default_factory=dict)
    default: Reply = _UNKNOWN
    calls: list[Call] = field(default_factory=list)

    async def fetch(self, call: Call, ask: Ask) -> Reply:
        self.calls.append(call)
        return self.replies.get(call.path, self.default)
