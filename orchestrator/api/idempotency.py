"""The `Idempotency-Key` header (draft-ietf-httpapi-idempotency-key-header): a repeated POST request is executed only
once and gets the same response again.

Only the initial response is replayed: its status, body and Location, which are stored in the transaction that creates
the resource. `Prefer: wait` applies to each request anew: a client that loses its connection while waiting repeats the
request and waits again."""

import hashlib
import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request
from starlette.responses import Response

from orchestrator.problems import HttpProblem
from orchestrator.store.idempotency import IdempotencyRecord, RecordedResponse

_KEY_PATTERN = re.compile(r"[\x21-\x7e]{1,255}")

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=257,
        description="1 to 255 visible ASCII characters. Use a new key for each new request, and the same "
        "key to repeat a request.",
    ),
]


def parse_idempotency_key(header: str) -> str:
    """Return the key in an Idempotency-Key header. The draft standard requires quotes, but unquoted values are common
    and accepted too. Raises HttpProblem if the key is malformed."""
    is_quoted = len(header) > 1 and header[0] == header[-1] == '"'
    key = header[1:-1] if is_quoted else header
    if not _KEY_PATTERN.fullmatch(key):
        raise HttpProblem.invalid_parameter(
            "Idempotency-Key", "It must be 1 to 255 visible ASCII characters, such as a UUID."
        )
    return key


def compute_fingerprint(request: Request, content: bytes, *extra_values: str) -> bytes:
    """Return a fingerprint that is the same for equivalent requests. `content` is the body; `extra_values` holds other
    values that distinguish requests."""
    digest = hashlib.sha256()
    for part in (
        request.method.encode(),
        request.url.path.encode(),
        *(value.encode() for value in extra_values),
        content,
    ):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    return digest.digest()


def build_idempotency_record(
    key: str | None, fingerprint: bytes, status: int, body: bytes, location: str
) -> IdempotencyRecord | None:
    """Return the record to store with the new resource; None for a request without a key. `fingerprint` is the
    request's fingerprint. Raises HttpProblem if the key is malformed."""
    if key is None:
        return None
    return IdempotencyRecord(
        key=parse_idempotency_key(key), request=fingerprint, status=status, body=body, location=location
    )


@dataclass(frozen=True)
class Creation:
    """A request that creates a resource. Requests with the same idempotency key create it only once."""

    request: Request
    idempotency_key: IdempotencyKey = None

    async def build_record(self, body: bytes, location: str, *extra_values: str) -> IdempotencyRecord | None:
        """Return the record to store with the new resource, so that a repeated request gets the same response (201 with
        `body`). `extra_values` holds other values that distinguish requests."""
        fingerprint = compute_fingerprint(self.request, await self.request.body(), *extra_values)
        return build_idempotency_record(self.idempotency_key, fingerprint, 201, body, location)


CreationDependency = Annotated[Creation, Depends()]


def build_replayed_response(recorded_response: RecordedResponse) -> Response:
    headers = {"Location": recorded_response.location, "Idempotency-Replayed": "true"}
    return Response(recorded_response.body, recorded_response.status, headers, "application/json")
