"""Find the browser for tests of pages; `make browser` installs it.

As a program, this module needs only the standard library, so that it can run before other packages are installed.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEADLESS = "chromium-headless-shell"
"""Chromium without windows, tabs and menus: starts in half the processor time, and installs without a desktop."""
NAMES = (HEADLESS, "chromium", "chromium-browser", "google-chrome")
NPM_PACKAGE = "@sparticuz/chromium@153.0.0"
"""Chromium without a need for root: an executable with its libraries and one font, packed with Brotli."""
FOLDER = Path(__file__).parents[1] / "build" / "chromium"
ADVICE = (
    "Run `make browser`, which installs one, or name one that is there already: CHROMIUM=/path/to/chromium make test."
)
_UNPACK = """
const [folder, ...names] = process.argv.slice(1), fs = require("fs"), zlib = require("zlib");
for (const name of names) fs.writeFileSync(`${folder}/${name}`,
    zlib.brotliDecompressSync(fs.readFileSync(`${folder}/package/bin/${name}.br`)));
"""
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{folder}/fonts</dir><cachedir>{folder}/fonts-cache</cachedir></fontconfig>
"""
_WRAPPER = """#!/bin/sh
LD_LIBRARY_PATH="{folder}/lib" FONTCONFIG_FILE="{folder}/fonts.conf" exec "{folder}/chromium.bin" "$@"
"""


def executable() -> Path:
    """Return the path of the browser. Raises FileNotFoundError with advice if there is none, because tests of pages are
    never skipped."""
    path = next(_candidates(), None)
    if path is None:
        raise FileNotFoundError(f"There is no Chromium on this machine. {ADVICE}")
    return path


def launch_options() -> dict[str, Any]:
    """Return launch options for Playwright; as root the sandbox is off, because Chromium refuses to start it."""
    return {"executable_path": executable(), "chromium_sandbox": os.geteuid() != 0}


def _candidates() -> Iterator[Path]:
    if configured := os.environ.get("CHROMIUM"):
        yield Path(configured)
        return
    if (FOLDER / "chromium").is_file():
        yield FOLDER / "chromium"
    yield from (Path(on_path) for name in NAMES if (on_path := shutil.which(name)))


def install() -> None:
    """Install the browser from Debian's packages if possible, otherwise from npm's into `build/`.

    Raises CalledProcessError if the package manager fails, and FileNotFoundError if there is none."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        try:
            _install_from_debian()
        except subprocess.CalledProcessError as error:
            print(f"{error} Trying npm's package instead.", file=sys.stderr)
        else:
            return
    if not (shutil.which("npm") and shutil.which("node")):
        raise FileNotFoundError(
            "Chromium can be installed by apt-get as root, or by npm. Neither is there. Install it by other means, and "
            "name it: CHROMIUM=/path/to/chromium make test."
        )
    _install_from_npm()


def _install_from_debian() -> None:
    install = ("install", "-qq", "--no-install-recommends")
    _apt_get("update", "-qq")
    try:
        _apt_get(*install, HEADLESS)
    except subprocess.CalledProcessError:  # older releases have none
        _apt_get(*install, "chromium")


def _apt_get(*arguments: str) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", *arguments], check=True, env=environment, stdout=subprocess.DEVNULL)


def _install_from_npm() -> None:
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER.parent) as temporary:
        download_folder, extracted_folder = Path(temporary, "downloaded"), Path(temporary, "made")
        download_folder.mkdir()
        extracted_folder.mkdir()
        subprocess.run(
            ["npm", "pack", "--silent", NPM_PACKAGE], check=True, cwd=download_folder, stdout=subprocess.DEVNULL
        )
        _extract(next(download_folder.glob("*.tgz")), download_folder)
        archives = ("al2023.tar", "swiftshader.tar", "fonts.tar")
        subprocess.run(["node", "-e", _UNPACK, str(download_folder), "chromium", *archives], check=True)
        for archive in archives:
            _extract(download_folder / archive, extracted_folder)
        (download_folder / "chromium").rename(extracted_folder / "chromium.bin")
        (extracted_folder / "chromium").write_text(_WRAPPER.format(folder=FOLDER), encoding="utf-8")
        (extracted_folder / "fonts.conf").write_text(_FONTS.format(folder=FOLDER), encoding="utf-8")
        for name in ("chromium", "chromium.bin"):
            (extracted_folder / name).chmod(0o755)
        shutil.rmtree(FOLDER, ignore_errors=True)
        extracted_folder.rename(FOLDER)


def _extract(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")


def main() -> None:
    if next(_candidates(), None) is None:
        install()
    print(f"The tests of pages use {executable()}.")


if __name__ == "__main__":
    main()
