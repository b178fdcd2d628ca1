"""One GROBID server over its REST API: what it was sent, what came of it. No retries, no opinion."""

import asyncio
import json
import re
from typing import NamedTuple

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, FormData

from assayer.models import UnreadableCause
from workers.full_texts.settings import GrobidSettings
from workers.full_texts.tei import MOST_TEI_BYTES

__all__ = ["Broken", "Busy", "Empty", "Outcome", "Refused", "Tei", "is_alive", "send", "version_of"]

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


class Tei(NamedTuple):
    body: bytes


class Empty(NamedTuple):
    """204: it read the document and found nothing in it."""


class Busy(NamedTuple):
    """503: all its engines are taken."""


class Refused(NamedTuple):
    """The document is at fault."""

    cause: UnreadableCause
    detail: str


class Broken(NamedTuple):
    """The server is at fault, or gone."""

    detail: str


Outcome = Tei | Empty | Busy | Refused | Broken


async def send(session: ClientSession, url: str, pdf: bytes, settings: GrobidSettings) -> Outcome:
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
                return Broken(f"no answer within {settings.document_seconds:g} s")
            if not await is_alive(session, url, settings.alive_seconds):
                return Broken("it stopped answering")
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


async def version_of(session: ClientSession, url: str, seconds: float) -> str | None:
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


async def _post(session: ClientSession, url: str, pdf: bytes) -> Outcome:
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
        return Broken(f"{type(error).__name__}: {error}"[:_SHOWN])


async def _outcome(response: ClientResponse) -> Outcome:
    if response.status == 200:
        body = await _read(response, MOST_TEI_BYTES + 1)
        return Tei(body) if len(body) <= MOST_TEI_BYTES else Refused("too_large", "its TEI is too long")
    if response.status == 204:
        return Empty()
    if response.status in (429, 503):
        return Busy()
    said = " ".join((await _read(response, _SHOWN)).decode("utf-8", "replace").split())
    code = next((code for code in _CODE.findall(said) if code in _FAULTS_OF_DOCUMENTS), None)
    if code is not None:
        return Refused(_FAULTS_OF_DOCUMENTS[code], said)
    if response.status in (400, 409, 413, 415):
        return Refused("refused", f"{response.status} {said}")
    return Broken(f"{response.status} {said}")


async def _read(response: ClientResponse, most: int) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) >= most:
            break
    return bytes(body[:most])
