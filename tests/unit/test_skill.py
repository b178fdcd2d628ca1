"""The skill for coding agents: its head as the specification wants it, and only commands that the program accepts."""

import io
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from tests.unit.commands_and_pages import COMMAND_BY_PATH

FOLDER = Path(__file__).parents[2] / "skills" / "assayer"
TEXT = (FOLDER / "SKILL.md").read_text("utf-8")
COMMANDS = sorted({*re.findall(r"`assayer ([^`]+)`", TEXT), *re.findall(r"^\$ assayer (.+)$", TEXT, re.MULTILINE)})


def test_head_names_the_folder_and_says_when_to_use_it() -> None:
    _, head, body = TEXT.split("---\n", 2)
    fields = yaml.safe_load(head)
    assert fields["name"] == FOLDER.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert "Use it to" in fields["description"]
    assert len(fields["description"]) <= 1024
    assert len(fields["compatibility"]) <= 500
    assert len(body.splitlines()) < 100


def test_commands_are_found() -> None:
    assert len(COMMANDS) >= 10


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_accepted(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"A plan.")))
    words = shlex.split(command)
    depth = 2 if " ".join(words[:2]) in COMMAND_BY_PATH else 1
    with COMMAND_BY_PATH[" ".join(words[:depth])].make_context(" ".join(words[:depth]), words[depth:]):
        pass
