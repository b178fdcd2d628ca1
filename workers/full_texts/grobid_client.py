"""Client for one GROBID server's REST API. It reports the outcome of each request and does not retry."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, FormData

from assayer.models import UnreadableCause
from workers.full_texts.grobid_tei import MAX_TEI_BYTES
from workers.full_texts.settings import GrobidSettings

_ERROR_CODE = re.compile(r"\[([A-Z_]+)\]")
_DOCUMENT_FAULTS: dict[str, UnreadableCause] = {
    "BAD_INPUT_DATA": "damaged",
    "NO_BLOCKS": "no_text",
    "PARSING_ERROR": "damaged",
    "PDFALTO_CONVERSION_FAILURE": "damaged",
    "TIMEOUT": "time",
    "TOO_MANY_BLOCKS": "too_much_text",
    "TOO_MANY_TOKENS": "too_much_text",
}
"""Error codes in the body of a GROBID 500 response that indicate a fault in the document, not in the server."""
FORM_OPTIONS: Mapping[str, str] = {
    "consolidateHeader": "0",
    "consolidateCitations": "0",
    "consolidateFunders": "0",
    "includeRawCitations": "1",
}
"""Request parameters that disable external lookups. Without `teiCoordinates`, no element has page coordinates."""
_MAX_DETAIL_CHARS = 2_000


class GrobidTei(NamedTuple):
    body: bytes


class GrobidEmpty(NamedTuple):
    """Response with status 204: GROBID found no text in the document."""


class GrobidBusy(NamedTuple):
    """Response with status 503: all of the server's engines are busy."""


class GrobidRefused(NamedTuple):
    """GROBID's refusal of a document, caused by the document itself."""

    cause: UnreadableCause
    detail: str


class GrobidBroken(NamedTuple):
    """Failure of the server, or an unreachable server."""

    detail: str


GrobidOutcome = GrobidTei | GrobidEmpty | GrobidBusy | GrobidRefused | GrobidBroken
OUTCOME_LABELS: dict[type[GrobidOutcome], str] = {
    GrobidTei: "tei",
    GrobidEmpty: "empty",
    GrobidBusy: "busy",
    GrobidRefused: "refused",
    GrobidBroken: "broken",
}
"""Names of outcomes in metrics."""


class GrobidTransport(Protocol):
    """Transport that sends documents to GROBID."""

    async def post(self, url: str, pdf: bytes) -> GrobidOutcome:
        """Send the document and return the outcome, without a timeout. Cancellation aborts the request."""
        ...


async def send_document(
    transport: GrobidTransport, session: ClientSession, url: str, pdf: bytes, settings: GrobidSettings
) -> GrobidOutcome:
    """Send a document and return the outcome. Until the server responds, check periodically that it is alive, and give
    up if it is not."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + settings.document_seconds
    request = asyncio.create_task(transport.post(url, pdf))
    try:
        while True:
            seconds_left = max(0.0, deadline - loop.time())
            finished_tasks, _ = await asyncio.wait({request}, timeout=min(settings.look_seconds, seconds_left))
            if finished_tasks:
                return request.result()
            if loop.time() >= deadline:
                return GrobidBroken(f"no response within {settings.document_seconds:g} s")
            if not await is_alive(session, url, settings.alive_seconds):
                return GrobidBroken("it stopped responding")
    finally:
        if not request.done():
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)


async def is_alive(session: ClientSession, url: str, seconds: float) -> bool:
    try:
        async with session.get(f"{url}/api/isalive", timeout=ClientTimeout(total=seconds)) as response:
            return response.status == 200 and (await response.content.read(100)).strip().lower() == b"true"
    except (ClientError, TimeoutError, OSError):
        return False


async def fetch_version(session: ClientSession, url: str, seconds: float) -> str | None:
    """Return the server's version; None if it does not report one. Older servers return the bare version, newer ones
    JSON."""
    try:
        async with session.get(f"{url}/api/version", timeout=ClientTimeout(total=seconds)) as response:
            text = (await response.content.read(_MAX_DETAIL_CHARS)).decode("utf-8", "replace").strip()
            if response.status != 200:
                return None
    except (ClientError, TimeoutError, OSError):
        return None
    try:
        answer = json.loads(text)
    except ValueError:
        answer = text
    return str(answer.get("version", "")) if isinstance(answer, dict) else text


class AiohttpGrobidTransport:
    """Transport that uses aiohttp, without threads and with reused connections."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def post(self, url: str, pdf: bytes) -> GrobidOutcome:
        form = FormData()
        form.add_field("input", pdf, filename="document.pdf", content_type="application/pdf")
        for name, value in FORM_OPTIONS.items():
            form.add_field(name, value)
        try:
            async with self._session.post(
                f"{url}/api/processFulltextDocument",
                data=form,
                headers={"Accept": "application/xml"},
                allow_redirects=False,
            ) as response:
                return classify_response(response.status, await _read(response, get_body_limit(response.status)))
        except (ClientError, TimeoutError, OSError) as error:
            return GrobidBroken(f"{type(error).__name__}: {error}"[:_MAX_DETAIL_CHARS])


def get_body_limit(status: int) -> int:
    """Return the maximum number of body bytes to read for a status."""
    return MAX_TEI_BYTES + 1 if status == 200 else _MAX_DETAIL_CHARS


def classify_response(status: int, body: bytes) -> GrobidOutcome:
    """Return the outcome that a response indicates. `body` is its beginning, at most `get_body_limit(status)` bytes."""
    if status == 200:
        return (
            GrobidTei(body)
            if len(body) <= MAX_TEI_BYTES
            else GrobidRefused("too_large", f"its TEI is larger than {MAX_TEI_BYTES:,} bytes")
        )
    if status == 204:
        return GrobidEmpty()
    if status in (429, 503):
        return GrobidBusy()
    message = " ".join(body.decode("utf-8", "replace").split())
    code = next((code for code in _ERROR_CODE.findall(message) if code in _DOCUMENT_FAULTS), None)
    if code is not None:
        return GrobidRefused(_DOCUMENT_FAULTS[code], message)
    if status in (400, 409, 413, 415):
        return GrobidRefused("refused", f"{status} {message}")
    return GrobidBroken(f"{status} {message}")


async def _read(response: ClientResponse, max_bytes: int) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) >= max_bytes:
            break
    return bytes(body[:max_bytes])
