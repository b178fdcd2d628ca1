"""`Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a POST sent twice is done once and answered twice.

What is replayed is the acceptance: its status, body and Location, stored in the transaction that created the thing.
`Prefer: wait` is not part of it: a client that lost its connection while it waited asks again and waits again.
"""

import hashlib
import re
from typing import Annotated

from fastapi import Header, Request
from starlette.responses import Response

from orchestrator.api.problems import Refusal
from orchestrator.jobs.idempotency import Once, Replay

__all__ = ["IdempotencyKey", "fingerprint", "once", "replayed"]

_KEY = re.compile(r"[\x21-\x7e]{1,255}")

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=257,
        description="1 to 255 visible characters, drawn by the client anew for every new thing that it wants.",
    ),
]


def plain_key(header: str) -> str:
    """The draft writes a quoted string; bare ones are common. Raises Refusal."""
    quoted = len(header) > 1 and header[0] == header[-1] == '"'
    key = header[1:-1] if quoted else header
    if not _KEY.fullmatch(key):
        raise Refusal.parameter("Idempotency-Key", "It must be 1 to 255 visible ASCII characters, such as a UUID.")
    return key


def fingerprint(request: Request, content: bytes, *more: str) -> bytes:
    """Two requests that mean the same have the same one. `content` is the body, `more` what else it depends on."""
    digest = hashlib.sha256()
    for part in (request.method.encode(), request.url.path.encode(), *(text.encode() for text in more), content):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.digest()


def once(key: str | None, request: bytes, status: int, body: bytes, location: str) -> Once | None:
    """What to store beside the new thing; None when the client asks for no such care. `request`: its fingerprint."""
    if key is None:
        return None
    return Once(key=plain_key(key), request=request, status=status, body=body, location=location)


def replayed(replay: Replay) -> Response:
    headers = {"Location": replay.location, "Idempotency-Replayed": "true"}
    return Response(replay.body, replay.status, headers, "application/json")
