"""Pages for operators and callers name only what there is: settings, figures, files, tests, imports."""

import ast
import importlib
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from cluster.cli.commands import LazyCommand
from cluster.cli.main import COMMANDS
from cluster.operator_settings import build_variable_name, list_setting_paths
from tests.unit.commands_and_pages import PAGES, ROOT
from tests.unit.metric_labels import collect_metric_labels

_PACKAGES = ("assayer", "cluster", "index", "orchestrator", "workers")
_CLIENT_VARIABLES = {"ASSAYER_CONFIG"}
_NO_METRICS = {
    "assayer_scaling",
    "assayer_dump",
    "assayer_schema",
    "assayer_postgres",
    "assayer_restored",
    "assayer_client",
    "assayer_research",
    "assayer_serving",
}


def iterate_pages() -> Iterator[tuple[str, Path, str]]:
    """Yield the name, the path and the text of every page."""
    for page in PAGES:
        yield page.relative_to(ROOT).as_posix(), page, page.read_text("utf-8")


def test_pages_name_only_settings_that_exist() -> None:
    known_variables = {*map(build_variable_name, list_setting_paths()), *_CLIENT_VARIABLES}
    faults = [
        (name, setting)
        for name, _, text in iterate_pages()
        for setting in re.findall(r"ASSAYER_[A-Z0-9_]+\b", text)
        if not setting.endswith("_")
        and setting not in known_variables
        and not any(k.startswith(f"{setting}_") for k in known_variables)
    ]
    assert faults == []


def test_links_lead_to_files_and_headings_that_exist() -> None:
    faults = []
    for name, page, text in iterate_pages():
        files = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
        faults += [(name, link) for link in files if not (page.parent / link).exists()]
        headings = re.findall(r"\]\(([^)#:\s]*\.md|)#([^)\s]+)\)", text)
        targets = [(page.parent / link if link else page, anchor) for link, anchor in headings]
        faults += [(name, anchor) for target, anchor in targets if anchor not in collect_anchors(target)]
    assert faults == []


def test_headings_named_in_deployment_files_exist() -> None:
    faults = [
        (file.name, f"{page}#{anchor}")
        for folder in ("deploy", "k8s")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".yaml", ".yml", ".sh", ".toml", ".env"}
        for page, anchor in re.findall(r"(docs/[\w/.-]+\.md)#([\w-]+)", file.read_text("utf-8"))
        if anchor not in collect_anchors(ROOT / page)
    ]
    assert faults == []


def test_pages_install_assayer_research_because_another_project_owns_the_name_assayer() -> None:
    assert [
        (name, line)
        for name, _, text in iterate_pages()
        for line in re.findall(r".*pip install .*'assayer(?![\w-]).*", text)
    ] == []


def collect_anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes from headings."""
    headings = re.findall(r"^#+ +(.+?) *$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_pages_name_only_commands_and_options_that_exist() -> None:
    faults = [
        (name, line)
        for name, _, text in iterate_pages()
        for line in find_commands(text)
        if find_unknown_words(shlex.split(line, comments=True))
    ]
    assert faults == []


def test_messages_name_only_commands_and_options_that_exist() -> None:
    """Check every string of the sources. Whatever stands in braces is filled in later."""
    faults = []
    for package in _PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            texts = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Constant)]
            strings = "\n".join(text.value for text in texts if isinstance(text.value, str))
            faults += [(file.name, line) for line in find_commands(strings) if find_unknown_words(line.split())]
    assert faults == []


def find_commands(text: str) -> list[str]:
    """Return the `assayer` commands of a text, each up to its end."""
    names = "|".join(command.name or "" for command in COMMANDS)
    matches = re.findall(rf"(?<![\w/.-])(?:\S*/)?assayer ((?:{names})\b[^`\n|&)\"']*)", text)
    return [re.split(r"[.,;:](?:\s|$)", line)[0] for line in matches]


def find_unknown_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command that are options the program does not know, or names its group does not contain."""
    first = command = get_command(words[0])
    remaining_words = list(words[1:])
    while (
        (subcommands := getattr(command, "commands", None))
        and remaining_words
        and re.fullmatch(r"[a-z][a-z0-9-]*", remaining_words[0])
    ):
        if remaining_words[0] not in subcommands:  # deeper down it may be the next word of a sentence
            return remaining_words[:1] if command is first else []
        command, remaining_words = load_command(subcommands[remaining_words[0]]), remaining_words[1:]
    known_options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return [
        word
        for word in remaining_words
        if word.startswith("--") and word.partition("=")[0] not in {*known_options, "--help"}
    ]


@cache
def get_command(name: str) -> Any:
    return next(command for command in COMMANDS if command.name == name).load_command()


def load_command(command: Any) -> Any:
    return command.load_command() if isinstance(command, LazyCommand) else command


def test_pages_name_only_metrics_that_exist() -> None:
    known_metrics = {
        *collect_metric_labels(),
        *(name.removesuffix("_count") for name in collect_metric_labels()),
        *_NO_METRICS,
    }
    faults = [
        (name, metric)
        for name, _, text in iterate_pages()
        for metric in re.findall(r"\bassayer_[a-z0-9_]+\b", text)
        if metric not in known_metrics
    ]
    assert faults == []


def test_pages_name_only_tests_that_exist() -> None:
    test_sources = "".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    faults = []
    for name, _, text in iterate_pages():
        faults += [(name, path) for path in re.findall(r"tests/[\w/]+\.py", text) if not (ROOT / path).is_file()]
        faults += [(name, test) for test in re.findall(r"`(test_\w+)`", text) if f"def {test}(" not in test_sources]
    assert faults == []


def test_code_examples_import_only_existing_names() -> None:
    line = re.compile(r"^from ((?:assayer_client|assayer|cluster|index|orchestrator|workers)[\w.]*) import (.+)$", re.M)
    imports = [(page, module, names) for page, _, text in iterate_pages() for module, names in line.findall(text)]
    assert ("docs/use/rewards.md", "assayer_client.trainers", "ServiceRewards, trl_reward") in imports
    faults = [
        (page, module, name)
        for page, module, names in imports
        for name in names.split(", ")
        if not hasattr(importlib.import_module(module), name)
    ]
    assert faults == []
