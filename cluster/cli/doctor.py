"""`assayer doctor`: output of the checks in `cluster.health_checks` on what is configured, what responds and what is
missing."""

import asyncio

import typer
from rich.markup import escape

from cluster.cli.options import WithJson, WithModel, WithProfile
from cluster.cli.terminal import print_json, say
from cluster.settings import Settings
from cluster.settings_loading import load_settings

_MARKS = {"ok": "[green]ok[/]     ", "absent": "[yellow]absent[/] ", "broken": "[bold red]broken[/] "}


def doctor(profile: WithProfile = "laptop", model: WithModel = None, as_json: WithJson = False) -> None:
    """Check the installation: what is configured, what responds and what is missing."""
    if asyncio.run(_show(load_settings(profile, model), as_json=as_json)):
        raise typer.Exit(1)


async def _show(settings: Settings, *, as_json: bool) -> bool:
    """Print every finding as it arrives, or all as JSON at the end; return whether anything is broken."""
    from cluster.health_checks import run_health_checks

    found = []
    async for finding in run_health_checks(settings):
        found.append(finding)
        if not as_json:
            say(f"{_MARKS[finding.state]} [bold]{finding.subject}[/]: {escape(finding.text)}")
    if as_json:
        print_json([finding._asdict() for finding in found])
    return any(finding.state == "broken" for finding in found)
