"""Commands forked from a process that has imported the program behave as ones that were started."""

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.fork_server import can_fork, run_forked
from tests.polling import wait_until


def _build_environment(home: Path, **settings: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "ASSAYER_HOME": str(home), **settings}


def test_forked_command_uses_arguments_environment_and_folder_and_returns_output(tmp_path: Path) -> None:
    (tmp_path / "idea.json").write_text("{}", "utf-8")
    first = run_forked(["evaluate", "idea.json"], tmp_path, _build_environment(tmp_path), 60)
    assert (first.code, first.out) == (2, "")
    assert "idea.json" in first.err
    wrong = run_forked(["corpus", "info"], tmp_path, _build_environment(tmp_path, ASSAYER_LLM__MODLE="x"), 60)
    assert wrong.code == 2
    assert "modle" in wrong.err.lower()
    assert run_forked(["--version"], tmp_path, _build_environment(tmp_path), 60).out.startswith("assayer ")


def test_concurrent_forked_commands_are_isolated(tmp_path: Path) -> None:
    homes = [tmp_path / str(number) for number in range(4)]
    for home in homes:
        home.mkdir()
    with ThreadPoolExecutor(4) as threads:
        results = list(
            threads.map(lambda home: run_forked(["corpus", "info"], home, _build_environment(home), 60), homes)
        )
    assert all(home.name in item.err and item.code == 2 for home, item in zip(homes, results, strict=True))


def test_killed_or_late_command_is_reported_and_server_keeps_running(tmp_path: Path) -> None:
    silent_server = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{silent_server.getsockname()[1]}"
    waiting = (
        ["batch", "watch", "ev_1"],
        tmp_path,
        _build_environment(tmp_path, ASSAYER_API_URL=url, ASSAYER_API_KEY="key"),
    )

    def kill_first_command() -> None:
        servers = [child for child in psutil.Process().children() if "tests.fork_server" in child.cmdline()]
        wait_until(servers[0].children)[0].send_signal(signal.SIGKILL)

    assert run_forked(["--version"], tmp_path, _build_environment(tmp_path), 60).code == 0
    with silent_server, ThreadPoolExecutor(1) as threads:
        killing = threads.submit(kill_first_command)
        assert run_forked(*waiting, 60).code == -signal.SIGKILL
        killing.result()
        with pytest.raises(TimeoutError, match="took longer than"):
            run_forked(*waiting, 0.01)
    assert run_forked(["--version"], tmp_path, _build_environment(tmp_path), 60).code == 0


def test_interpreter_startup_variables_require_a_new_process() -> None:
    assert can_fork({"ASSAYER_LLM__MODEL": "m", "COLUMNS": "80"})
    assert not can_fork({"PYTHONPATH": "elsewhere"})
    assert not can_fork({"LC_ALL": "C"})
