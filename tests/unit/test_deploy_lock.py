"""The image's locks: every package that the product asks for, in a version that it accepts, with hashes."""

import re
import tomllib
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
ELSEWHERE = {"torch", "assayer-research"}
"""Chosen when the image is made, or of this repository."""
VARIANTS = {"cpu": "local", "cuda": "gpu"}
"""Variants of the image, and the extra that each installs."""


def _lock(name: str) -> str:
    return (ROOT / "deploy" / name).read_text()


def _pinned(lock: str) -> dict[str, str]:
    found = re.findall(r"(?m)^([A-Za-z0-9._-]+)(?:\[[a-z0-9,-]+\])?==([^ ;\\]+)", lock)
    return {canonicalize_name(name): version for name, version in found}


COMMON = _pinned(_lock("requirements.lock"))


def _wanted(variant: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for extra in (*EXTRAS, VARIANTS[variant]) for line in project["optional-dependencies"][extra]]
    wanted = [Requirement(line) for line in (*project["dependencies"], *extras)]
    return [item for item in wanted if canonicalize_name(item.name) not in ELSEWHERE]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_package_is_pinned_in_a_version_that_the_project_accepts(variant: str) -> None:
    pinned = COMMON | _pinned(_lock(f"requirements-{variant}.lock"))
    wrong = [
        str(item)
        for item in _wanted(variant)
        if not item.specifier.contains(pinned.get(canonicalize_name(item.name), ""), prereleases=True)
    ]
    assert not wrong, "renew it with: sh deploy/lock.sh"


@pytest.mark.parametrize("name", ["requirements.lock", *(f"requirements-{variant}.lock" for variant in VARIANTS)])
def test_every_locked_package_has_hashes_and_is_not_fetched_from_a_url(name: str) -> None:
    lock = _lock(name)
    entries, pinned = re.split(r"(?m)^(?=[A-Za-z0-9])", lock)[1:], _pinned(lock)
    assert len(entries) == len(pinned) > 0
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock
    assert not ELSEWHERE & pinned.keys()


def test_each_variant_pins_a_faiss_build_of_the_same_version() -> None:
    builds = [_pinned(_lock(f"requirements-{variant}.lock")) for variant in VARIANTS]
    assert [list(build) for build in builds] == [["faiss-cpu"], ["faiss-gpu"]]
    assert len({version for build in builds for version in build.values()}) == 1
    assert not [name for name in COMMON if name.startswith("faiss")]
