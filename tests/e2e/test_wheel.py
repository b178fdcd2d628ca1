"""The built wheel holds everything that the checkout holds, below the one package `assayer`."""

import ast
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.wheel import MOVED, list_source_files, run

RENAMED = {
    "cluster.cli",
    "orchestrator.api.pages",
    "orchestrator.api.routes",
    "orchestrator.console",
    "orchestrator.store.migrations",
    "workers.full_texts.grobid_tei:parse_tei",
    "workers.llm",
    "workers.sandbox.documents:read_document",
    "workers.sandbox.page_extraction:extract_article",
    "workers.sandbox.page_rendering:render_pages",
    "workers.sandbox.pdf_parser:read_pdf",
    "workers.sandbox.program",
    "workers.sandbox.repository_files:read_repository",
    "workers.sandbox.tei_converter:convert",
}
"""Every text of the sources that names a module. Whatever is added here must be meant as one."""


@pytest.fixture(scope="module")
def wheel(wheel_file: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(wheel_file) as opened_wheel:
        yield opened_wheel


@pytest.fixture(scope="module")
def modules(wheel: zipfile.ZipFile) -> dict[str, str]:
    """Path in the wheel of each module."""
    files = [name for name in wheel.namelist() if name.endswith(".py")]
    return {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): name for name in files}


class Names(NamedTuple):
    """Modules that a file imports, and its string constants."""

    imports: set[str]
    texts: set[str]


@pytest.fixture(scope="module")
def names(wheel: zipfile.ZipFile, modules: dict[str, str]) -> dict[str, Names]:
    """Names in each module of the wheel, by path."""
    return {name: _collect_names(ast.parse(wheel.read(name))) for name in modules.values()}


def _collect_names(tree: ast.Module) -> Names:
    collected = Names(set(), set())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            collected.imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            collected.imports.add(node.module or "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            collected.texts.add(node.value)
    return collected


def test_wheel_holds_every_file_of_its_packages(wheel: zipfile.ZipFile) -> None:
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside - {"assayer/_engine/__init__.py"} == list_source_files().keys()


def test_wheel_installs_only_assayer(wheel: zipfile.ZipFile) -> None:
    assert {name.partition("/")[0] for name in wheel.namelist() if ".dist-info/" not in name} == {"assayer"}
    (top_level,) = (name for name in wheel.namelist() if name.endswith("/top_level.txt"))
    assert wheel.read(top_level).decode().split() == ["assayer"]


def _write_foreign_wheel(folder: Path) -> Path:
    """Write a wheel of another project, whose package is named as one of the repository's folders."""
    files = {
        "cluster/__init__.py": 'PROJECT = "another"\n',
        "cluster-1.4.dist-info/METADATA": "Metadata-Version: 2.1\nName: cluster\nVersion: 1.4\n",
        "cluster-1.4.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files["cluster-1.4.dist-info/RECORD"] = "".join(f"{name},,\n" for name in (*files, "cluster-1.4.dist-info/RECORD"))
    path = folder / "cluster-1.4-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as written_wheel:
        for name, text in files.items():
            written_wheel.writestr(name, text)
    return path


def test_package_of_another_project_named_cluster_works_beside_the_wheel(wheel_file: Path, tmp_path: Path) -> None:
    target, foreign = tmp_path / "packages", _write_foreign_wheel(tmp_path)
    options = ("--no-index", "--no-deps", "--no-compile", "--target", target)
    run(sys.executable, "-m", "pip", "install", *options, wheel_file, foreign)
    program = "import assayer, cluster; print(cluster.PROJECT, cluster.__file__, assayer.__file__)"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(target)}
    imported = run(sys.executable, "-c", program, cwd=tmp_path, env=environment)
    assert imported.split() == ["another", str(target / "cluster/__init__.py"), str(target / "assayer/__init__.py")]
    version = run(sys.executable, "-m", "assayer", "--version", cwd=tmp_path, env=environment)
    assert version == "assayer 0.1.0\n"


def test_wheel_refers_to_no_moved_package_by_its_old_name(modules: dict[str, str], names: dict[str, Names]) -> None:
    old = {name.removeprefix("assayer._engine.") for name in modules if name.startswith("assayer._engine.")}
    for file, module_names in names.items():
        assert not {name for name in module_names.imports if name.partition(".")[0] in MOVED}, file
        assert not {text for text in module_names.texts if "." in text and text.partition(":")[0] in old}, file


def test_every_import_of_assayer_leads_to_a_module_of_the_wheel(
    modules: dict[str, str], names: dict[str, Names]
) -> None:
    imported = {
        name for module_names in names.values() for name in module_names.imports if name.partition(".")[0] == "assayer"
    }
    assert imported - modules.keys() == set()


def test_only_texts_that_name_modules_are_renamed(modules: dict[str, str], names: dict[str, Names]) -> None:
    texts = {
        text for module_names in names.values() for text in module_names.texts if text.startswith("assayer._engine.")
    }
    assert {text.removeprefix("assayer._engine.") for text in texts} == RENAMED
    assert all(text.partition(":")[0] in modules for text in texts)


def test_lines_keep_their_numbers(wheel: zipfile.ZipFile) -> None:
    for name, file in list_source_files().items():
        assert wheel.read(name).count(b"\n") == file.read_bytes().count(b"\n"), name


def test_wheel_contains_command_entry_point_and_licence(wheel: zipfile.ZipFile) -> None:
    (described,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    assert "assayer = assayer.__main__:main" in wheel.read(described).decode()
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def test_description_for_the_index_has_no_relative_links(wheel: zipfile.ZipFile) -> None:
    (described,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    text = wheel.read(described).decode()
    assert "Description-Content-Type: text/markdown" in text
    assert "# assayer" in text
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if not link.startswith("https://")] == []
