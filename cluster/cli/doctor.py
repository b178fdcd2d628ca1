"""`assayer doctor`: shows what is configured, what answers and what is missing. `cluster.health_checks` finds out."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from cluster.cli.terminal import SafeConsole
from cluster.settings import PROFILES, Profile, Settings
from cluster.settings_loading import load_settings

__all__ = ["doctor"]

_MARKS = {"ok": "[green]ok[/]     ", "absent": "[yellow]absent[/] ", "broken": "[bold red]broken[/] "}


def doctor(profile: Annotated[Profile, typer.Option(help="Named set of settings.")] = PROFILES[0]) -> None:
    """Check the installation: what is configured, what responds and what is missing."""
    if asyncio.run(_show(load_settings(profile), SafeConsole(highlight=False))):
        raise typer.Exit(1)


async def _show(settings: Settings, console: Console) -> bool:
    """Prints every finding as it comes; whether anything is broken."""
    from cluster.health_checks import run_health_checks

    broken = False
    async for finding in run_health_checks(settings):
        broken |= finding.state == "broken"
        console.print(f"{_MARKS[finding.state]} [bold]{finding.subject}[/]: {escape(finding.text)}", soft_wrap=True)
    return broken
