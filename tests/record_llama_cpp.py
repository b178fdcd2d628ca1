"""Records answers of a real llama.cpp: `python -m tests.record_llama_cpp` writes `tests/contract/llama_cpp_answers`."""

import json
import socket
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.polling import wait_until
from tests.real_model import SMALL_MODEL
from workers.local_model.model_files import find_model_file
from workers.local_model.server import LocalModelOptions, run_local_model, start_server

RECORDED = Path(__file__).parent / "contract" / "llama_cpp_answers"
_SCHEMA = {
    "type": "object",
    "properties": {"stance": {"enum": ["for", "against"]}, "weight": {"type": "integer"}},
    "required": ["stance", "weight"],
    "additionalProperties": False,
}
_PATTERN = {"type": "object", "properties": {"year": {"type": "string", "pattern": r"^\d{4}$"}}, "required": ["year"]}
_QUESTIONS: Mapping[str, dict[str, Any]] = {
    "answer": {"content": "Is shade good for seedlings?", "schema": _SCHEMA, "max_tokens": 48},
    "cut_off": {"content": "Tell of seedlings.", "max_tokens": 12},
    "context_too_small": {"content": "Shade helps seedlings. " * 600, "max_tokens": 12},
    "schema_refused": {"content": "When?", "schema": _PATTERN, "max_tokens": 12},
}


def _send_request(address: str, key: str, path: str, body: object = None) -> tuple[int, Any]:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=300)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("GET" if body is None else "POST", path, json.dumps(body) if body else None, headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def _write(name: str, status: int, body: Any) -> None:
    RECORDED.mkdir(exist_ok=True)
    text = json.dumps({"status": status, "body": body}, indent=1, ensure_ascii=False)
    (RECORDED / f"{name}.json").write_text(f"{text}\n", "utf-8")


def _build_question(content: str, max_tokens: int, schema: object = None) -> dict[str, Any]:
    body = {"messages": [{"role": "user", "content": content}], "max_tokens": max_tokens, "temperature": 0}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    return body | ({"response_format": form} if schema else {})


def _record_running() -> None:
    with run_local_model(find_model_file(SMALL_MODEL), LocalModelOptions(context_tokens=1_024)) as model:
        for name, question in _QUESTIONS.items():
            _write(
                name, *_send_request(model.address, model.api_key, "/v1/chat/completions", _build_question(**question))
            )
        _write("wrong_key", *_send_request(model.address, "other", "/v1/chat/completions", _build_question("Hello", 1)))
        _write("models", *_send_request(model.address, model.api_key, "/v1/models"))
        status, props = _send_request(model.address, model.api_key, "/props")
        _write("props", status, {**props, "model_path": "", "chat_template": ""})


def _record_loading() -> None:
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    process = start_server(find_model_file(SMALL_MODEL), LocalModelOptions(arguments=("--port", str(port))), "key")
    answers: list[tuple[int, Any]] = []

    def is_answered() -> bool:
        with suppress(OSError):
            answers.append(
                _send_request(f"http://127.0.0.1:{port}", "key", "/v1/chat/completions", _build_question("Hi", 1))
            )
        return bool(answers)

    try:
        wait_until(is_answered)
        _write("loading", *answers[0])
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    _record_running()
    _record_loading()
