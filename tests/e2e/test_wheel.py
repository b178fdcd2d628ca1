"""The built wheel holds everything that the checkout holds: prompts, templates, profiles, migrations."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import ROOT
from tests.polling import LONGEST_SECONDS

pytest.importorskip("setuptools", minversion="77", reason="the wheel is built without fetching a build backend")
PACKAGES = ("assayer", "cluster", "index", "orchestrator", "workers")


def _files(root: Path) -> set[str]:
    found = (file for package in PACKAGES for file in (root / package).rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix() for file in found if "__pycache__" not in file.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
    ended = subprocess.run(
        [*command, "--wheel-dir", str(built), str(source)],
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_SECONDS,
    )
    assert ended.returncode == 0, ended.stderr
    (file,) = built.glob("*.whl")
    with zipfile.ZipFile(file) as opened:
        yield opened


def test_wheel_holds_every_file_of_its_packages(wheel: zipfile.ZipFile) -> None:
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == _files(ROOT)
    for part in (
        "scholareval/prompts/system.md",
        "templates/report.html",
        "profiles/laptop.toml",
        "migrations/v0001_baseline.sql",
    ):
        assert any(name.endswith(part) for name in inside)


def test_wheel_contains_command_entry_point_and_licence(wheel: zipfile.ZipFile) -> None:
    (described,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    assert "assayer = cluster.cli.main:main" in wheel.read(described).decode()
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())
