"""`assayer doctor`: run the checks in `cluster.health_checks`, and print what is configured, what responds and what is
missing."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from assayer.errors import ConfigurationError
from cluster.cli.options import WithJson, WithModel, WithProfile
from cluster.cli.terminal import print_json, print_markup
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from cluster.health_checks import Finding

_MARKS = {"ok": "[green]ok[/]     ", "absent": "[yellow]absent[/] ", "broken": "[bold red]broken[/] "}


def doctor(profile: WithProfile = "laptop", model: WithModel = None, as_json: WithJson = False) -> None:
    """Check the installation: what is configured, what responds and what is missing."""
    from cluster.health_checks import Finding, run_health_checks

    try:
        findings = run_health_checks(load_settings(profile, model))
    except ConfigurationError as error:
        findings = _yield_finding(Finding("settings", "broken", str(error)))
    if asyncio.run(_show(findings, as_json=as_json)):
        raise typer.Exit(1)


async def _yield_finding(finding: "Finding") -> "AsyncIterator[Finding]":
    yield finding


async def _show(findings: "AsyncIterator[Finding]", *, as_json: bool) -> bool:
    """Print each finding as it arrives, or all of them as JSON at the end; return whether anything is broken."""
    printed_findings = []
    async for finding in findings:
        printed_findings.append(finding)
        if not as_json:
            print_markup(f"{_MARKS[finding.state]} [bold]{finding.subject}[/]: {escape(finding.text)}")
    if as_json:
        print_json(printed_findings)
    return any(finding.state == "broken" for finding in printed_findings)
