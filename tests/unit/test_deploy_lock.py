"""The image's lockfile: every package that the product asks for, in a version that it accepts, with hashes."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "deploy" / "requirements.lock").read_text()
PINNED = {
    canonicalize_name(name): version
    for name, version in re.findall(r"(?m)^([A-Za-z0-9._-]+)(?:\[[a-z0-9,-]+\])?==([^ ;\\]+)", LOCK)
}
EXTRAS = ("local", "gnn", "web", "service", "pdf", "tables", "otel", "ingest", "mcp", "object-storage")
ELSEWHERE = {"torch", "assayer", "assayer-client"}
"""Chosen when the image is made, or of this repository."""


def _wanted() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]
    wanted = [Requirement(line) for line in (*project["dependencies"], *extras)]
    return [one for one in wanted if canonicalize_name(one.name) not in ELSEWHERE]


def test_every_package_is_pinned_in_a_version_that_the_project_accepts() -> None:
    wrong = [
        str(one)
        for one in _wanted()
        if not one.specifier.contains(PINNED.get(canonicalize_name(one.name), ""), prereleases=True)
    ]
    assert not wrong, "renew it with: sh deploy/lock.sh"


def test_every_package_has_hashes_and_no_place_to_be_fetched_from() -> None:
    entries = re.split(r"(?m)^(?=[A-Za-z0-9])", LOCK)[1:]
    assert len(entries) == len(PINNED)
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in LOCK
    assert not ELSEWHERE & PINNED.keys()


def test_image_installs_what_is_locked_and_nothing_else() -> None:
    image = (ROOT / "deploy" / "Dockerfile").read_text()
    assert "--no-deps --require-hashes -r requirements.lock" in image
    assert "pip install --no-cache-dir --no-deps ./client ." in image
