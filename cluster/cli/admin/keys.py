"""`assayer admin keys`: create, list and revoke API keys directly in the database, without a running service."""

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from cluster.cli.options import WithJson, parse_day_option, validate
from cluster.cli.terminal import Outcome, print_json, print_remark, show_table
from cluster.database import run_with_database

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

    last_day = parse_day_option(expires, "expiry")
    expires_at = None if last_day is None else dt.datetime.combine(last_day, dt.time(), dt.UTC)
    if expires_at is not None and expires_at <= dt.datetime.now(dt.UTC):
        raise InputError(f"The expiry {expires} is in the past.", "Pass a later day.")
    fields = {"name": name, "scopes": frozenset(scopes or ("submit", "read")), "expires_at": expires_at}
    plan = validate(KeyPlan, fields | {"requests_per_minute": requests_per_minute})
    generated_key, operator = generate_key(), _get_operator()
    created_key = run_with_database(
        lambda database: PgKeys(database).create(TenantId(tenant), plan, generated_key, actor=operator)
    )
    if created_key is None:
        raise InputError(f"There is no tenant {tenant}.", f"Create it with: assayer admin tenants create {tenant}")
    if as_json:
        print_json({"id": generated_key.id, "tenant": tenant, "key": generated_key.secret})
        return
    print_remark(f"Created the key {generated_key.id} of {tenant}. It is shown only once:")
    typer.echo(generated_key.secret)


@app.command("list")
def list_keys(tenant: OfTenant, as_json: WithJson = False) -> None:
    """List a tenant's keys, newest first, including revoked ones."""
    from orchestrator.jobs.models import TenantId
    from orchestrator.store import PgKeys

    keys = run_with_database(lambda database: PgKeys(database).list(TenantId(tenant)))
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

    revocation = ActBy(_get_operator(), dt.datetime.now(dt.UTC))
    # If the whole key was passed instead of its id, extract the id.
    key_id = KeyId("_".join(key.split("_")[:2]))
    if run_with_database(lambda database: PgKeys(database).revoke(TenantId(tenant), key_id, revocation)) is None:
        raise InputError(f"The tenant {tenant} has no key {key_id}.", f"See: assayer admin keys list --tenant {tenant}")
    with Outcome(as_json=as_json) as outcome:
        outcome.add(f"The key {key_id} is revoked.", id=key_id, tenant=tenant, revoked=True)


def _get_operator() -> "Actor":
    """Return the actor whom the audit log names for changes made by this command directly in the database."""
    from orchestrator.access.audit_chain import Actor

    return Actor("command", "the command line of the service", "machine")


def _show_keys(keys: "Sequence[ApiKey]") -> None:
    now = dt.datetime.now(dt.UTC)
    rows = (
        (key.id, key.name, ", ".join(sorted(key.scopes)), f"{key.created_at:%Y-%m-%d}", _state(key, now))
        for key in keys
    )
    show_table(("Id", "Name", "Scopes", "Created", "State"), rows)


def _state(key: "ApiKey", now: dt.datetime) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d}"
    if key.expires_at is None:
        return "valid"
    return f"{'expired' if key.expires_at <= now else 'valid until'} {key.expires_at:%Y-%m-%d}"
