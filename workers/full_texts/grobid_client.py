"""One GROBID server over its REST API: what it was sent, what came of it. No retries, no opinion."""

import asyncio
import json
import re
from typing import NamedTuple

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, FormData

from assayer.models import UnreadableCause
from workers.full_texts.grobid_tei import MAX_TEI_BYTES
from workers.full_texts.settings import GrobidSettings

__all__ = [
    "OUTCOME_LABELS",
    "GrobidBroken",
    "GrobidBusy",
    "GrobidEmpty",
    "GrobidOutcome",
    "GrobidRefused",
    "GrobidTei",
    "is_alive",
    "send_document",
    "server_version",
]

_CODE = re.compile(r"\[([A-Z_]+)\]")
_FAULTS_OF_DOCUMENTS: dict[str, UnreadableCause] = {
    "BAD_INPUT_DATA": "damaged",
    "NO_BLOCKS": "no_text",
    "PARSING_ERROR": "damaged",
    "PDFALTO_CONVERSION_FAILURE": "damaged",
    "TIMEOUT": "time",
    "TOO_MANY_BLOCKS": "too_much_text",
    "TOO_MANY_TOKENS": "too_much_text",
}
"""Codes that GROBID puts into the body of a 500 when the document is at fault and not the server."""
_OPTIONS = {
    "consolidateHeader": "0",
    "consolidateCitations": "0",
    "consolidateFunders": "0",
    "includeRawCitations": "1",
}
"""Nothing is looked up elsewhere, and without `teiCoordinates` no element carries its place on the page."""
_SHOWN = 2_000


class GrobidTei(NamedTuple):
    body: bytes


class GrobidEmpty(NamedTuple):
    """204: it read the document and found nothing in it."""


class GrobidBusy(NamedTuple):
    """503: all its engines are taken."""


class GrobidRefused(NamedTuple):
    """The document is at fault."""

    cause: UnreadableCause
    detail: str


class GrobidBroken(NamedTuple):
    """The server is at fault, or gone."""

    detail: str


GrobidOutcome = GrobidTei | GrobidEmpty | GrobidBusy | GrobidRefused | GrobidBroken
OUTCOME_LABELS: dict[type[GrobidOutcome], str] = {
    GrobidTei: "tei",
    GrobidEmpty: "empty",
    GrobidBusy: "busy",
    GrobidRefused: "refused",
    GrobidBroken: "broken",
}
"""As metrics name them."""


async def send_document(session: ClientSession, url: str, pdf: bytes, settings: GrobidSettings) -> GrobidOutcome:
    """While a server keeps silent, it must say from time to time that it is alive."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + settings.document_seconds
    request = asyncio.create_task(_post(session, url, pdf))
    try:
        while True:
            left = max(0.0, deadline - loop.time())
            done, _ = await asyncio.wait({request}, timeout=min(settings.look_seconds, left))
            if done:
                return request.result()
            if loop.time() >= deadline:
                return GrobidBroken(f"no answer within {settings.document_seconds:g} s")
            if not await is_alive(session, url, settings.alive_seconds):
                return GrobidBroken("it stopped answering")
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


async def server_version(session: ClientSession, url: str, seconds: float) -> str | None:
    """None when it does not say; older servers answer with the bare version, newer ones with JSON."""
    try:
        async with session.get(f"{url}/api/version", timeout=ClientTimeout(total=seconds)) as response:
            text = (await response.content.read(_SHOWN)).decode("utf-8", "replace").strip()
            if response.status != 200:
                return None
    except (ClientError, TimeoutError, OSError):
        return None
    try:
        answer = json.loads(text)
    except ValueError:
        answer = text
    return str(answer.get("version", "")) if isinstance(answer, dict) else text


async def _post(session: ClientSession, url: str, pdf: bytes) -> GrobidOutcome:
    form = FormData()
    form.add_field("input", pdf, filename="document.pdf", content_type="application/pdf")
    for name, value in _OPTIONS.items():
        form.add_field(name, value)
    try:
        async with session.post(
            f"{url}/api/processFulltextDocument",
            data=form,
            headers={"Accept": "application/xml"},
            allow_redirects=False,
        ) as response:
            return await _outcome(response)
    except (ClientError, TimeoutError, OSError) as error:
        return GrobidBroken(f"{type(error).__name__}: {error}"[:_SHOWN])


async def _outcome(response: ClientResponse) -> GrobidOutcome:
    if response.status == 200:
        body = await _read(response, MAX_TEI_BYTES + 1)
        return GrobidTei(body) if len(body) <= MAX_TEI_BYTES else GrobidRefused("too_large", "its TEI is too long")
    if response.status == 204:
        return GrobidEmpty()
    if response.status in (429, 503):
        return GrobidBusy()
    said = " ".join((await _read(response, _SHOWN)).decode("utf-8", "replace").split())
    code = next((code for code in _CODE.findall(said) if code in _FAULTS_OF_DOCUMENTS), None)
    if code is not None:
        return GrobidRefused(_FAULTS_OF_DOCUMENTS[code], said)
    if response.status in (400, 409, 413, 415):
        return GrobidRefused("refused", f"{response.status} {said}")
    return GrobidBroken(f"{response.status} {said}")


async def _read(response: ClientResponse, most: int) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) >= most:
            break
    return bytes(body[:most])
