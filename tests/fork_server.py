"""Run `assayer` commands in processes forked from one that has already imported the program.

A start with its imports takes 0.5 to 5 seconds of processor time, a fork 0.05 seconds. Each command still has its own
process, working directory, environment, exit code and exit handlers. It differs from a real start in five ways: modules
are already imported, the hash seed is the server's, the interpreter does not free its modules at the end, variables
that it reads at its start have no effect (`can_fork`), and variables may shorten constants (`tests.constants`).

The clients are `run_forked` and `Piped`. The server is `python -m tests.fork_server SOCKET`, started by the first
command of a process that runs tests. It is single-threaded, since a fork copies only the thread that calls it.
"""

import atexit
import contextlib
import gc
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, Self

PROGRAM = Path(sys.executable).with_name("assayer")
_ROOT = Path(__file__).parents[1]
_LIBRARIES = (
    *("torch", "faiss", "tokenizers", "pandas", "rich.spinner", "rich._emoji_codes", "xml.etree.ElementTree"),
    *("cluster.engine", "cluster.evaluation_processes", "cluster.database", "cluster.health_checks"),
    *("cluster.cli.written_report", "cluster.cli.evaluation_summary", "cluster.read_proposals"),
    *("orchestrator.store.migrations", "workers.embedding.bert_encoder", "workers.llm.gateway"),
    "workers.full_texts.archive",
)
"""Modules that the most frequent commands import when they need them; pandas by way of pyarrow's first array."""
_LARGEST_REQUEST = 2**20
_starting = threading.Lock()


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def can_fork(settings: Mapping[str, str]) -> bool:
    """Return whether a forked command sees these environment variables as a real start would."""
    return not any(name.startswith(("PYTHON", "LC_", "LANG")) for name in settings)


def run_forked(arguments: Sequence[object], folder: Path, environment: Mapping[str, str], seconds: float) -> Ended:
    """Run `assayer` in a folder and return its exit code and output.

    Raises TimeoutError, and kills the process, when it takes longer than `seconds`.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = Forked(arguments, folder, environment, out.fileno(), err.fileno())
        try:
            code = process.wait(seconds)
        except TimeoutError:
            process.kill()
            process.forget()
            raise
        return Ended(code, _read_text(out), _read_text(err))


class Forked:
    """Running `assayer` command, with the interface of `subprocess.Popen`."""

    def __init__(
        self, arguments: Sequence[object], folder: Path, environment: Mapping[str, str], out: int, err: int
    ) -> None:
        """Start the command with these descriptors as its output."""
        words = [str(PROGRAM), *map(str, arguments)]
        with _starting:
            server = _start_server()
        request = json.dumps({"argv": words, "folder": str(folder), "environment": dict(environment)}).encode()
        self._ours, child_socket = socket.socketpair()
        with child_socket:
            socket.send_fds(server, [request], [out, err, child_socket.fileno()])
        self._answers = self._ours.makefile()
        self._command = " ".join(words)
        self.pid = _read_number(self._answers)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the command runs."""
        if self.returncode is None and select.select([self._ours], [], [], 0)[0]:
            self.wait(None)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once the command has ended. Raises TimeoutError."""
        if self.returncode is None:
            self._ours.settimeout(timeout)
            try:
                self.returncode = _read_number(self._answers)
            except TimeoutError:
                raise TimeoutError(f"{self._command} took longer than {timeout:g} s.") from None
            self.forget()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def forget(self) -> None:
        """Close what the exit code would come through."""
        self._answers.close()
        self._ours.close()


class Piped(Forked):
    """Running command whose output can be read while it runs."""

    def __init__(self, arguments: Sequence[object], folder: Path, environment: Mapping[str, str]) -> None:
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        try:
            super().__init__(arguments, folder, environment, out_end, err_end)
        finally:
            os.close(out_end)
            os.close(err_end)
        self.stdout, self.stderr = os.fdopen(out), os.fdopen(err)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return what is left of the output once the command has ended. Raises TimeoutError."""
        with ThreadPoolExecutor(2) as readers:
            out, err = readers.submit(self.stdout.read), readers.submit(self.stderr.read)
            try:
                self.wait(timeout)
            finally:
                self.kill()
            return out.result(), err.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()
        self.stdout.close()
        self.stderr.close()


