"""Runs the simulator as a process of its own, for tests and benchmarks."""

import json
import selectors
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Self
from urllib.parse import urlsplit

from benchmarks.simulator.counters import Stats
from benchmarks.simulator.settings import Settings

__all__ = ["Simulator"]

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 30.0
_STOP_SECONDS = 5.0


class Simulator:
    """A simulator with the given fields of Settings, running from `with` to its end.

    Without knobs it answers after 2 s on average; tests want `latency_mean=0`. It also stops by itself when
    this process dies. Entering raises RuntimeError when it does not start, ValueError for unusable knobs.
    """

    base_url: str
    """Ends in /v1, as an OpenAI client wants it."""

    def __init__(self, port: int = 0, **knobs: Any) -> None:
        self._port = port
        self._knobs = knobs
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "benchmarks.simulator", "--port", str(self._port), "--until-stdin-closes"]
        with TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
            self._process = process
            try:
                self.base_url = _ready(process, errors)
                self.configure(**self._knobs)
            except BaseException:
                self.stop()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Of the running process."""
        assert self._process is not None, "The simulator is not running."  # noqa: S101 - a caller's mistake
        return self._process.pid

    def stop(self) -> None:
        """Ends the process; does nothing when there is none."""
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

    def stats(self) -> Stats:
        return Stats.model_validate_json(self._ask("GET", "stats"))

    def reset(self) -> Stats:
        """Counters back to zero; returns what they were."""
        return Stats.model_validate_json(self._ask("POST", "reset"))

    def settings(self) -> Settings:
        return Settings.model_validate_json(self._ask("GET", "settings"))

    def configure(self, **knobs: Any) -> Settings:
        """Changes the named fields of Settings. Raises ValueError when they cannot be used."""
        return Settings.model_validate_json(self._ask("PUT", "settings", json.dumps(knobs)))

    def _ask(self, verb: str, what: str, body: str | None = None) -> str:
        address = urlsplit(self.base_url)
        connection = HTTPConnection(address.hostname or "", address.port, timeout=10)
        try:
            connection.request(verb, f"/_simulator/{what}", body)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(json.loads(text)["error"]["message"])
        return text


def _ready(process: subprocess.Popen[str], errors: IO[str]) -> str:
    """The base URL from the line that says so."""
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
