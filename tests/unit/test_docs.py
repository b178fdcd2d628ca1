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
from tests.unit.metric_labels import metric_labels

_PACKAGES = ("assayer", "cluster", "index", "orchestrator", "workers")
_CLIENTS_OWN = {"ASSAYER_CONFIG"}
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


def _pages() -> Iterator[tuple[str, Path, str]]:
    """Yield the name, the path and the text of every page."""
    for page in PAGES:
        yield page.relative_to(ROOT).as_posix(), page, page.read_text("utf-8")


def test_pages_name_only_settings_that_exist() -> None:
    known = {*map(build_variable_name, list_setting_paths()), *_CLIENTS_OWN}
    faults = [
        (name, setting)
        for name, _, text in _pages()
        for setting in re.findall(r"ASSAYER_[A-Z0-9_]+\b", text)
        if not setting.endswith("_") and setting not in known and not any(k.startswith(f"{setting}_") for k in known)
    ]
    assert faults == []


def test_links_lead_to_files_and_headings_that_exist() -> None:
    faults = []
    for name, page, text in _pages():
        files = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
        faults += [(name, link) for link in files if not (page.parent / link).exists()]
        headings = re.findall(r"\]\(([^)#:\s]*\.md|)#([^)\s]+)\)", text)
        targets = [(page.parent / link if link else page, anchor) for link, anchor in headings]
        faults += [(name, anchor) for target, anchor in targets if anchor not in _anchors(target)]
    assert faults == []


def test_headings_named_in_deployment_files_exist() -> None:
    faults = [
        (file.name, f"{page}#{anchor}")
        for folder in ("deploy", "k8s")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".yaml", ".yml", ".sh", ".toml", ".env"}
        for page, anchor in re.findall(r"(docs/[\w/.-]+\.md)#([\w-]+)", file.read_text("utf-8"))
        if anchor not in _anchors(ROOT / page)
    ]
    assert faults == []


def test_pages_install_assayer_research_because_another_project_owns_the_name_assayer() -> None:
    assert [
        (name, line) for name, _, text in _pages() for line in re.findall(r".*pip install .*'assayer(?![\w-]).*", text)
    ] == []


def _anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub makes from headings."""
    headings = re.findall(r"^#+ +(.+?) *$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_pages_name_only_commands_and_options_that_exist() -> None:
    faults = [
        (name, line)
        for name, _, text in _pages()
        for line in _commands(text)
        if _unknown(shlex.split(line, comments=True))
    ]
    assert faults == []


def test_messages_name_only_commands_and_options_that_exist() -> None:
    """Check every string of the sources. Whatever stands in braces is filled in later."""
    faults = []
    for package in _PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            texts = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Constant)]
            strings = "\n".join(text.value for text in texts if isinstance(text.value, str))
            faults += [(file.name, line) for line in _commands(strings) if _unknown(line.split())]
    assert faults == []


def _commands(text: str) -> list[str]:
    """From `assayer COMMAND` to the end of the command."""
    names = "|".join(command.name or "" for command in COMMANDS)
    found = re.findall(rf"(?<![\w/.-])(?:\S*/)?assayer ((?:{names})\b[^`\n|&)\"']*)", text)
    return [re.split(r"[.,;:](?:\s|$)", line)[0] for line in found]


def _unknown(words: Sequence[str]) -> list[str]:
    """Return the words of a command that are options the program does not know, or names its group does not contain."""
    first = command = _command(words[0])
    rest = list(words[1:])
    while (held := getattr(command, "commands", None)) and rest and re.fullmatch(r"[a-z][a-z0-9-]*", rest[0]):
        if rest[0] not in held:  # deeper down it may be the next word of a sentence
            return rest[:1] if command is first else []
        command, rest = _actual(held[rest[0]]), rest[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return [word for word in rest if word.startswith("--") and word.partition("=")[0] not in {*known, "--help"}]


@cache
def _command(name: str) -> Any:
    return next(command for command in COMMANDS if command.name == name).load_command()


def _actual(command: Any) -> Any:
    return command.load_command() if isinstance(command, LazyCommand) else command


def test_pages_name_only_metrics_that_exist() -> None:
    known = {*metric_labels(), *(name.removesuffix("_count") for name in metric_labels()), *_NO_METRICS}
    faults = [
        (name, metric)
        for name, _, text in _pages()
        for metric in re.findall(r"\bassayer_[a-z0-9_]+\b", text)
        if metric not in known
    ]
    assert faults == []


def test_pages_name_only_tests_that_exist() -> None:
    written = "".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    faults = []
    for name, _, text in _pages():
        faults += [(name, path) for path in re.findall(r"tests/[\w/]+\.py", text) if not (ROOT / path).is_file()]
        faults += [(name, test) for test in re.findall(r"`(test_\w+)`", text) if f"def {test}(" not in written]
    assert faults == []


def test_code_examples_import_only_existing_names() -> None:
    line = re.compile(r"^from ((?:assayer_client|assayer|cluster|index|orchestrator|workers)[\w.]*) import (.+)$", re.M)
    found = [(page, module, names) for page, _, text in _pages() for module, names in line.findall(text)]
    assert ("docs/use/rewards.md", "assayer_client.trainers", "ServiceRewards, trl_reward") in found
    faults = [
        (page, module, name)
        for page, module, names in found
        for name in names.split(", ")
        if not hasattr(importlib.import_module(module), name)
    ]
    assert faults == []