def _read_number(answers: IO[str]) -> int:
    line = answers.readline()
    if not line:
        raise RuntimeError("The fork server died; see the captured output of the first test that used it.")
    return int(line)


def _read_text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@cache
def _start_server() -> socket.socket:
    """Start the server of this process. It ends when this process closes its socket, at the latest at its death."""
    server_socket, child_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.fork_server", str(child_socket.fileno())]
    devnull = subprocess.DEVNULL
    with child_socket:
        process = subprocess.Popen(command, cwd=_ROOT, stdin=devnull, stdout=devnull, pass_fds=[child_socket.fileno()])

    def stop() -> None:
        server_socket.close()
        process.wait()

    atexit.register(stop)
    return server_socket


def _build_models() -> None:
    """Build what commands build at first use: the validators of all models, prompts, and templates of reports."""
    remaining_models: list[Any] = [import_module("assayer.models.base").Frozen]
    while remaining_models:
        remaining_models += (model := remaining_models.pop()).__subclasses__()
        model.model_rebuild()
    for method in import_module("cluster.methods").METHODS.values():
        for task in method.tasks:
            task.digest  # noqa: B018 - kept by its prompts
            task.prompts._environment.get_template(task.prompt)
    for module, kind in (("html", "html"), ("markdown", "md")):
        templates = import_module(f"assayer.reports.{module}")._build_environment()
        for name in templates.list_templates([kind]):
            templates.get_template(name)


def _next_command(control: socket.socket) -> dict[str, Any] | None:
    """Fork for every request; return it in the process that is to run it, and None in the server at the end."""
    running: dict[int, tuple[int, socket.socket]] = {}  # by the descriptor that becomes readable when the process ends
    with control, selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd in running:
                    selector.unregister(key.fd)
                    _report_exit(key.fd, *running.pop(key.fd))
                    continue
                request, descriptors, _, _ = socket.recv_fds(control, _LARGEST_REQUEST, 3)
                if not request:
                    return None
                pid = os.fork()
                if pid == 0:
                    os.dup2(descriptors[0], 1)
                    os.dup2(descriptors[1], 2)
                    for descriptor in (*descriptors, *running):
                        os.close(descriptor)
                    for _, answering in running.values():
                        answering.close()
                    return dict(json.loads(request))
                os.close(descriptors[0])
                os.close(descriptors[1])
                answering = socket.socket(fileno=descriptors[2])
                answering.sendall(f"{pid}\n".encode())
                process_descriptor = os.pidfd_open(pid)
                running[process_descriptor] = (pid, answering)
                selector.register(process_descriptor, selectors.EVENT_READ)


def _report_exit(process_descriptor: int, pid: int, answering: socket.socket) -> None:
    os.close(process_descriptor)
    _, status = os.waitpid(pid, 0)
    with answering, contextlib.suppress(BrokenPipeError):  # whoever asked may be gone
        answering.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _run(command: dict[str, Any]) -> NoReturn:
    """Become the command: take over its arguments, environment and working directory, and end with its exit code."""
    sys.argv = command["argv"]
    os.environ.clear()
    os.environ.update(command["environment"])
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(command["folder"])
    from cluster.cli.main import main
    from tests.constants import accept_constants

    accept_constants()
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001 - what the interpreter does with it at its end
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the tests, whose end ends this process
    for listed in import_module("cluster.cli.main").COMMANDS:
        for command in getattr(listed.load_command(), "commands", {}).values():
            if hasattr(command, "load_command"):
                command.load_command()
    for module in _LIBRARIES:
        import_module(module)
    _build_models()
    gc.freeze()
    command = _next_command(socket.socket(fileno=int(sys.argv[1])))
    if command is not None:
        _run(command)
