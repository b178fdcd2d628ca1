"""Every code block of every page is checked: commands against the program, the Makefile, the files of the repository
and the routes of the API; Python, JSON, TOML and units by what reads them. Blocks of `text` show output or a diagram.

`tests/e2e/test_python.py` also runs the blocks of docs/use/python.md and the README."""

import ast
import configparser
import importlib.util
import io
import json
import re
import shlex
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from assayer.methods.criteria_file import load_criteria
from assayer.methods.debate.composition import load_compositions
from cluster.operator_settings import build_variable_name, list_setting_paths
from tests.unit.commands_and_pages import COMMAND_BY_PATH, PAGES, ROOT
from workers.policy_training.plan_reading import read_policy_training

OTHER_PROGRAMS = {
    "createdb": "PostgreSQL's own",
    "inspect": "Inspect AI's own; tests/e2e/test_inspect.py runs its task",
    "jq": "a filter of the reader's choice",
    "journalctl": "systemd's own",
    "openssl": "a random password",
    "pg_dump": "PostgreSQL's own",
    "pg_restore": "PostgreSQL's own",
    "source": "the shell's own",
    "systemctl": "systemd's own",
    "uvx": "tools of others for a bill of materials and an audit",
    "grep": "a filter",
    "head": "a filter",
}
"""Commands that are not checked, with the reason."""
MIN_BLOCK_COUNTS = {"console": 60, "bash": 16, "python": 9, "text": 7, "json": 4, "toml": 4, "ini": 1}
"""Least number of blocks of each language, so that a pattern that finds none is noticed."""
_BLOCK = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_PYTHONS = {"python", "python3", "gpu/bin/python", ".venv/bin/python"}
_PIPS = {"pip", ".venv/bin/pip", "gpu/bin/pip"}
_OPENAPI = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))["paths"]


