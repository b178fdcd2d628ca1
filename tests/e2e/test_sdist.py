"""The source archives of both distributions: all files under version control, and nothing else of a working tree."""

import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from tests.e2e.program import ROOT
from tests.e2e.wheel import run

WRITTEN_BY_SETUPTOOLS = {"PKG-INFO", "setup.cfg"}
LEFT_OUT = {".dockerignore", ".gitignore"}
"""Files under version control that serve the repository only."""
OF_PACKAGES = {"LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py"}
"""Files that setuptools adds on its own, beside the packages."""
PACKAGES = {"assayer", "cluster", "index", "orchestrator", "workers"}
LITTER = (
    "shared/papers.jsonl",
    "build/lib/assayer/models/old.py",
    "dist/old.whl",
    "out/report.json",
    "site/index.html",
    ".venv/lib/module.py",
    ".pytest_cache/README.md",
    ".hypothesis/unicode_data.txt",
    ".mypy_cache/cache.json",
    ".git/config",
    "docs/build.log",
    "tests/unit/__pycache__/test_docs.cpython-312.pyc",
    "client/assayer_client/__pycache__/errors.cpython-312.pyc",
    "deploy/assayer.env",
)
"""Files that lie in a working tree that was used; the last holds keys."""


def _list_tracked_files() -> set[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("This is not a clone: nothing says which files are under version control.")
    return {name for name in run("git", "ls-files", "-z", cwd=ROOT).split("\0") if name and (ROOT / name).exists()}


def test_manifest_names_every_entry_of_the_repository() -> None:
    lines = [line.split() for line in (ROOT / "MANIFEST.in").read_text("utf-8").splitlines()]
    named_entries = {name for command, *names in lines if command in ("include", "graft") for name in names}
    entries = {name.partition("/")[0] for name in _list_tracked_files()}
    assert entries - LEFT_OUT == named_entries | OF_PACKAGES | PACKAGES


@pytest.mark.slow  # copies and packs 2,600 files
def test_archives_hold_the_files_under_version_control_and_no_others(tmp_path: Path) -> None:
    tracked, source = _list_tracked_files(), tmp_path / "source"
    for name in tracked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    for name in LITTER:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("KEY=secret\n")
    inside = _build_sdist_files(source, tmp_path / "dist")
    assert inside - WRITTEN_BY_SETUPTOOLS == tracked - LEFT_OUT
    client = {name.removeprefix("client/") for name in tracked if name.startswith("client/")}
    assert _build_sdist_files(source / "client", tmp_path / "client") - WRITTEN_BY_SETUPTOOLS == client
    assert (ROOT / "client" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def _build_sdist_files(project: Path, target: Path) -> set[str]:
    """Return the files in the source archive of a project, without its metadata."""
    program = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    target.mkdir()
    run(sys.executable, "-c", program, target, cwd=project)
    (archive,) = target.glob("*.tar.gz")
    with tarfile.open(archive) as opened_archive:
        names = {member.name.partition("/")[2] for member in opened_archive if member.isfile()}
    return {name for name in names if ".egg-info/" not in name}
