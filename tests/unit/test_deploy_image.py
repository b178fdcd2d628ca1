"""The image: every package and extra of the project is in it."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def test_image_has_all_packages_and_extras_that_exist() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = set(project["project"]["optional-dependencies"]) - {"dev", "rl"}  # policies are trained elsewhere
    (named,) = re.findall(r'(?m)^extras="(.+)"$', (DEPLOY / "lock.sh").read_text("utf-8"))
    assert set(named.split()) == extras
    found = project["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = {one.removesuffix("*") for one in found} | {"client"}
    assert set(re.findall(r"^COPY (\w+) \1$", text, re.M)) == packages
    for copied in re.findall(r"^COPY (.+) \./$", text, re.M)[0].split():
        assert (ROOT / copied).is_file()