class Block(NamedTuple):
    page: str
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Command lines, with their continuations."""
        text, is_shell = re.sub(r"\\\n", " ", self.text), self.language == "bash"
        commands = list[str]()
        for line in (remove_here_documents(text) if is_shell else text).splitlines():
            if commands and _is_open(commands[-1]):
                commands[-1] += f"\n{line}"
            elif is_shell and line.strip():
                commands.append(line)
            elif line.startswith("$ "):
                commands.append(line[2:])
        return commands


def _is_open(line: str) -> bool:
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return True
    return False


def remove_here_documents(text: str) -> str:
    return re.sub(r"<<'(\w+)'\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def iterate_blocks() -> Iterator[Block]:
    for page in PAGES:
        for _, language, text in _BLOCK.findall(page.read_text("utf-8")):
            yield Block(page.relative_to(ROOT).as_posix(), language.strip(), text)


BLOCKS = list(iterate_blocks())


def list_block_parameters(language: str) -> list[object]:
    blocks = [block for block in BLOCKS if block.language == language]
    places = Counter[str]()
    parameters = list[object]()
    for block in blocks:
        places[block.page] += 1
        parameters.append(pytest.param(block, id=f"{block.page}-{places[block.page]}"))
    return parameters


def test_every_block_names_a_language_that_is_checked() -> None:
    counts = Counter(block.language for block in BLOCKS)
    assert counts.keys() == MIN_BLOCK_COUNTS.keys()
    assert all(counts[language] >= min_count for language, min_count in MIN_BLOCK_COUNTS.items()), counts
    fences = sum(len(re.findall(r"^ *```", page.read_text("utf-8"), re.MULTILINE)) for page in PAGES)
    assert fences == 2 * len(BLOCKS)


def test_every_command_that_is_not_checked_is_still_in_use() -> None:
    used_programs = {words[0] for block in BLOCKS if block.language in {"console", "bash"} for words in _split(block)}
    assert OTHER_PROGRAMS.keys() - used_programs == set()


@pytest.mark.parametrize("block", [*list_block_parameters("console"), *list_block_parameters("bash")])
def test_commands_exist(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"A plan.")))
    assert _check_all(block)


def _split(block: Block) -> Iterator[list[str]]:
    """Yield the words of every command in a pipeline or list, without assignments and redirections."""
    for line in block.commands:
        lexer = shlex.shlex(line.replace("$(", " ( ").replace("\n", " "), posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        for is_separator, words in groupby(lexer, lambda word: not set(word) - set("();<>|&")):
            command = list(words)
            while command and re.fullmatch(r"[A-Z][A-Z0-9_]*=.*", command[0], re.DOTALL):
                command = check_assignment(command)
            if command and not is_separator:
                yield command


def check_assignment(command: Sequence[str]) -> list[str]:
    _check_variable(command[0])
    return list(command[1:])


def _check_variable(assignment: str) -> None:
    name = assignment.partition("=")[0]
    assert (
        not name.startswith("ASSAYER_")
        or name in map(build_variable_name, list_setting_paths())
        or name == "ASSAYER_HOME"
    ), name


def _check_all(block: Block) -> int:
    """Check the commands of a block; return their number."""
    commands = list(_split(block))
    for words in commands:
        _check(words)
    return len(commands)


def _check(words: list[str]) -> None:
    program, arguments = words[0], words[1:]
    if program in {"assayer", ".venv/bin/assayer"}:
        _check_assayer(arguments)
    elif program in _PYTHONS:
        _check_python(arguments)
    elif program in _PIPS or words[:3] == ["uv", "pip", "install"]:
        _check_extras(words)
    elif program in _CHECK_BY_PROGRAM:
        _CHECK_BY_PROGRAM[program](arguments)
    else:
        assert program in OTHER_PROGRAMS or (ROOT / program).exists(), words


def _check_assayer(words: list[str]) -> None:
    depth = next(n for n in (3, 2, 1) if n == 1 or " ".join(words[:n]) in COMMAND_BY_PATH)
    name = " ".join(words[:depth])
    if name.startswith("--"):
        assert name in {"--help", "--version", "--install-completion"}
        return
    try:
        with COMMAND_BY_PATH[name].make_context(name, words[depth:]):
            pass
    except Exception as error:
        raise AssertionError(f"{words}: {error}") from error


def _check_python(words: list[str]) -> None:
    if words[0] == "-m":
        assert importlib.util.find_spec(words[1]), words
        words = words[2:]
    for word in words:
        if re.fullmatch(r"[\w/.-]+\.py", word):
            assert (ROOT / word).is_file(), word


def _check_extras(words: list[str]) -> None:
    known_extras = {
        distribution: set(tomllib.loads((ROOT / file).read_text("utf-8"))["project"].get("optional-dependencies", {}))
        for distribution, file in (
            ("assayer-research", "pyproject.toml"),
            ("assayer-research-client", "client/pyproject.toml"),
        )
    }
    for word in words:
        if match := re.fullmatch(r"(assayer-research(?:-client)?|\.)\[([\w,-]+)\]", word):
            distribution = "assayer-research" if match[1] == "." else match[1]
            assert set(match[2].split(",")) <= known_extras[distribution], word


def _check_make(words: list[str]) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {word for word in words if "=" not in word} <= set(targets)


def _check_files(words: list[str]) -> None:
    """Check the files after options that name files."""
    for option, value in pairwise(words):
        if option in {"-f", "-k", "--file", "--kustomize", "--filename", "--patch-file"} and "/" in value:
            assert (ROOT / value).exists(), value
    for word in words:
        if re.fullmatch(r"(deploy|k8s)/[\w/.-]+", word):
            assert (ROOT / word).exists(), word


def _check_curl(words: list[str]) -> None:
    address = next(word for word in words if "/v1/" in word or "/healthz" in word)
    path = re.sub(r"^.*?(?=/v1/)", "", address).partition("?")[0]
    patterns = {re.sub(r"\{\w+\}", "[^/]+", path): routes for path, routes in _OPENAPI.items()}
    routes = next(routes for pattern, routes in patterns.items() if re.fullmatch(pattern, path))
    bodies = [value for option, value in pairwise(words) if option == "-d"]
    assert ("post" if bodies or "-F" in words else "get") in routes, words
    for body in bodies:
        json.loads(body)


def _check_exports(words: list[str]) -> None:
    for word in words:
        _check_variable(word)


def _check_file(words: list[str]) -> None:
    assert (ROOT / words[0]).is_file(), words


_CHECK_BY_PROGRAM: dict[str, Callable[[list[str]], None]] = {
    "make": _check_make,
    "docker": _check_files,
    "kubectl": _check_files,
    "prometheus": _check_files,
    "curl": _check_curl,
    "export": _check_exports,
    "sh": _check_file,
}


@pytest.mark.parametrize(
    "command",
    [
        "assayer evaluat idea.md",
        "assayer evaluate idea.md --nope",
        "assayer batch nope",
        "python -m benchmarks.nope",
        "pip install 'assayer-research[nope]'",
        "make nope",
        "kubectl apply -k k8s/nope",
        "curl http://127.0.0.1:8765/v1/nope",
        "curl http://127.0.0.1:8765/v1/evaluations/ev_1/report -d '{}'",
        "export ASSAYER_NOPE=1",
        "ASSAYER_NOPE=1 assayer doctor",
        "sh deploy/nope.sh",
        "nope",
    ],
)
def test_wrong_command_is_noticed(command: str) -> None:
    with pytest.raises((AssertionError, LookupError, StopIteration, ImportError)):
        _check_all(Block("page.md", "bash", command))


@pytest.mark.parametrize("block", list_block_parameters("python"))
def test_python_compiles_and_imports_existing_names(block: Block) -> None:
    """The imported names themselves are checked in test_docs.py."""
    lines = [line[4:] for line in block.text.splitlines() if line.startswith((">>> ", "... "))]
    assert list(ast.walk(ast.parse("\n".join(lines) if lines else block.text)))


@pytest.mark.parametrize("block", list_block_parameters("json"))
def test_json_is_read(block: Block) -> None:
    try:
        json.loads(block.text)
    except ValueError:
        assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())


@pytest.mark.parametrize("block", list_block_parameters("toml"))
def test_toml_blocks_are_valid_for_their_reader(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "file.toml"
    file.write_text(block.text, "utf-8")
    if "[[criteria]]" in block.text:
        assert load_criteria(file)
    elif "[[composition]]" in block.text:
        assert load_compositions(file)
    else:
        read_policy_training(file)


@pytest.mark.parametrize("block", list_block_parameters("ini"))
def test_unit_is_read(block: Block) -> None:
    unit = configparser.ConfigParser(strict=False)
    unit.read_string(block.text)
    assert unit.sections()
