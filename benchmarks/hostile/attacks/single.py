"""Attacks that consist of one request each, with the responses that are acceptable."""

import asyncio
import io
import json
import time
import zipfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import httpx2

from benchmarks.hostile.attacks.target import Target
from benchmarks.hostile.fuzzing.hostile_texts import REPEATED

_MAX_SECONDS = 20.0
"""Maximum seconds of an acceptable response."""
_IDEA_CHARACTERS = 390_000
_REFUSED = range(400, 500)
_ANSWERED = (*range(200, 300), *range(400, 500))
_PROSE = "We measure how often reviewers agree with each other about the same plan of research. " * 4
_ESTIMATE = "/v1/batches/estimate"


class Attack(NamedTuple):
    kind: str
    method: str
    path: str
    accepted_statuses: Sequence[int] = _REFUSED
    """Acceptable statuses."""
    body: bytes = b""
    media_type: str = ""
    raw: bytes = b""
    """Complete raw request, which no library would send."""
    has_key: bool = True


class AttackResult(NamedTuple):
    kind: str
    has_held: bool
    response: str
    seconds: float


def generate_attacks(target: Target, share: float = 1.0) -> Iterator[Attack]:
    """Yield all attacks. None stores anything or starts an evaluation. A `share` below 1 makes large ones smaller."""
    yield from _generate_forbidden_reads(target)
    yield from _generate_archives(share)
    yield from _generate_tables(share)
    yield from _generate_texts(share)
    yield from _generate_json_bodies()
    yield from _generate_raw_requests(target)


def _generate_forbidden_reads(target: Target) -> Iterator[Attack]:
    batch_path = f"/v1/batches/{target.honest_batch}"
    for path in (batch_path, f"{batch_path}/evaluations", f"{batch_path}/results", f"{batch_path}/events"):
        yield Attack("reads of another tenant", "GET", path, (404,))
    yield Attack("reads of another tenant", "DELETE", batch_path, (404,))
    for path in ("/v1/tenants", "/v1/keys?tenant=default", "/v1/usage?tenant=default", "/metrics"):
        yield Attack("more than the key may", "GET", path, (403,))
    for path in ("/v1/evaluations", batch_path, "/v1/keys", "/v1/tenants", "/metrics", "/v1/corpus/search?q=a"):
        yield Attack("without a key", "GET", path, (401,), has_key=False)
    for path in ("/v1/../../etc/passwd", "/v1/batches/..%2f..%2fetc", "/v1/batches/%00", "/v1/batches/a%0d%0ab: c"):
        yield Attack("paths that lead out", "GET", path, (404, 405, 422))


def _generate_archives(share: float) -> Iterator[Attack]:
    for names, size in (
        (["a.txt"], int(400_000_000 * share)),
        ([f"{number}.txt" for number in range(int(20_000 * share))], 0),
        (["../../a.txt"], 10),
        (["/etc/a.txt"], 10),
        (["C:\\a.txt"], 10),
        (["a\x1b[2J.txt"], 10),
        (["a.zip"], 10),
    ):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                archive.writestr(name, bytes(size))
        yield Attack("archives", "POST", _ESTIMATE, _ANSWERED, file.getvalue(), "application/zip")
    yield Attack("archives", "POST", _ESTIMATE, _REFUSED, b"PK\x03\x04" + bytes(1_000), "application/zip")
    incomplete_body = b"--b\r\nContent-Disposition: form-data; name=a; filename=a.txt\r\n\r\nwords"
    yield Attack("archives", "POST", _ESTIMATE, _REFUSED, incomplete_body, "multipart/form-data; boundary=b")


def _generate_tables(share: float) -> Iterator[Attack]:
    for table in (
        ",".join(f"c{number}" for number in range(40_000)) + ",text\n",
        "title,text\n" + "\n" * int(10_000_000 * share),
        'title,text\na,"' + "b\n" * int(500_000 * share),
        "title,text\n" + '"' * int(1_000_000 * share),
        "title,text\n" + "a," * int(500_000 * share),
    ):
        yield Attack("tables", "POST", _ESTIMATE, _ANSWERED, table.encode(), "text/csv")


