"""Pages for operators and callers name only what there is: settings, figures, files, tests."""

import re
from pathlib import Path

import pytest

from cluster.settings import Settings, _names
from tests.unit.test_deploy_figures import told

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "operations").glob("*.md")])
_CLIENTS_OWN = {"ASSAYER_CONFIG"}


@pytest.fixture(params=PAGES, ids=lambda page: page.stem)
def page(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def test_every_setting_is_one(page: Path) -> None:
    known = {*_names(Settings, "ASSAYER_"), *_CLIENTS_OWN}
    named = {name for name in re.findall(r"ASSAYER_[A-Z0-9_]+\b", page.read_text("utf-8")) if not name.endswith("_")}
    assert not {name for name in named - known if not any(one.startswith(f"{name}_") for one in known)}


def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


def test_every_figure_is_told(page: Path) -> None:
    text = re.sub(r"assayer_(?:schema|postgres|restored)\b", "", page.read_text("utf-8"))
    known = {*told(), *(name.removesuffix("_count") for name in told())}
    assert set(re.findall(r"\bassayer_[a-z0-9_]+\b", text)) <= known


def test_every_test_named_is_there(page: Path) -> None:
    for path in re.findall(r"tests/[\w/]+\.py", page.read_text("utf-8")):
        assert (ROOT / path).is_file()
    named = re.findall(r"`(test_\w+)`", page.read_text("utf-8"))
    written = "".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert not [name for name in named if f"def {name}(" not in written]
