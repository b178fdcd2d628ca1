"""Commands that are imported when they are asked for: the list of commands needs none of their libraries."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

__all__ = ["Deferred"]


class Deferred(TyperCommand):
    """`assayer NAME`, from `cluster.cli.NAME`: its Typer `app`, or else its function of that name."""

    def __init__(self, name: str, help: str) -> None:
        super().__init__(name, help=help)
        self._name = name

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Of the command itself, which thereby takes over, help and usage included."""
        return self.command().make_context(info_name, args, parent, **extra)

    def command(self) -> Any:
        module = import_module(f"cluster.cli.{self._name}")
        if hasattr(module, "app"):
            return typer.main.get_group(module.app)
        alone = typer.Typer(add_completion=False)
        alone.command(self._name)(getattr(module, self._name))
        return typer.main.get_command(alone)