def _generate_texts(share: float) -> Iterator[Attack]:
    """Yield the longest allowed ideas, made of one repeated unit."""
    for unit in REPEATED:
        text = f"{_PROSE}\n\n{unit * (int(_IDEA_CHARACTERS * share) // len(unit))}"
        line = json.dumps({"title": "A title", "text": text}).encode() + b"\n"
        yield Attack("texts", "POST", _ESTIMATE, _ANSWERED, line, "application/jsonl")


def _generate_json_bodies() -> Iterator[Attack]:
    nested_json = b"[" * 100_000
    for body in (
        nested_json,
        b'{"idea":' * 50_000,
        b'{"idea": {"title": "a", "text": "\\ud800"}}',
        b'{"idea": {"title": "a\\u0000", "text": 1e999}}',
        b"1" * 100_000,
        b'{"a": ' + b"9" * 100_000 + b"}",
        b"\xff\xfe\x00{",
        b'{"idea": null, "method": "' + b"x" * 1_000_000 + b'"}',
        json.dumps({f"f{number}": 1 for number in range(50_000)}).encode(),
    ):
        yield Attack("JSON", "POST", "/v1/evaluations", _REFUSED, body, "application/json")
    yield Attack("JSON", "POST", _ESTIMATE, _ANSWERED, nested_json + b"\n", "application/jsonl")


def _generate_raw_requests(target: Target) -> Iterator[Attack]:
    """Yield raw requests with conflicting lengths, oversized headers or invalid syntax."""
    head = f"POST /v1/evaluations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {target.attacker_keys[0]}\r\n"
    for ending in (
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/tenants HTTP/1.1\r\n\r\n",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n",
        "X: " + "a" * 200_000 + "\r\n\r\n",
        "Authorization: Bearer other\r\nContent-Length: 0\r\n\r\n",
    ):
        yield Attack("requests as no library writes them", "RAW", "", _REFUSED, raw=(head + ending).encode())
    for line in (b"GET\r\n\r\n", b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
        yield Attack("requests as no library writes them", "RAW", "", _REFUSED, raw=line)


async def send_attack(client: httpx2.AsyncClient, target: Target, attack: Attack) -> AttackResult:
    """Send an attack and return the result; `client` must not have a key."""
    began = time.monotonic()
    try:
        async with asyncio.timeout(_MAX_SECONDS):
            status = await (_send_raw(target, attack.raw) if attack.raw else _send_request(client, target, attack))
    except TimeoutError:
        return AttackResult(attack.kind, False, "no answer", time.monotonic() - began)
    except (httpx2.HTTPError, OSError) as error:
        return AttackResult(attack.kind, False, type(error).__name__, time.monotonic() - began)
    # Closing the connection is also acceptable if the data is not a valid request.
    holds = status in attack.accepted_statuses if status else bool(attack.raw)
    return AttackResult(attack.kind, holds, str(status or "closed"), time.monotonic() - began)


async def _send_request(client: httpx2.AsyncClient, target: Target, attack: Attack) -> int:
    headers = {"Authorization": f"Bearer {target.attacker_keys[0]}"} if attack.has_key else {}
    if attack.media_type:
        headers["Content-Type"] = attack.media_type
    response = await client.request(attack.method, attack.path, content=attack.body or None, headers=headers)
    return response.status_code


async def _send_raw(target: Target, request: bytes) -> int:
    """Send a raw request and return the status, or 0 if the connection was closed without a response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    try:
        writer.write(request)
        line = (await reader.readline()).split()
        return int(line[1]) if len(line) > 1 else 0
    except ConnectionError:
        return 0
    finally:
        writer.close()
