"""llama.cpp's server as a child process: loaded, asked, and gone with whoever started it."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from pydantic import BaseModel

from assayer.errors import ConfigurationError, LlmUnavailable
from tests.polling import LONGEST_SECONDS, wait_until
from tests.real_model import SMALL_MODEL, real_model
from tests.unit.all_questions import ALL_QUESTIONS
from workers.llm.answer_schema import build_answer_schema, build_bounded_schema, convert_to_sent_schema
from workers.local_model.model_files import find_model_file
from workers.local_model.server import LocalModel, LocalModelOptions, run_local_model
from workers.local_model.speed import count_tokens_in_progress, measure_speed

_STARTS_AND_WAITS = f"""
import signal
from workers.local_model.model_files import find_model_file
from workers.local_model.server import run_local_model
with run_local_model(find_model_file({SMALL_MODEL!r})) as model:
    print(model.process_id, flush=True)
    signal.pause()
"""


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    with real_model(SMALL_MODEL, LocalModelOptions()) as running:
        yield running


def test_speed_is_measured_and_idle_server_has_zero_tokens_in_progress(model: LocalModel) -> None:
    speed = measure_speed(model)
    assert speed.prompt > 0
    assert speed.answer > 0
    assert speed.estimate_seconds(10, 10) == pytest.approx(10 / speed.prompt + 10 / speed.answer)
    assert count_tokens_in_progress(model) == (0, 0)


def test_first_answer_that_takes_too_long_is_explained() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent_server:
        address = f"http://127.0.0.1:{silent_server.getsockname()[1]}/v1"
        slow = LocalModel("slow", address, "key", "slow", LocalModelOptions(), 0, Path("server.log"))
        with pytest.raises(LlmUnavailable, match=r"within 0\.01 seconds.*other programs"):
            measure_speed(slow, seconds=0.01)


def test_server_rejects_a_wrong_api_key(model: LocalModel) -> None:
    connection = HTTPConnection(urlsplit(model.base_url).netloc)
    connection.request("POST", "/v1/chat/completions", json.dumps({"messages": []}), {"Authorization": "Bearer other"})
    assert connection.getresponse().status == 401
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("bounded", [True, False])
def test_server_accepts_the_schemas_of_all_tasks(model: LocalModel, bounded: bool) -> None:
    refusal_body = {}
    for task, question in ALL_QUESTIONS:
        output: type[BaseModel] = task.output
        schema = build_bounded_schema(output, task.bounds(question)) if bounded else build_answer_schema(output)
        answer = {"name": "answer", "strict": True, "schema": convert_to_sent_schema(schema.text).schema}
        body = {
            "messages": [{"role": "user", "content": "Answer."}],
            "max_tokens": 1,
            "response_format": {"type": "json_schema", "json_schema": answer},
        }
        connection = HTTPConnection(urlsplit(model.base_url).netloc)
        headers = {"Authorization": f"Bearer {model.api_key}"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        if response.status != 200:
            refusal_body[task.name] = response.read()[:300]
        connection.close()
    assert refusal_body == {}


def test_server_is_stopped_after_an_error_in_the_block(model: LocalModel) -> None:
    with pytest.raises(KeyboardInterrupt), run_local_model(find_model_file(SMALL_MODEL)) as other_model:  # noqa: PT012
        assert psutil.pid_exists(other_model.process_id)
        raise KeyboardInterrupt
    assert not psutil.pid_exists(other_model.process_id)
    assert not other_model.log.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_server_ends_when_its_parent_is_killed(model: LocalModel, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # for the log that the killed process leaves behind
    command = [sys.executable, "-c", _STARTS_AND_WAITS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        server = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
        parent.wait(LONGEST_SECONDS)
        wait_until(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)


def test_invalid_model_file_is_rejected_with_server_message(tmp_path: Path) -> None:
    file = tmp_path / "notes.gguf"
    file.write_text("These are notes.")
    with (
        pytest.raises(LlmUnavailable, match=r"did not start with notes\.gguf: exit code 1, “.*GGUF"),
        run_local_model(file),
    ):
        pass


@pytest.mark.parametrize(
    ("ending", "words"),
    [("kill -ILL $$", "built for a different processor"), ("echo out of memory; exit 3", "exit code 3")],
)
def test_failure_of_server_on_path_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, words: str
) -> None:
    program = tmp_path / "llama-server"
    program.write_text(f"#!/bin/sh\n{ending}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(LlmUnavailable, match=words), run_local_model(find_model_file(SMALL_MODEL)):
        pass


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no-such-package", "neither a model file nor an installed package"),
        ("pytest", r"contains 0 \.gguf files\. Pass the path"),
        ("/no/such/file.gguf", "neither a model file"),
    ],
)
def test_name_without_model_file_is_rejected(name: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        find_model_file(name)
