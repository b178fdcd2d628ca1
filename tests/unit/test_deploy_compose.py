"""The compose file, as far as it can be checked without Docker."""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SERVICES = ("postgres", "grobid")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    found: dict[str, Any] = compose["services"]
    return found


def test_it_starts_what_assayer_needs(services: dict[str, Any]) -> None:
    assert set(services) == set(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
def test_service_is_pinned_limited_restarted_and_looked_after(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert re.fullmatch(r"[a-z/]+:\d+\.\d+(?:\.\d+)?-[a-z]+", service["image"])
    assert service["mem_limit"]
    assert service["restart"] == "unless-stopped"
    check = service["healthcheck"]
    assert {"test", "interval", "timeout", "retries", "start_period"} <= check.keys()
    assert check["test"][0] == "CMD"
    assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("name", SERVICES)
def test_port_is_open_to_this_machine_only(services: dict[str, Any], name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in services[name]["ports"])


def test_grobid_reaps_its_converters_and_fits_its_memory(services: dict[str, Any]) -> None:
    grobid = services["grobid"]
    assert grobid["init"] is True
    assert grobid["ulimits"] == {"core": 0}
    script = grobid["command"][-1]
    concurrency = int(_default(script, "GROBID_CONCURRENCY"))
    converter = int(_default(script, "GROBID_PDF_MEGABYTES"))
    heap = int(_default(grobid["environment"]["JAVA_OPTS"], "GROBID_HEAP").rstrip("g"))
    assert (
        heap * 1024 + concurrency * converter <= int(_default(grobid["mem_limit"], "GROBID_MEMORY").rstrip("g")) * 1024
    )


def test_grobids_settings_are_changed_where_its_own_file_has_them(services: dict[str, Any], tmp_path: Path) -> None:
    """Runs the container's own command on lines of its own file, in place of the server a script that says hello."""
    if shutil.which("sed") is None:
        pytest.skip("no sed on this machine")
    (tmp_path / "grobid-home/config").mkdir(parents=True)
    (tmp_path / "grobid-service/bin").mkdir(parents=True)
    config = tmp_path / "grobid-home/config/grobid.yaml"
    config.write_text("grobid:\n  pdf:\n    pdfalto:\n      memoryLimitMb: 6096\n  concurrency: 10\n  poolMaxWait: 1\n")
    server = tmp_path / "grobid-service/bin/grobid-service"
    server.write_text("#!/bin/sh\necho hello\n")
    server.chmod(0o755)
    command = [_substituted(part) for part in services["grobid"]["command"]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "hello\n"
    assert yaml.safe_load(config.read_text()) == {
        "grobid": {"pdf": {"pdfalto": {"memoryLimitMb": 1500}}, "concurrency": 4, "poolMaxWait": 1}
    }


class _Alive(BaseHTTPRequestHandler):
    answer = b"true"

    def do_GET(self) -> None:
        known = self.path == "/api/isalive"
        self.send_response(200 if known else 404)
        self.send_header("Access-Control-Allow-Credentials", "true")
        self.end_headers()
        self.wfile.write(self.answer if known else b"")

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture(params=[b"true", b"false"])
def server(request: pytest.FixtureRequest) -> Iterator[HTTPServer]:
    handler = type("Handler", (_Alive,), {"answer": request.param})
    with HTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def test_health_check_of_grobid_tells_alive_from_not(services: dict[str, Any], server: HTTPServer) -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash on this machine")
    test = services["grobid"]["healthcheck"]["test"][1:]
    command = [part.replace("/127.0.0.1/8070", f"/127.0.0.1/{server.server_port}") for part in test]
    healthy = subprocess.run(command, timeout=30, check=False).returncode == 0
    assert healthy == (getattr(server.RequestHandlerClass, "answer", b"") == b"true")


def _substituted(text: str) -> str:
    """As compose puts in its variables when none is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def _default(text: str, variable: str) -> str:
    match = re.search(rf"\$\{{{variable}:-([^}}]+)\}}", text)
    assert match is not None
    return match[1]
