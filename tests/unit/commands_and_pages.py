"""All commands of the program and all pages of its documents, for tests of either."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cluster.cli.commands import LazyCommand
from cluster.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
_FOLDERS = ("docs", "examples", "benchmarks", "client", "simulator", "skills")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in _FOLDERS for page in (ROOT / folder).rglob("*.md"))])


def _iterate_commands(listed_command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the path of every command that is not a group, and the command."""
    command = listed_command.load_command() if isinstance(listed_command, LazyCommand) else listed_command
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
    for name, item in (inner or {}).items():
        yield from _iterate_commands(item, f"{path} {name}")


COMMAND_BY_PATH = dict(pair for listed in COMMANDS for pair in _iterate_commands(listed, str(listed.name)))
"""Commands by their path, such as `batch submit`."""
