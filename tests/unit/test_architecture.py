"""The map shows the house: every file and folder that it names is there, and every room is on it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "docs" / "architecture.md").read_text("utf-8")
ROOMS = ("assayer", "workers", "index", "orchestrator", "cluster")


@pytest.mark.parametrize("path", sorted(set(re.findall(rf"(?:{'|'.join(ROOMS)})/[\w/.]+", MAP))))
def test_every_path_on_the_map_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("room", ROOMS)
def test_every_folder_is_on_the_map(room: str) -> None:
    folders = {
        path.parent.relative_to(ROOT / room).parts[0]
        for path in (ROOT / room).rglob("*.py")
        if path.parent != ROOT / room
    }
    named = {folder for folder in folders if f"`{room}/{folder}/`" in MAP or f"`{folder}/`" in MAP}
    assert folders - named == set()
