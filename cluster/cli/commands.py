"""Commands that are imported only when called, so that listing them loads none of their libraries."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_PACKAGE = "cluster.cli"


class LazyCommand(TyperCommand):
    """A command, `assayer PATH`, that is imported only when called. The module at that path defines it: as its Typer
    `app` if it has one, otherwise as the function with the command's name. For example, `batch submit` is `submit` in
    `cluster.cli.batch.submit`."""

    def __init__(self, path: str, help: str, panel: str | None = None) -> None:
        *self._groups, name = path.split()
        super().__init__(name, help=help, rich_help_panel=panel)
        self.path = path

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the actual command's context, so that the actual command handles everything, including help and
        usage."""
        return self.load_command().make_context(info_name, args, parent, **extra)

    def load_command(self) -> Any:
        """Import and return the actual command, with an example in its help."""
        function = str(self.name).replace("-", "_")
        module = import_module(".".join((_PACKAGE, *self._groups, function)))
        if hasattr(module, "app"):
            command: Any = typer.main.get_group(module.app)
        else:
            single_command_app = typer.Typer(add_completion=False)
            single_command_app.command(self.name)(getattr(module, function))
            command = typer.main.get_command(single_command_app)
        _add_examples(command, self.path)
        return command


def create_lazy_app(help: str, commands: Iterable[LazyCommand], **options: Any) -> typer.Typer:
    """Return a Typer app with these commands, in this order."""

    class Commands(TyperGroup):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            for command in commands:
                self.add_command(command)

        def invoke(self, ctx: Any) -> Any:
            try:
                return super().invoke(ctx)
            except typer.BadParameter as error:
                error.message = error.message.removeprefix("Value error, ")  # pydantic's prefix
                raise

    return typer.Typer(cls=Commands, help=help, no_args_is_help=True, pretty_exceptions_enable=False, **options)


def _add_examples(command: Any, path: str) -> None:
    """Append an example to the help of a command, or of each command in a group."""
    from cluster.cli.examples import EXAMPLES

    if path in EXAMPLES:
        command.epilog = f"Example: assayer {EXAMPLES[path]}"
    for name, inner in getattr(command, "commands", {}).items():
        if not isinstance(inner, LazyCommand):  # it adds its own example when it is called
            _add_examples(inner, f"{path} {name}")
