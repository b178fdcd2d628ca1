"""Properties of every command: an example in its help that it accepts, and the options that all share."""

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cluster.cli.examples import EXAMPLES
from cluster.cli.main import app
from cluster.cli.standard_input import read_from_standard_input
from tests.fork_server import PROGRAM
from tests.unit.commands_and_pages import COMMAND_BY_PATH


def test_every_command_has_an_example_and_no_example_lacks_its_command() -> None:
    assert set(EXAMPLES) == set(COMMAND_BY_PATH)
    assert [
        path for path, command in COMMAND_BY_PATH.items() if command.epilog != f"Example: assayer {EXAMPLES[path]}"
    ] == []


@pytest.mark.parametrize("path", COMMAND_BY_PATH)
def test_example_is_accepted_by_its_command(path: str) -> None:
    words = shlex.split(EXAMPLES[path])
    depth = len(path.split())
    assert words[:depth] == path.split()
    with COMMAND_BY_PATH[path].make_context(path, words[depth:]):
        pass


def test_help_lists_every_command_in_a_group() -> None:
    help_text = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"}).stdout
    panels = [line.split("─ ")[1].split(" ─")[0] for line in help_text.splitlines() if line.startswith("╭─ ")]
    assert panels == [
        "Options",
        "Start here",
        "Judge ideas",
        "Prepare papers, ideas and models",
        "Use and run a service",
    ]


def test_invalid_choice_is_reported_with_the_valid_choices() -> None:
    result = CliRunner().invoke(app, ["evaluate", "idea.md", "--format", "md,html"], env={"COLUMNS": "200"})
    assert (result.exit_code, "'md,html' is not one of 'html', 'md', 'json'" in result.stderr) == (2, True)
    assert "Value error" not in result.stderr


@pytest.mark.parametrize("name", ["submit", "watch", "fetch", "list", "keys", "tenants", "audit-log", "review"])
def test_commands_of_a_service_are_not_at_the_top(name: str) -> None:
    assert CliRunner().invoke(app, [name, "--help"]).exit_code == 2


def test_commands_that_print_data_can_print_json() -> None:
    commands_without_json = {
        path for path, command in COMMAND_BY_PATH.items() if "--json" not in {o for p in command.params for o in p.opts}
    }
    assert commands_without_json == {"serve", "mcp"}, "they run until they are stopped"


def test_options_for_the_model_are_offered_only_where_they_have_an_effect() -> None:
    options = {
        path: {name for item in command.params for name in item.opts} for path, command in COMMAND_BY_PATH.items()
    }
    commands_with_model = {"evaluate", "example", "rank", "score", "reward", "bias-test", "curate", "propose"}
    assert {path for path, names in options.items() if "--local-model" in names} == commands_with_model
    assert {path for path, names in options.items() if "--model" in names} == {*commands_with_model, "doctor", "mcp"}
    assert [path for path, names in options.items() if path[:6] in ("batch ", "admin ") and "--profile" in names] == []


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (b"# An idea\n\nWords.", ".md"),
        (b'{"title": "a", "text": "b"}', ".jsonl"),
        (b'{"title": "a"}\n{"title": "b"}\n', ".jsonl"),
        (b'[\n {"title": "a"}\n]\n', ".json"),
        (b"%PDF-1.7\n", ".pdf"),
    ],
)
def test_standard_input_becomes_a_file_of_its_kind(
    content: bytes, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with COMMAND_BY_PATH["evaluate"].make_context("evaluate", ["idea.md"]) as context:
        file = read_from_standard_input(context, Path("-"))
        assert (file.suffix, file.read_bytes()) == (ending, content)
    assert not file.exists()


def test_read_takes_an_idea_from_standard_input_and_prints_one_document() -> None:
    text = b"# Rehearsal\n\n" + b"We rehearse stored examples that a network will forget next. " * 5
    completed = subprocess.run(
        [PROGRAM, "read", "-", "--json"], input=text, capture_output=True, check=True, timeout=60
    )
    (idea,) = json.loads(completed.stdout)
    assert (Path(idea["source"]).name, "We rehearse" in idea["text"]) == ("stdin.md", True)


def test_shell_completes_commands_and_options() -> None:
    def complete(words: str) -> list[str]:
        environment = os.environ | {
            "_ASSAYER_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
        process = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=60)
        return process.stdout.split()

    assert complete("assayer bat") == ["batch"]
    assert complete("assayer batch su") == ["submit"]
    assert "--criteria" in complete("assayer batch submit --cri")
