"""The wheel of assayer, and a virtual environment in which it is installed."""

import shutil
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

from tests.e2e.program import ROOT, run_process

MOVED = ("assayer_client", "cluster", "index", "orchestrator", "workers")
"""Packages that the wheel has below `assayer._engine`."""
EXAMPLES = ("corpus.jsonl", "ideas/quote-then-abstain.md")
"""Files of `assayer example`."""
_FOLDERS = {"assayer": "assayer", **{name: name for name in MOVED}, "assayer_client": "client/assayer_client"}


def list_source_files() -> dict[str, Path]:
    """Return the files of all packages, by their path in the wheel."""
    files = {}
    for name, folder in _FOLDERS.items():
        place = f"assayer/_engine/{name}" if name in MOVED else name
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                files[f"{place}/{file.relative_to(ROOT / folder).as_posix()}"] = file
    return files | {f"assayer/_engine/examples/{name}": ROOT / "examples" / name for name in EXAMPLES}


def build_wheel(folder: Path) -> None:
    """Build the wheel of this checkout in a folder, from a copy, without fetching anything."""
    source = folder / "source"
    for path in (*_FOLDERS.values(), "examples"):
        shutil.copytree(ROOT / path, source / path, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = ("pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder, source)
    run(sys.executable, "-m", *build)
    shutil.rmtree(source)


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Install the wheel in a fresh virtual environment, and return its site-packages.

    Its dependencies are those that the tests run with. Their folder comes last on the path and its `.pth` files have no
    effect, so a checkout that is installed there cannot be imported."""
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    run(sys.executable, "-m", "pip", "--python", folder, "install", "--no-deps", "--no-index", wheel)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return packages


def run(*command: object, **options: Any) -> str:
    """Run a command, which must succeed, and return its standard output."""
    result = run_process(command, **options)
    assert result.code == 0, result.out + result.err
    return result.out
