"""A SourceFetcher that answers from memory."""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from workers.outbound.source_requests import RequestContext, SourceRequest, SourceResponse

ASK = RequestContext("evaluation", 5.0)
_NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
_UNKNOWN = SourceResponse(404, b"", _NOW, cached=False)


def make_response(body: object) -> SourceResponse:
    """Return a response with these bytes, or with this object as JSON."""
    return SourceResponse(200, body if isinstance(body, bytes) else json.dumps(body).encode(), _NOW, cached=False)


@dataclass
class CannedRemote:
    """Remote with fixed answers by path, and `default` for all others: 404 unless given."""

    replies: Mapping[str, SourceResponse] = field(default_factory=dict)
    default: SourceResponse = _UNKNOWN
    calls: list[SourceRequest] = field(default_factory=list)

    async def fetch(self, call: SourceRequest, ask: RequestContext) -> SourceResponse:
        self.calls.append(call)
        return self.replies.get(call.path, self.default)
