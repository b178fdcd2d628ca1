"""`assayer tenants`: who uses the service, and what was agreed with them. Works on its database; needs no service."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assayer.errors import InputError
from cluster.cli.access import WithProfile, checked, on_database, show, terminal
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from orchestrator.jobs.tenancy import Tenant
    from orchestrator.store import Database

__all__ = ["app"]

app = typer.Typer(help="Who uses the service, and what was agreed with them.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="Lower-case letters, digits, - and _.")]
Named = Annotated[str | None, typer.Option(help="For people; the id by default.")]
Weight = Annotated[float | None, typer.Option(help="Share of the service against the others who ask; 1 by default.")]
Running = Annotated[int | None, typer.Option(help="Jobs at once; 0 is no limit.")]
Queued = Annotated[int | None, typer.Option(help="Jobs in the queue; 20,000 by default.")]
Usd = Annotated[float | None, typer.Option(help="Budget of a calendar month; 0 is no limit.")]
Days = Annotated[int | None, typer.Option(help="Jobs are deleted so long after their end; 0 keeps them.")]


@app.command("create")
def create_tenant(
    tenant: Id,
    name: Named = None,
    weight: Weight = None,
    max_running: Running = None,
    max_queued: Queued = None,
    monthly_usd: Usd = None,
    retention_days: Days = None,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Make a tenant. It has no keys yet."""
    from orchestrator.jobs.models import TenantId
    from orchestrator.jobs.tenancy import TenantPlan
    from orchestrator.store import PgTenants

    plan = checked(TenantPlan, _agreed(name or tenant, weight, max_running, max_queued, monthly_usd, retention_days))
    _check_id(tenant)
    made = on_database(profile, lambda database: PgTenants(database).create(TenantId(tenant), plan))
    if made is None:
        raise InputError(f"There is a tenant {tenant} already.", f"Change it with: assayer tenants set {tenant} …")
    terminal().print(f"Made the tenant {tenant}. Draw a key with: assayer keys create NAME --tenant {tenant}")


@app.command("set")
def set_tenant(
    tenant: Id,
    name: Named = None,
    weight: Weight = None,
    max_running: Running = None,
    max_queued: Queued = None,
    monthly_usd: Usd = None,
    retention_days: Days = None,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Change what is given, and nothing else. Jobs that run go on."""
    from orchestrator.jobs.models import TenantId
    from orchestrator.jobs.tenancy import TenantPlan
    from orchestrator.store import PgTenants

    changes = _agreed(name, weight, max_running, max_queued, monthly_usd, retention_days)

    async def change(database: "Database") -> "Tenant | None":
        store = PgTenants(database)
        before = await store.get(TenantId(tenant))
        if before is None:
            return None
        agreed = before.model_dump(include=set(TenantPlan.model_fields)) | changes
        return await store.update(before.id, checked(TenantPlan, agreed))

    changed = on_database(profile, change)
    if changed is None:
        raise InputError(f"There is no tenant {tenant}.", "See: assayer tenants list")
    _show_tenants([changed])


@app.command("list")
def list_tenants(profile: WithProfile = PROFILES[0]) -> None:
    """All tenants, by id."""
    _show_tenants(on_database(profile, _all_tenants))


async def _all_tenants(database: "Database") -> "list[Tenant]":
    from orchestrator.store import PgTenants

    found: list[Tenant] = []
    while page := await PgTenants(database).list(after=found[-1].id if found else None):
        found += page
    return found


def _agreed(
    name: str | None,
    weight: float | None,
    max_running: int | None,
    max_queued: int | None,
    monthly_usd: float | None,
    retention_days: int | None,
) -> dict[str, Any]:
    """What was given; 0 takes a limit away where there need be none."""
    needed = {"name": name, "weight": weight, "max_queued": max_queued}
    limits = {"max_running": max_running, "monthly_usd": monthly_usd, "retention_days": retention_days}
    return {one: value for one, value in needed.items() if value is not None} | {
        one: value or None for one, value in limits.items() if value is not None
    }


def _check_id(tenant: str) -> None:
    from orchestrator.api.accounts import TenantBody

    checked(TenantBody, {"id": tenant, "name": tenant})


def _show_tenants(found: "Sequence[Tenant]") -> None:
    headings = ("Id", "Name", "Weight", "Running", "Queued", "Month", "Kept")
    show(headings, ((one.id, one.name, f"{one.weight:g}", *_limits(one)) for one in found))


def _limits(one: "Tenant") -> tuple[str, str, str, str]:
    return (
        "any" if one.max_running is None else f"{one.max_running:,}",
        f"{one.max_queued:,}",
        "any" if one.monthly_usd is None else f"${one.monthly_usd:,.2f}",
        "for good" if one.retention_days is None else f"{one.retention_days} days",
    )
