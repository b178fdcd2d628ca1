"""The compose file, as far as it can be checked without Docker."""

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path, PurePath
from typing import Any

import pytest
import yaml

from cluster.cli.main import COMMANDS
from cluster.operator_settings import build_variable_name, list_setting_paths

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SERVICES = ("postgres", "grobid", "assayer", "prometheus", "grafana")
IMAGE = "assayer:0.1.0"


def read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text("utf-8"))
    return document


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    services_by_name: dict[str, Any] = read("compose.yaml")["services"]
    return services_by_name


def test_compose_dependencies_volumes_and_secrets_are_consistent(services: dict[str, Any]) -> None:
    compose = read("compose.yaml")
    used_names: dict[str, set[str]] = {"volumes": set(), "secrets": set()}
    for service in services.values():
        for needed, dependency in service.get("depends_on", {}).items():
            assert dependency == {"condition": "service_healthy"}
            assert "healthcheck" in services[needed]
        used_names["secrets"] |= set(service.get("secrets", ()))
        for volume in service.get("volumes", ()):
            source, _, _ = volume.partition(":")
            if source.startswith("."):
                assert (DEPLOY / source).exists(), source
                assert volume.endswith(":ro")
            else:
                used_names["volumes"].add(source)
    assert {kind: set(compose[kind]) for kind in used_names} == used_names


def test_service_container_is_sandboxed_and_uses_valid_command_and_settings(services: dict[str, Any]) -> None:
    service = services["assayer"]
    assert service["image"] == IMAGE
    assert (
        DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]
    ) == DEPLOY / ".." / "deploy" / "Dockerfile"
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["environment"]["HOME"].startswith(*service["tmpfs"])
    program, command, *arguments = service["command"]
    assert (program, command) == ("assayer", "serve")
    (command_entry,) = (item for item in COMMANDS if item.name == command)
    assert command_entry.load_command().make_context(command, arguments).params["host"] == "0.0.0.0"
    known_variables = set(map(build_variable_name, list_setting_paths()))
    changed = read("compose.gpu.yaml")["services"]["assayer"]["environment"]
    assert {name for name in (*service["environment"], *changed) if name.startswith("ASSAYER_")} <= known_variables
    assert service["environment"]["ASSAYER_HOME"] == service["volumes"][0].partition(":")[2]
    assert "/data" in (DEPLOY / "Dockerfile").read_text("utf-8")


