"""`assayer admin tenants`: create, change and list tenants and their limits, directly in the database, without a
running service."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assayer.errors import InputError
from cluster.cli.options import WithJson, validate
from cluster.cli.terminal import print_json, print_markup, show_table
from cluster.database import run_with_database

if TYPE_CHECKING:
    from assayer_client.accounts import TenantResource
    from orchestrator.store import Database

app = typer.Typer(help="Manage the service's tenants and their limits.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="Lower-case letters, digits, - and _.")]
Named = Annotated[str | None, typer.Option(help="Display name; by default the id.")]
Weight = Annotated[float | None, typer.Option(help="Share of capacity relative to other tenants; 1 by default.")]
Running = Annotated[int | None, typer.Option(help="Maximum number of running jobs; 0 for no limit.")]
Queued = Annotated[int | None, typer.Option(help="Maximum number of queued jobs; 20,000 by default.")]
Usd = Annotated[float | None, typer.Option(help="Budget per calendar month in US dollars; 0 for no limit.")]
Days = Annotated[int | None, typer.Option(help="Days after which finished jobs are deleted; 0 to keep them.")]


@app.command("create")
def create_tenant(
    tenant: Id,
    name: Named = None,
    weight: Weight = None,
    max_running: Running = None,
    max_queued: Queued = None,
    monthly_usd: Usd = None,
    retention_days: Days = None,
    as_json: WithJson = False,
) -> None:
    """Create a tenant. To create its keys, use `assayer admin keys create`."""
    from orchestrator.jobs.models import TenantId, TenantPlan
    from orchestrator.store import PgTenants

    plan = validate(
        TenantPlan, _collect_changes(name or tenant, weight, max_running, max_queued, monthly_usd, retention_days)
    )
    _check_id(tenant)
    created = run_with_database(lambda database: PgTenants(database).create(TenantId(tenant), plan))
    if created is None:
        raise InputError(
            f"The tenant {tenant} already exists.", f"Change it with: assayer admin tenants set {tenant} …"
        )
    if as_json:
        print_json(created)
    else:
        print_markup(
            f"Created the tenant {tenant}. Create a key with: assayer admin keys create NAME --tenant {tenant}"
        )


@app.command("set")
def set_tenant(
    tenant: Id,
    name: Named = None,
    weight: Weight = None,
    max_running: Running = None,
    max_queued: Queued = None,
    monthly_usd: Usd = None,
    retention_days: Days = None,
    as_json: WithJson = False,
) -> None:
    """Change the limits that are passed. Running jobs continue."""
    from orchestrator.jobs.models import TenantId, TenantPlan
    from orchestrator.store import PgTenants

    changes = _collect_changes(name, weight, max_running, max_queued, monthly_usd, retention_days)

    async def change(database: "Database") -> "TenantResource | None":
        store = PgTenants(database)
        stored_tenant = await store.get(TenantId(tenant))
        if stored_tenant is None:
            return None
        new_plan = stored_tenant.model_dump(include=set(TenantPlan.model_fields)) | changes
        return await store.update(stored_tenant.id, validate(TenantPlan, new_plan))

    changed = run_with_database(change)
    if changed is None:
        raise InputError(f"There is no tenant {tenant}.", "See: assayer admin tenants list")
    if as_json:
        print_json(changed)
    else:
        _show_tenants([changed])


@app.command("list")
def list_tenants(as_json: WithJson = False) -> None:
    """List all tenants, ordered by id."""
    tenants = run_with_database(_list_tenants)
    if as_json:
        print_json(tenants)
    else:
        _show_tenants(tenants)


async def _list_tenants(database: "Database") -> "list[TenantResource]":
    from orchestrator.store import PgTenants

    tenants: list[TenantResource] = []
    while page := await PgTenants(database).list(after=tenants[-1].id if tenants else None):
        tenants += page
    return tenants


def _collect_changes(
    name: str | None,
    weight: float | None,
    max_running: int | None,
    max_queued: int | None,
    monthly_usd: float | None,
    retention_days: int | None,
) -> dict[str, Any]:
    """Return the values to change. A value of 0 removes an optional limit."""
    required_values = {"name": name, "weight": weight, "max_queued": max_queued}
    limits = {"max_running": max_running, "monthly_usd": monthly_usd, "retention_days": retention_days}
    return {name: value for name, value in required_values.items() if value is not None} | {
        name: value or None for name, value in limits.items() if value is not None
    }


def _check_id(tenant: str) -> None:
    from pydantic import TypeAdapter, ValidationError

    from assayer_client.resources import TenantName

    try:
        TypeAdapter(TenantName).validate_python(tenant)
    except ValidationError as error:
        raise InputError(f"The id is invalid: {error.errors()[0]['msg']}.", "See --help.") from None


def _show_tenants(tenants: "Sequence[TenantResource]") -> None:
    headings = ("Id", "Name", "Weight", "Running", "Queued", "Month", "Kept")
    show_table(
        headings, ((tenant.id, tenant.name, f"{tenant.weight:g}", *_format_limits(tenant)) for tenant in tenants)
    )


def _format_limits(tenant: "TenantResource") -> tuple[str, str, str, str]:
    return (
        "any" if tenant.max_running is None else f"{tenant.max_running:,}",
        f"{tenant.max_queued:,}",
        "any" if tenant.monthly_usd is None else f"${tenant.monthly_usd:,.2f}",
        "forever" if tenant.retention_days is None else f"{tenant.retention_days} days",
    )
