"""The image: every package and extra of the project is in it, in both variants, and no more than that."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
TEXT = (DEPLOY / "Dockerfile").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
VARIANTS = ("cpu", "cuda")
STAGES = {
    name or "image": (base, body)
    for base, name, body in re.findall(r"(?ms)^FROM (\S+)(?: AS (\S+))?\n(.*?)(?=^FROM |\Z)", TEXT)
}
"""Base image and steps of each stage."""


def list_stages(stage: str, variant: str) -> list[str]:
    """Return the stage and those it is based on; the last one is an external image."""
    if stage not in STAGES:
        return [stage]
    return [stage, *list_stages(STAGES[stage][0].replace("${VARIANT}", variant), variant)]


def test_image_has_all_packages_and_extras_that_exist() -> None:
    # Policies are trained, documents built, tables read and Inspect's tasks run elsewhere; local and gpu are models
    # with one of FAISS's builds, which the variants have.
    extras = set(PROJECT["project"]["optional-dependencies"]) - {
        "dev",
        "docs",
        "inspect",
        "rl",
        "local",
        "local-llm",
        "gpu",
        "pandas",
    }
    (extras_line,) = re.findall(r'(?m)^extras="(.+)"$', (DEPLOY / "lock.sh").read_text("utf-8"))
    assert set(extras_line.split()) == extras
    package_patterns = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = {item.removesuffix("*") for item in package_patterns} | {"client"}
    assert set(re.findall(r"^COPY (\w+) \1$", STAGES["packages"][1], re.M)) == packages
    for copied_path in re.findall(r"^COPY (.+) \./$", TEXT, re.M):
        assert all((ROOT / part).is_file() for part in copied_path.split())


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_uses_its_own_stages_on_a_pinned_base_image(variant: str) -> None:
    for stage in ("packages", "image"):
        *own_stages, (base) = list_stages(stage, variant)
        assert re.fullmatch(r"python:3\.13-slim-\w+", base)
        assert any(item.endswith(f"-{variant}") for item in own_stages)
    other_variants = {item for item in VARIANTS if item != variant}
    assert not [item for item in list_stages("packages", variant) if item.rpartition("-")[2] in other_variants]


def test_every_stage_is_used() -> None:
    used_stages = {
        stage for variant in VARIANTS for name in ("packages", "image") for stage in list_stages(name, variant)
    }
    assert STAGES.keys() <= used_stages


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_installs_only_locked_packages(variant: str) -> None:
    assert (
        STAGES["environment"][1].count("--no-deps --require-hashes -r requirements-torch.lock -r requirements.lock")
        == 1
    )
    assert f"--no-deps --require-hashes -r requirements-{variant}.lock" in STAGES[f"packages-{variant}"][1]
    assert "pip install --no-cache-dir --no-deps --no-build-isolation . && pip check" in STAGES["packages"][1]
    for text in (TEXT, (DEPLOY / "llm" / "Dockerfile").read_text("utf-8")):
        for line in re.findall(r"pip install .*", text):
            assert "--require-hashes" in line or "--no-build-isolation" in line, line


def test_every_image_of_ours_that_a_manifest_names_has_a_recipe() -> None:
    texts = [file.read_text("utf-8") for folder in ("k8s", "deploy") for file in (ROOT / folder).rglob("*.yaml")]
    recipes = {"assayer": DEPLOY / "Dockerfile", "assayer-llm": DEPLOY / "llm" / "Dockerfile"}
    images = {name for text in texts for name in re.findall(r"image: ([\w.-]+)(?=:|\s|$)", text) if "assayer" in name}
    assert images == recipes.keys()
    for name, recipe in recipes.items():
        assert f"-t {name}:" in recipe.read_text("utf-8")


def test_model_image_runs_as_the_user_of_its_manifest() -> None:
    text = (DEPLOY / "llm" / "Dockerfile").read_text("utf-8")
    model = (ROOT / "k8s" / "llm" / "model.yaml").read_text("utf-8")
    assert re.findall(r"useradd --uid (\d+)", text) == re.findall(r"runAsUser: (\d+)", model) == ["1000"]
    assert re.findall(r"(?m)^USER (\w+)$", text) == ["llm"]


def test_image_contains_only_installed_packages_and_runs_as_unprivileged_user() -> None:
    base, steps = STAGES["image"]
    assert base == "system-${VARIANT}"
    assert re.findall(r"(?m)^COPY .*$", steps) == ["COPY --from=packages /opt/assayer /opt/assayer"]
    assert re.findall(r"(?m)^USER (\w+)$", steps) == ["assayer"]
    assert "useradd --uid 10001" in STAGES["system-cpu"][1]


def test_image_bounds_the_number_of_glibcs_memory_pools() -> None:
    """glibc gives each thread a pool by default, up to eight per core, each of which keeps what is freed in it."""
    assert re.findall(r"(?m)^ENV MALLOC_ARENA_MAX=(\d+)$", STAGES["image"][1]) == ["2"]
