"""Every overlay fits its schemas and the settings, and refers only to resources that exist."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from typer.main import get_command

from cluster.cli.commands import LazyCommand
from cluster.cli.main import app
from cluster.operator_settings import build_variable_name, list_setting_paths
from tests.contract.manifests.network_reach import iterate_egress_peers
from tests.contract.manifests.pod_rules import find_pod_problems
from tests.contract.manifests.ray_rules import find_ray_problems
from tests.contract.manifests.reference_rules import find_reference_problems
from tests.contract.manifests.resources import FOLDERS, ROOT, Resources, build_folder, filter_by_kind, list_pods
from tests.contract.manifests.schemas import DEFINITIONS, find_schema_problems, list_custom_resources
from workers.mail.settings import MailServerSettings

_NAMES = ("bucket", "cpu", "gpu", "gpu-search", "kind", "llm", "mail", "nightly", "small")
OVERLAYS = {f"overlays/{name}" for name in _NAMES}
ALONE = [folder for folder in FOLDERS if folder != "base"]
"""The base is held against the rules in each overlay; alone it has no database."""


@pytest.fixture(params=ALONE)
def resources(request: pytest.FixtureRequest) -> Resources:
    return build_folder(request.param)


def test_every_overlay_and_manifest_file_is_checked() -> None:
    assert {*ALONE} == OVERLAYS | {"corpus/build", "corpus/nightly"}
    files = {file for file in (ROOT / "k8s").rglob("*") if file.is_file()}
    assert not [file for file in files if not (file.parent / "kustomization.yaml").is_file()]
    for file in files - {file for file in files if file.name == "kustomization.yaml"}:
        assert file.name in (file.parent / "kustomization.yaml").read_text("utf-8"), f"{file} is in no kustomization"


def test_every_resource_matches_its_schema(resources: Resources) -> None:
    assert not list(find_schema_problems(resources))
    if list_custom_resources(resources) and not DEFINITIONS.is_dir():
        pytest.skip("shared/data/kubernetes is not here: operators' own resources were not held against schemas")


def test_pods_have_minimal_rights_and_valid_references(resources: Resources) -> None:
    assert not list(find_pod_problems(resources))


def test_references_between_resources_are_valid(resources: Resources) -> None:
    assert not list(find_reference_problems(resources))


def test_ray_clusters_match_the_operator_requirements(resources: Resources) -> None:
    assert not list(find_ray_problems(resources))


def test_every_setting_name_exists(resources: Resources) -> None:
    known = set(map(build_variable_name, list_setting_paths()))
    assert {name for name in re.findall(r"ASSAYER_\w+", str(resources)) if not name.endswith("_")} <= known


def test_every_command_exists_in_the_program(resources: Resources) -> None:
    commands = [item["spec"]["entrypoint"].split() for item in filter_by_kind(resources, "RayJob")]
    commands += [
        container["command"] for pod in list_pods(resources) for container in pod.containers if "command" in container
    ]
    for program, *arguments in commands:
        if program == "assayer":
            command: Any = get_command(app)
            while hasattr(command, "commands"):
                name = arguments.pop(0)
                command = command.commands[name]
                command = command.load_command() if isinstance(command, LazyCommand) else command
            assert command.make_context(name, arguments).params


@pytest.mark.parametrize(
    ("overlay", "service", "file"),
    [
        ("bucket", "assayer", "serve/bucket-cluster.yaml"),
        ("cpu", "assayer", "serve/cpu-cluster.yaml"),
        ("gpu", "assayer", "serve/gpu-cluster.yaml"),
        ("gpu-search", "assayer", "serve/gpu-search-cluster.yaml"),
        ("mail", "assayer", "serve/cpu-cluster.yaml"),
        ("llm", "assayer", "serve/closed-cluster.yaml"),
        ("llm", "assayer-llm", "llm/judge.yaml"),
        ("small", "assayer", "serve/small-cluster.yaml"),
        ("kind", "assayer", "serve/small-cluster.yaml"),
    ],
)
def test_ray_service_config_equals_its_serve_file(overlay: str, service: str, file: str) -> None:
    services = filter_by_kind(build_folder(f"overlays/{overlay}"), "RayService")
    (resource,) = (item for item in services if item["metadata"]["name"] == service)
    assert resource["spec"]["serveConfigV2"] == (ROOT / "deploy" / file).read_text("utf-8")


@pytest.mark.parametrize(("overlay", "device"), [("cpu", None), ("gpu", None), ("gpu-search", "cuda")])
def test_gpu_corpus_search_matches_gpu_requests_of_the_index_pool(overlay: str, device: str | None) -> None:
    resources = build_folder(f"overlays/{overlay}")
    (settings,) = (item["data"] for item in filter_by_kind(resources, "ConfigMap") if "ASSAYER_HOME" in item["data"])
    (service,) = filter_by_kind(resources, "RayService")
    (application,) = yaml.safe_load(service["spec"]["serveConfigV2"])["applications"]
    assert settings.get("ASSAYER_CORPUS__DEVICE") == device
    assert ("gpus" in application["args"]["serving"]["index"]) == (device == "cuda")


def test_source_config_maps_are_not_deployed(resources: Resources) -> None:
    names = {item["metadata"]["name"] for item in filter_by_kind(resources, "ConfigMap")}
    assert not names & {"serve-files", "llm-files"}


def test_alerts_and_dashboard_match_the_deploy_folder() -> None:
    resources = build_folder("overlays/cpu")
    (rules,) = filter_by_kind(resources, "PrometheusRule")
    assert rules["spec"] == yaml.safe_load((ROOT / "deploy" / "prometheus" / "rules.yaml").read_text("utf-8"))
    (dashboard,) = (item for item in filter_by_kind(resources, "ConfigMap") if "assayer.json" in item["data"])
    assert dashboard["data"]["assayer.json"] == (ROOT / "deploy" / "grafana" / "assayer.json").read_text("utf-8")
    (monitor, _) = filter_by_kind(resources, "PodMonitor")
    jobs = {
        pod.labels.get(monitor["spec"]["jobLabel"])
        for pod in list_pods(resources)
        if pod.labels["assayer/part"] == "pools"
    }
    assert jobs == {"assayer"}, "the alerts ask for this job"


def test_traces_reach_the_collector_only_from_pools() -> None:
    resources = build_folder("overlays/gpu-search")
    (settings,) = (item["data"] for item in filter_by_kind(resources, "ConfigMap") if "ASSAYER_HOME" in item["data"])
    endpoint = urlsplit(settings["OTEL_EXPORTER_OTLP_ENDPOINT"])
    assert endpoint.hostname is not None
    _, namespace, _ = endpoint.hostname.split(".")
    pods_by_part = {pod.labels["assayer/part"]: pod for pod in list_pods(resources)}
    policies = filter_by_kind(resources, "NetworkPolicy")
    open_to = {
        part
        for part, pod in pods_by_part.items()
        for peer in iterate_egress_peers(policies, pod)
        if peer.get("namespaceSelector") == {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    }
    assert open_to == {"pools"}
    (way,) = (policy for policy in policies if policy["metadata"]["name"] == "traces")
    assert [port["port"] for rule in way["spec"]["egress"] for port in rule["ports"]] == [endpoint.port]
    sources = {
        container["configMapRef"]["name"]
        for container in pods_by_part["pools"].containers[0]["envFrom"]
        if "configMapRef" in container
    }
    assert sources == {
        item["metadata"]["name"] for item in filter_by_kind(resources, "ConfigMap") if item["data"] == settings
    }


@pytest.mark.parametrize("overlay", ["llm", "small", "kind"])
def test_tracing_is_disabled_in_overlays_without_a_collector(overlay: str) -> None:
    assert "OTEL_" not in str(build_folder(f"overlays/{overlay}"))


def test_email_reaches_its_server_only_from_pools() -> None:
    resources, resources_without = build_folder("overlays/mail"), build_folder("overlays/cpu")
    (settings,) = (item["data"] for item in filter_by_kind(resources, "ConfigMap") if "ASSAYER_HOME" in item["data"])
    prefix = "ASSAYER_MAIL__"
    mail = {name.removeprefix(prefix).lower(): value for name, value in settings.items() if name.startswith(prefix)}
    server = MailServerSettings.model_validate(mail)
    assert server.host
    assert settings["ASSAYER_ACCESS__URL"].startswith("https://")
    (way,) = (item for item in filter_by_kind(resources, "NetworkPolicy") if item["metadata"]["name"] == "mail")
    assert way["spec"]["podSelector"] == {"matchLabels": {"assayer/part": "pools"}}
    assert [port["port"] for rule in way["spec"]["egress"] for port in rule["ports"]] == [server.effective_port]
    (pools,) = (pod for pod in list_pods(resources) if pod.labels["assayer/part"] == "pools")
    assert {"secretRef": {"name": "assayer-mail", "optional": True}} in pools.containers[0]["envFrom"]
    assert "ASSAYER_MAIL" not in str(resources_without)
    assert [item["metadata"]["name"] for item in filter_by_kind(resources_without, "NetworkPolicy")].count("mail") == 0


def test_grobid_is_set_up_as_compose_does_it() -> None:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))["services"]["grobid"]
    (grobid,) = filter_by_kind(build_folder("overlays/cpu"), "Deployment")
    spec = grobid["spec"]["template"]["spec"]
    command = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", compose["command"][-1])
    assert re.findall(r"-e '(\S+ .*?)'", spec["initContainers"][0]["command"][-1]) == re.findall(
        r"-e '(\S+ .*?)'", command
    )
    assert {item["image"] for item in (*spec["initContainers"], *spec["containers"])} == {compose["image"]}


def test_pods_with_a_bucket_use_no_shared_corpus_volume() -> None:
    resources = build_folder("overlays/bucket")
    (service,) = (item for item in filter_by_kind(resources, "RayService") if item["metadata"]["name"] == "assayer")
    assert "assayer-corpus" not in {
        item["metadata"]["name"] for item in filter_by_kind(resources, "PersistentVolumeClaim")
    }
    cluster = service["spec"]["rayClusterConfig"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        volumes = {item["name"]: item for item in group["template"]["spec"]["volumes"]}
        if group is not cluster["headGroupSpec"]:
            assert {"secretRef": {"name": "assayer-corpus-reader"}} in group["template"]["spec"]["containers"][0][
                "envFrom"
            ]
        (mount,) = (
            item for item in group["template"]["spec"]["containers"][0]["volumeMounts"] if item["name"] == "corpus"
        )
        assert "emptyDir" in volumes["corpus"]
        assert not mount.get("readOnly")


def test_nightly_update_uses_the_same_image_as_the_service() -> None:
    night = (ROOT / "k8s" / "overlays" / "nightly" / "night.yaml").read_text("utf-8")
    images = {
        item["image"] for pod in list_pods(build_folder("overlays/cpu")) for item in pod.containers if "image" in item
    }
    assert {*re.findall(r"image: (\S+)", night)} == {image for image in images if image.startswith("assayer:")}


def test_the_runbook_names_every_overlay() -> None:
    text = Path(ROOT / "docs" / "run" / "kubernetes.md").read_text("utf-8")
    assert not [folder for folder in ALONE if f"k8s/{folder}" not in text]
