"""`assayer batch usage`: show a tenant's jobs, LLM requests and cost in a period."""

import datetime as dt
from typing import TYPE_CHECKING, Annotated

import typer

from cluster.cli.batch.service_client import open_service_client
from cluster.cli.options import WithJson, parse_day_option
from cluster.cli.terminal import print_json, print_markup, show_table

if TYPE_CHECKING:
    from assayer_client.accounts import Usage


def usage(
    since: Annotated[str | None, typer.Option(help="YYYY-MM-DD (UTC); by default the first day of this month.")] = None,
    until: Annotated[str | None, typer.Option(help="YYYY-MM-DD (UTC), exclusive; by default now.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Another tenant; needs a key with the admin scope.")] = None,
    as_json: WithJson = False,
) -> None:
    """Show jobs, LLM requests, tokens and cost in a period, and the remaining monthly budget."""
    span = {"since": _parse_midnight(since), "until": _parse_midnight(until)}
    with open_service_client() as client:
        figures = client.usage.get(**span, tenant=tenant)
    if as_json:
        print_json(figures)
    else:
        _show(figures)


def _parse_midnight(text: str | None) -> dt.datetime | None:
    date = parse_day_option(text, "day")
    return None if date is None else dt.datetime.combine(date, dt.time(), dt.UTC)


def _show(usage: "Usage") -> None:
    cost_text = "unknown" if usage.cost_usd is None else f"${usage.cost_usd:,.2f}"
    reason = f": {usage.cost_absent}" if usage.cost_absent else ""
    print_markup(f"{usage.tenant}, {usage.since:%Y-%m-%d %H:%M} to {usage.until:%Y-%m-%d %H:%M} UTC")
    jobs = ((job.kind, job.state, f"{job.jobs:,}") for job in usage.jobs)
    show_table(("Jobs", "State", "Number"), jobs)
    figures = (
        ("LLM requests", f"{usage.llm_requests:,}, {usage.cached_llm_requests:,} of them answered from the cache"),
        (
            "prompt tokens, answer tokens",
            f"{usage.prompt_tokens:,} ({usage.cached_prompt_tokens:,} of them from the endpoint's cache), "
            f"{usage.completion_tokens:,}",
        ),
        ("cost", f"{cost_text}{reason}"),
        (
            "this month",
            f"${usage.spent_this_month_usd:,.2f} spent, ${usage.reserved_usd:,.2f} reserved, "
            f"{_describe_remaining_budget(usage)}",
        ),
    )
    show_table(("", ""), figures)


def _describe_remaining_budget(usage: "Usage") -> str:
    if usage.monthly_usd is None:
        return "no limit"
    return f"${usage.left_usd:,.2f} left of ${usage.monthly_usd:,.2f}"
