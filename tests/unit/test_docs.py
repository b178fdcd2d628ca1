"""Pages for operators and callers name only what there is: settings, figures, files, tests."""

import ast
import re
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cluster.cli.main import COMMANDS
from cluster.settings import Settings
from cluster.settings_loading import variable_names
from tests.unit.test_deploy_figures import told

ROOT = Path(__file__).parents[2]
_FOLDERS = ("docs", "examples", "benchmarks")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in _FOLDERS for page in (ROOT / folder).rglob("*.md"))])
_CLIENTS_OWN = {"ASSAYER_CONFIG"}


@pytest.fixture(params=PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def page(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def test_every_setting_is_one(page: Path) -> None:
    known = {*variable_names(Settings, "ASSAYER_"), *_CLIENTS_OWN}
    named = {name for name in re.findall(r"ASSAYER_[A-Z0-9_]+\b", page.read_text("utf-8")) if not name.endswith("_")}
    assert not {name for name in named - known if not any(one.startswith(f"{name}_") for one in known)}


def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


def test_every_link_to_a_heading_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]*\.md|)#([^)\s]+)\)", page.read_text("utf-8"))
    assert not [link for link, anchor in links if anchor not in _anchors(page.parent / link if link else page)]


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ +(.+?) *$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_command_and_option_is_one(page: Path) -> None:
    assert not [line for line in _commands(page.read_text("utf-8")) if _unknown(shlex.split(line, comments=True))]


@pytest.mark.parametrize("package", ["assayer", "cluster", "index", "orchestrator", "workers"])
def test_every_command_that_a_message_names_is_one(package: str) -> None:
    """Whatever stands in braces is filled in later."""
    for file in (ROOT / package).rglob("*.py"):
        texts = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Constant)]
        said = "\n".join(text.value for text in texts if isinstance(text.value, str))
        assert not [line for line in _commands(said) if _unknown(line.split())], file


def _commands(text: str) -> list[str]:
    """From `assayer COMMAND` to the end of the command."""
    names = "|".join(one.name or "" for one in COMMANDS)
    found = re.findall(rf"(?<![\w/.-])(?:\S*/)?assayer ((?:{names})\b[^`\n|&)\"']*)", text)
    return [re.split(r"[.,;:](?:\s|$)", line)[0] for line in found]


def _unknown(words: Sequence[str]) -> list[str]:
    """Of the words of a command: options that the program does not know, and names that its group does not hold."""
    first = command = _command(words[0])
    rest = list(words[1:])
    while (held := getattr(command, "commands", None)) and rest and re.fullmatch(r"[a-z][a-z0-9-]*", rest[0]):
        if rest[0] not in held:  # deeper down it may be the next word of a sentence
            return rest[:1] if command is first else []
        command, rest = held[rest[0]], rest[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return [word for word in rest if word.startswith("--") and word.partition("=")[0] not in {*known, "--help"}]


@cache
def _command(name: str) -> Any:
    return next(one for one in COMMANDS if one.name == name).command()


def test_every_figure_is_told(page: Path) -> None:
    text = re.sub(r"assayer_(?:schema|postgres|restored|client)\b", "", page.read_text("utf-8"))
    known = {*told(), *(name.removesuffix("_count") for name in told())}
    assert set(re.findall(r"\bassayer_[a-z0-9_]+\b", text)) <= known


def test_every_test_named_is_there(page: Path) -> None:
    for path in re.findall(r"tests/[\w/]+\.py", page.read_text("utf-8")):
        assert (ROOT / path).is_file()
    named = re.findall(r"`(test_\w+)`", page.read_text("utf-8"))
    written = "".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert not [name for name in named if f"def {name}(" not in written]
