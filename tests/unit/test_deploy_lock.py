"""The image's locks: every package that the product asks for, in a version that it accepts, with hashes."""

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
EXTRAS = (
    "models",
    "bge",
    "gnn",
    "web",
    "api",
    "service",
    "pdf",
    "tables",
    "otel",
    "ingest",
    "mcp",
    "object-storage",
    "grobid",
)
OWN_PACKAGE = "assayer-research"
VARIANTS = {"cpu": "local", "cuda": "gpu"}
"""Variants of the image, and the extra that each installs."""


def read_lock(name: str) -> str:
    return (ROOT / "deploy" / name).read_text()


def parse_pins(lock: str) -> dict[str, str]:
    pins = re.findall(r"(?m)^([A-Za-z0-9._-]+)(?:\[[a-z0-9,-]+\])?==([^ ;\\]+)", lock)
    return {canonicalize_name(name): version for name, version in pins}


COMMON = parse_pins(read_lock("requirements.lock")) | parse_pins(read_lock("requirements-torch.lock"))
LOCKS = (
    "requirements.lock",
    "requirements-torch.lock",
    *(f"requirements-{variant}.lock" for variant in VARIANTS),
    "llm/requirements.lock",
)


def list_requirements(variant: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for extra in (*EXTRAS, VARIANTS[variant]) for line in project["optional-dependencies"][extra]]
    requirements = [Requirement(line) for line in (*project["dependencies"], *extras)]
    return [item for item in requirements if canonicalize_name(item.name) != OWN_PACKAGE]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_package_is_pinned_in_a_version_that_the_project_accepts(variant: str) -> None:
    pinned = COMMON | parse_pins(read_lock(f"requirements-{variant}.lock"))
    wrong_pins = [
        str(item)
        for item in list_requirements(variant)
        if not item.specifier.contains(pinned.get(canonicalize_name(item.name), ""), prereleases=True)
    ]
    assert not wrong_pins, "renew it with: sh deploy/lock.sh"


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_hashes_and_is_not_fetched_from_a_url(name: str) -> None:
    lock = read_lock(name)
    entries, pinned = re.split(r"(?m)^(?=[A-Za-z0-9])", lock)[1:], parse_pins(lock)
    assert len(entries) == len(pinned) > 0
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock
    assert OWN_PACKAGE not in pinned


def test_locks_of_an_image_list_each_package_once() -> None:
    assert (
        not parse_pins(read_lock("requirements.lock")).keys() & parse_pins(read_lock("requirements-torch.lock")).keys()
    )


def test_all_dependencies_of_torch_are_locked() -> None:
    needed = [Requirement(line) for line in requires("torch") or ()]
    for item in needed:
        if item.marker is None or item.marker.evaluate({"python_version": "3.13", "extra": ""}):
            pinned = COMMON.get(canonicalize_name(item.name), "")
            assert item.specifier.contains(pinned, prereleases=True), item


def test_model_image_has_the_ray_of_its_manifest() -> None:
    model = (ROOT / "k8s" / "llm" / "model.yaml").read_text("utf-8")
    pinned = parse_pins(read_lock("llm/requirements.lock"))
    assert re.findall(r'rayVersion: "(.+)"', model) == [pinned["ray"]] == [COMMON["ray"]]
    assert "vllm" in pinned


def test_each_variant_pins_a_faiss_build_of_the_same_version() -> None:
    builds = [parse_pins(read_lock(f"requirements-{variant}.lock")) for variant in VARIANTS]
    names = [[name for name in build if name.startswith("faiss")] for build in builds]
    assert names == [["faiss-cpu"], ["faiss-gpu"]]
    assert builds[0]["faiss-cpu"] == builds[1]["faiss-gpu"]
    assert not [name for name in COMMON if name.startswith("faiss")]
