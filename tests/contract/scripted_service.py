"""A server that answers connection after connection as a script says, to the byte, and then hangs up."""

import json
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ReceivedRequest:
    method: str
    target: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


@dataclass
class ScriptedService:
    url: str
    received: list[ReceivedRequest] = field(default_factory=list)
    left: list[bytes] = field(default_factory=list)
    """Answers to come, one a connection; a connection beyond them is closed unanswered."""


@contextmanager
def run_script(answers: Iterable[bytes]) -> Iterator[ScriptedService]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        scripted = ScriptedService(f"http://127.0.0.1:{listener.getsockname()[1]}", left=list(answers))
        thread = threading.Thread(target=_serve, args=(listener, scripted))
        thread.start()
        try:
            yield scripted
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listener: socket.socket, scripted: ScriptedService) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            request = _receive(connection)
            if request is not None:
                scripted.received.append(request)
            if scripted.left:
                connection.sendall(scripted.left.pop(0))


def _receive(connection: socket.socket) -> ReceivedRequest | None:
    with connection.makefile("rb") as file:
        first = file.readline().decode("ascii").split(" ")
        if len(first) != 3:
            return None
        headers = {}
        while line := file.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return ReceivedRequest(first[0], first[1], headers, file.read(int(headers.get("content-length", "0"))))


def answer(body: Any, status: int = 200, **headers: str) -> bytes:
    """JSON; header names are written with underscores."""
    content = json.dumps(body).encode()
    return (
        _build_head(status, {"content_type": "application/json", "content_length": str(len(content)), **headers})
        + content
    )


def build_problem(slug: str, status: int, **headers: str) -> bytes:
    body = {"type": f"https://assayer.dev/problems/{slug}", "title": "Not now", "status": status, "detail": "Wait."}
    return answer(body, status, **{"content_type": "application/problem+json", **headers})


def build_unfinished_events(*events: bytes) -> bytes:
    """Return a stream that ends after these events."""
    return _build_head(200, {"content_type": "text/event-stream"}) + b"".join(events)


def build_event(number: int, kind: str) -> bytes:
    data = {"number": number, "kind": kind, "at": "2026-11-21T12:00:00Z", "data": {}}
    return f"id: {number}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode()


def _build_head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode()
