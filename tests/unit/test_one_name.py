"""One name for one thing wherever people read: who evaluates is the program; what reviewers say are opinions."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [one for one in (files("orchestrator.console") / "templates").iterdir() if one.name.endswith(".html")]


@pytest.mark.parametrize("page", PAGES, ids=lambda one: one.name)
def test_pages_call_the_evaluator_the_program_and_what_reviewers_say_opinions(page: Path) -> None:
    words = page.read_text("utf-8").lower()
    for other in ("the machine", "machine's", "machine’s", "what reviewers think", "all opinions", "what people think"):
        assert other not in words
    assert "us$" not in words


def test_so_does_the_description_of_the_api() -> None:
    described = json.dumps(json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8")))
    assert "the machine's" not in described
    assert "the machine thinks" not in described
