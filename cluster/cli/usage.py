"""`assayer usage`: what a tenant's jobs were, called and cost in a span of time."""

import datetime as dt
from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.job_wording import state_in_words
from cluster.cli.options import WithProfile, day
from cluster.cli.service_client import service
from cluster.cli.terminal import console, show_table
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from assayer_client.accounts import Usage

__all__ = ["usage"]


def usage(
    since: Annotated[str | None, typer.Option(help="YYYY-MM-DD (UTC); by default the first of this month.")] = None,
    until: Annotated[str | None, typer.Option(help="YYYY-MM-DD (UTC), not included; by default now.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Another tenant; needs a key with the scope admin.")] = None,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Show jobs, calls, tokens and cost in a span of time, and what is left of the month."""
    span = {"since": _midnight(since), "until": _midnight(until)}
    with service(profile) as client:
        _show(client.usage(**span, tenant=tenant))


def _midnight(text: str | None) -> dt.datetime | None:
    given = day(text, "day")
    return None if given is None else dt.datetime.combine(given, dt.time(), dt.UTC)


def _show(found: "Usage") -> None:
    spent = "unknown" if found.cost_usd is None else f"${found.cost_usd:,.2f}"
    why = f": {found.cost_absent}" if found.cost_absent else ""
    console().print(f"{found.tenant}, {found.since:%Y-%m-%d %H:%M} to {found.until:%Y-%m-%d %H:%M} UTC")
    jobs = ((one.kind, state_in_words(one.state), f"{one.jobs:,}") for one in found.jobs)
    show_table(("Jobs", "State", "Number"), jobs)
    figures = (
        ("calls of language models", f"{found.calls:,}, {found.cached:,} of them answered from the cache"),
        ("tokens read, written", f"{found.prompt_tokens:,}, {found.completion_tokens:,}"),
        ("cost", f"{spent}{why}"),
        (
            "this month",
            f"${found.spent_this_month_usd:,.2f} spent, ${found.reserved_usd:,.2f} reserved, {_left(found)}",
        ),
    )
    show_table(("", ""), figures)


def _left(found: "Usage") -> str:
    if found.monthly_usd is None:
        return "no limit"
    left = found.monthly_usd - found.spent_this_month_usd - found.reserved_usd
    return f"${left:,.2f} left of ${found.monthly_usd:,.2f}"
