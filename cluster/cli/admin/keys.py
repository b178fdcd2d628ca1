"""`assayer admin keys`: create, list and revoke API keys directly in the database, without a running service."""

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from cluster.cli.options import WithJson, day, validate
from cluster.cli.terminal import Outcome, print_json, print_remark, show_table
from cluster.database import with_database

if TYPE_CHECKING:
    from orchestrator.access.api_keys import ApiKey
    from orchestrator.access.audit_chain import Actor

app = typer.Typer(help="Manage the tenants' API keys.", no_args_is_help=True)

OfTenant = Annotated[str, typer.Option("--tenant", help="Tenant that the key belongs to.")]


@app.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="Name that says what the key is for.")],
    tenant: OfTenant,
    scopes: Annotated[
        list[str] | None,
        typer.Option(
            "--scope", help="submit, read, manage, metrics or admin; repeat for several. By default submit and read."
        ),
    ] = None,
    requests_per_minute: Annotated[int | None, typer.Option(help="Rate limit; by default as in the settings.")] = None,
    expires: Annotated[str | None, typer.Option(help="YYYY-MM-DD: expires at the start of this day (UTC).")] = None,
    as_json: WithJson = False,
) -> None:
    """Create a key and print it; it is shown only once."""
    from orchestrator.access.api_keys import KeyPlan, generate_key
    from orchestrator.jobs.models import TenantId
    from orchestrator.store import PgKeys

    last = day(expires, "expiry")
    until = None if last is None else dt.datetime.combine(last, dt.time(), dt.UTC)
    if until is not None and until <= dt.datetime.now(dt.UTC):
        raise InputError(f"The expiry {expires} is in the past.", "Pass a later day.")
    fields = {"name": name, "scopes": frozenset(scopes or ("submit", "read")), "expires_at": until}
    plan = validate(KeyPlan, fields | {"requests_per_minute": requests_per_minute})
    drawn, by = generate_key(), _operator()
    made = with_database(lambda database: PgKeys(database).create(TenantId(tenant), plan, drawn, actor=by))
    if made is None:
        raise InputError(f"There is no tenant {tenant}.", f"Create it with: assayer admin tenants create {tenant}")
    if as_json:
        print_json({"id": drawn.id, "tenant": tenant, "key": drawn.secret})
        return
    print_remark(f"Created the key {drawn.id} of {tenant}. It is shown only once:")
    typer.echo(drawn.secret)


@app.command("list")
def list_keys(tenant: OfTenant, as_json: WithJson = False) -> None:
    """List a tenant's keys, newest first, including revoked ones."""
    from orchestrator.jobs.models import TenantId
    from orchestrator.store import PgKeys

    keys = with_database(lambda database: PgKeys(database).list(TenantId(tenant)))
    if as_json:
        print_json(keys)
    else:
        _show_keys(keys)


@app.command("revoke")
def revoke_key(
    key: Annotated[str, typer.Argument(help="Id of the key: ak_….")],
    tenant: OfTenant,
    as_json: WithJson = False,
) -> None:
    """Revoke a key permanently, with immediate effect."""
    from orchestrator.access.audit_chain import ActBy
    from orchestrator.jobs.models import KeyId, TenantId
    from orchestrator.store import PgKeys

    by = ActBy(_operator(), dt.datetime.now(dt.UTC))
    # If the whole key was passed instead of its id, extract the id.
    known = KeyId("_".join(key.split("_")[:2]))
    if with_database(lambda database: PgKeys(database).revoke(TenantId(tenant), known, by)) is None:
        raise InputError(f"The tenant {tenant} has no key {known}.", f"See: assayer admin keys list --tenant {tenant}")
    with Outcome(as_json=as_json) as outcome:
        outcome.add(f"The key {known} is revoked.", id=known, tenant=tenant, revoked=True)


def _operator() -> "Actor":
    """Return the actor whom the audit log names for changes made by this command directly in the database."""
    from orchestrator.access.audit_chain import Actor

    return Actor("command", "the command line of the service", "machine")


def _show_keys(keys: "Sequence[ApiKey]") -> None:
    now = dt.datetime.now(dt.UTC)
    rows = (
        (item.id, item.name, ", ".join(sorted(item.scopes)), f"{item.created_at:%Y-%m-%d}", _state(item, now))
        for item in keys
    )
    show_table(("Id", "Name", "Scopes", "Created", "State"), rows)


def _state(key: "ApiKey", now: dt.datetime) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d}"
    if key.expires_at is None:
        return "valid"
    return f"{'expired' if key.expires_at <= now else 'valid until'} {key.expires_at:%Y-%m-%d}"