def test_gpu_override_uses_cuda_image_variant(services: dict[str, Any]) -> None:
    (override,) = read("compose.gpu.yaml")["services"].items()
    assert override[0] == "assayer"
    assert override[1]["image"] == f"{IMAGE}-cuda"
    assert override[1]["build"]["args"] == {"VARIANT": "cuda"}
    (device,) = override[1]["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
    assert override[1]["environment"] == {"ASSAYER_CORPUS__DEVICE": "cuda"}


def test_compose_prometheus_configuration_differs_only_in_target_and_credentials(services: dict[str, Any]) -> None:
    default_configuration, compose_configuration = read("prometheus/prometheus.yaml"), read("prometheus/compose.yaml")
    (scrape,) = default_configuration["scrape_configs"]
    scrape["authorization"] = {"credentials_file": f"/run/secrets/{services['prometheus']['secrets'][0]}"}
    scrape["static_configs"] = [{"targets": ["assayer:8765"]}]
    assert compose_configuration == default_configuration


def test_grafana_finds_its_data_source_and_dashboard(services: dict[str, Any]) -> None:
    (source,) = read("grafana/provisioning/datasources/prometheus.yaml")["datasources"]
    port = services["prometheus"]["ports"][0].rpartition(":")[2]
    assert source["url"] == f"http://prometheus:{port}"
    dashboard = json.loads((DEPLOY / "grafana" / "assayer.json").read_text("utf-8"))
    assert [item["query"] for item in dashboard["templating"]["list"] if item["type"] == "datasource"] == [
        source["type"]
    ]
    (provider,) = read("grafana/provisioning/dashboards/assayer.yaml")["providers"]
    mounted = [service.split(":")[1] for service in services["grafana"]["volumes"]]
    home_dashboard = services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home_dashboard in mounted
    assert str(Path(home_dashboard).parent) == provider["options"]["path"]


def test_local_secrets_are_excluded_from_repository_and_image() -> None:
    (env_file,) = (item["path"] for item in read("compose.yaml")["services"]["assayer"]["env_file"])
    assert f"/deploy/{env_file}" in (ROOT / ".gitignore").read_text("utf-8").splitlines()
    first, *allowed = [
        line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if not line.startswith("#")
    ]
    assert first == "*"
    included = {line.removeprefix("!") for line in allowed if line.startswith("!")}
    copied_paths = {
        part
        for line in re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", (DEPLOY / "Dockerfile").read_text("utf-8"))
        for part in line.split()
    }
    assert {item for item in copied_paths if not any(PurePath(item).match(pattern) for pattern in included)} == set()
    assert not any(PurePath(f"deploy/{env_file}").match(pattern) for pattern in included)


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_pinned_image_memory_limit_restart_policy_and_health_check(
    services: dict[str, Any], name: str
) -> None:
    service = services[name]
    assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+(?:\.\d+)?(-[a-z]+)?", service["image"])
    assert service["mem_limit"]
    assert service["restart"] == "unless-stopped"
    check = service["healthcheck"]
    assert {"test", "interval", "timeout", "retries", "start_period"} <= check.keys()
    assert check["test"][0] == "CMD"
    assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("name", SERVICES)
def test_port_is_open_to_this_machine_only(services: dict[str, Any], name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in services[name]["ports"])


def test_grobid_uses_init_process_and_fits_its_memory_limit(services: dict[str, Any]) -> None:
    grobid = services["grobid"]
    assert grobid["init"] is True
    assert grobid["ulimits"] == {"core": 0}
    script = grobid["command"][-1]
    concurrency = int(find_default(script, "GROBID_CONCURRENCY"))
    converter = int(find_default(script, "GROBID_PDF_MEGABYTES"))
    heap = int(find_default(grobid["environment"]["JAVA_OPTS"], "GROBID_HEAP").rstrip("g"))
    assert (
        heap * 1024 + concurrency * converter
        <= int(find_default(grobid["mem_limit"], "GROBID_MEMORY").rstrip("g")) * 1024
    )


def test_grobid_start_command_edits_its_configuration_file(services: dict[str, Any], tmp_path: Path) -> None:
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
    command = [substitute_defaults(part) for part in services["grobid"]["command"]]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True)
    assert process.stdout == "hello\n"
    assert yaml.safe_load(config.read_text()) == {
        "grobid": {"pdf": {"pdfalto": {"memoryLimitMb": 1500}}, "concurrency": 4, "poolMaxWait": 1}
    }


class AliveHandler(BaseHTTPRequestHandler):
    answer = b"true"

    def do_GET(self) -> None:
        is_known_path = self.path == "/api/isalive"
        self.send_response(200 if is_known_path else 404)
        self.send_header("Access-Control-Allow-Credentials", "true")
        self.end_headers()
        self.wfile.write(self.answer if is_known_path else b"")

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@pytest.fixture(params=[b"true", b"false"])
def server(request: pytest.FixtureRequest) -> Iterator[HTTPServer]:
    handler = type("Handler", (AliveHandler,), {"answer": request.param})
    with HTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


def test_grobid_health_check_succeeds_only_when_service_is_alive(services: dict[str, Any], server: HTTPServer) -> None:
    if shutil.which("bash") is None:
        pytest.skip("no bash on this machine")
    test = services["grobid"]["healthcheck"]["test"][1:]
    command = [part.replace("/127.0.0.1/8070", f"/127.0.0.1/{server.server_port}") for part in test]
    healthy = subprocess.run(command, timeout=30, check=False).returncode == 0
    assert healthy == (getattr(server.RequestHandlerClass, "answer", b"") == b"true")


def substitute_defaults(text: str) -> str:
    """Replace variables by their defaults, as compose does when none is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def find_default(text: str, variable: str) -> str:
    match = re.search(rf"\$\{{{variable}:-([^}}]+)\}}", text)
    assert match is not None
    return match[1]
