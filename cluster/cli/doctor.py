"""`assayer doctor`: output of the checks in `cluster.health_checks` on what is configured, what responds and what is
missing."""

import asyncio

import typer
from rich.markup import escape

from cluster.cli.options import WithModel, WithProfile
from cluster.cli.terminal import say
from cluster.settings import Settings
from cluster.settings_loading import load_settings

_MARKS = {"ok": "[green]ok[/]     ", "absent": "[yellow]absent[/] ", "broken": "[bold red]broken[/] "}


def doctor(profile: WithProfile = "laptop", model: WithModel = None) -> None:
    """Check the installation: what is configured, what responds and what is missing."""
    if asyncio.run(_show(load_settings(profile, model))):
        raise typer.Exit(1)


async def _show(settings: Settings) -> bool:
    """Print every finding as it arrives; return whether anything is broken."""
    from cluster.health_checks import run_health_checks

    broken = False
    async for finding in run_health_checks(settings):
        broken |= finding.state == "broken"
        say(f"{_MARKS[finding.state]} [bold]{finding.subject}[/]: {escape(finding.text)}")
    return broken
