"""`assayer keys`: API keys of the service's tenants. Works on its database; needs no service."""

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from assayer.errors import InputError
from cluster.cli.access import WithProfile, checked, on_database, show, terminal
from cluster.cli.options import day
from cluster.settings import PROFILES

if TYPE_CHECKING:
    from orchestrator.jobs.tenancy import ApiKey

__all__ = ["app"]

app = typer.Typer(help="API keys of the service's tenants.", no_args_is_help=True)

OfTenant = Annotated[str, typer.Option("--tenant", help="Whose key it is.")]


@app.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What it is for.")],
    tenant: OfTenant,
    scopes: Annotated[
        list[str] | None,
        typer.Option("--scope", help="submit, read, manage or admin; may be repeated. submit and read by default."),
    ] = None,
    requests_per_minute: Annotated[int | None, typer.Option(help="What the settings say by default.")] = None,
    expires: Annotated[str | None, typer.Option(help="YYYY-MM-DD: not valid from that day on (UTC).")] = None,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Draw a key and print it: it is shown this once."""
    from orchestrator.jobs.models import TenantId
    from orchestrator.jobs.tenancy import KeyPlan, draw_key
    from orchestrator.store import PgKeys

    last = day(expires, "expiry")
    until = None if last is None else dt.datetime.combine(last, dt.time(), dt.UTC)
    if until is not None and until <= dt.datetime.now(dt.UTC):
        raise InputError(f"A key that expires on {expires} is of no use.", "Give a later day.")
    given = {"name": name, "scopes": frozenset(scopes or ("submit", "read")), "expires_at": until}
    plan = checked(KeyPlan, given | {"requests_per_minute": requests_per_minute})
    drawn = draw_key()
    if on_database(profile, lambda database: PgKeys(database).create(TenantId(tenant), plan, drawn)) is None:
        raise InputError(f"There is no tenant {tenant}.", f"Make it with: assayer tenants create {tenant}")
    Console(stderr=True, highlight=False).print(f"The key {drawn.id} of {tenant}; it is shown this once:")
    typer.echo(drawn.secret)


@app.command("list")
def list_keys(tenant: OfTenant, profile: WithProfile = PROFILES[0]) -> None:
    """A tenant's keys, the newest first, revoked ones included."""
    from orchestrator.jobs.models import TenantId
    from orchestrator.store import PgKeys

    _show_keys(on_database(profile, lambda database: PgKeys(database).list(TenantId(tenant))))


@app.command("revoke")
def revoke_key(
    key: Annotated[str, typer.Argument(help="Id of the key: ak_….")],
    tenant: OfTenant,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Revoke a key for good, from the next request on."""
    from orchestrator.jobs.models import KeyId, TenantId
    from orchestrator.store import PgKeys

    now = dt.datetime.now(dt.UTC)
    # Whoever pastes the whole key means its id.
    known = KeyId("_".join(key.split("_")[:2]))
    if on_database(profile, lambda database: PgKeys(database).revoke(TenantId(tenant), known, now)) is None:
        raise InputError(f"The tenant {tenant} has no key {known}.", f"See: assayer keys list --tenant {tenant}")
    terminal().print(f"The key {known} is revoked.")


def _show_keys(found: "Sequence[ApiKey]") -> None:
    now = dt.datetime.now(dt.UTC)
    rows = (
        (one.id, one.name, ", ".join(sorted(one.scopes)), f"{one.created_at:%Y-%m-%d}", _state(one, now))
        for one in found
    )
    show(("Id", "Name", "Scopes", "Drawn", "State"), rows)


def _state(key: "ApiKey", now: dt.datetime) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d}"
    if key.expires_at is None:
        return "valid"
    return f"{'expired' if key.expires_at <= now else 'valid until'} {key.expires_at:%Y-%m-%d}"
