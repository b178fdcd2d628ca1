"""Server in a child process that runs within a `with` block, and requests to its control endpoint."""

import json
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Self
from urllib.parse import urlsplit

_ROOT = Path(__file__).resolve().parents[1]
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0


class ServerProcess:
    """Child process `python -m MODULE --port PORT …`, which also stops when this process dies.

    Entering the context raises RuntimeError if the server does not start, and the errors of `prepare`.
    """

    base_url: str
    """Base URL, from the server's first output line."""

    def __init__(self, module: str, port: int, flags: Sequence[str] = ()) -> None:
        self._command = [sys.executable, "-m", module, "--port", str(port), "--until-stdin-closes", *flags]
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        with TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                self._command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
            self._process = process
            try:
                self.base_url = _wait_until_listening(process, errors)
                self.prepare()
            except BaseException:
                self.stop()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def prepare(self) -> None:
        """Prepare the server once it listens, before it is used."""

    @property
    def pid(self) -> int:
        """Process id of the running process."""
        assert self._process is not None, "The simulator is not running."  # noqa: S101 - an error of the caller
        return self._process.pid

    def stop(self) -> None:
        """Stop the process if it is running."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def send_request(self, method: str, path: str, body: str | None = None) -> str:
        """Send a request to the control endpoint. Raises ValueError with the server's message if it refuses."""
        address = urlsplit(self.base_url)
        connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(json.loads(text)["error"]["message"])
        return text


def _wait_until_listening(process: subprocess.Popen[str], errors: IO[str]) -> str:
    """Wait for the line `listening on URL` and return the URL. Raises RuntimeError if it does not appear in time."""
    assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
    deadline = time.monotonic() + _START_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if selector.select(deadline - time.monotonic()):
            line = process.stdout.readline()
            if line.startswith("listening on "):
                return line.removeprefix("listening on ").strip()
    process.kill()
    process.wait()
    errors.seek(0)
    raise RuntimeError(f"The simulator did not start within {_START_SECONDS:.0f} s: {errors.read()[-2000:]}")
