"""`assayer admin migrate`: create or migrate the database's tables as the role that owns them."""

from typing import Annotated

import typer

from cluster.cli.options import WithJson
from cluster.cli.terminal import Outcome
from cluster.database import run_with_database


def migrate(
    serving_role: Annotated[
        str | None,
        typer.Option(help="Existing role to grant the service's privileges: to read and write rows only."),
    ] = None,
    scaling_role: Annotated[
        str | None,
        typer.Option(help="Existing role to grant the privilege to measure the queue, for a Ray cluster's head."),
    ] = None,
    as_json: WithJson = False,
) -> None:
    """Migrate the database to this version. Run this before an upgrade if the service may not change tables
    (ASSAYER_DATABASE__MIGRATE=false), with an ASSAYER_DATABASE__URL that names the role that owns the tables."""
    from orchestrator.store import Database
    from orchestrator.store.migrator import get_latest_revision

    async def migrate_database(database: Database) -> None:
        await database.migrate()
        if serving_role:
            await database.grant_service_privileges(serving_role)
        if scaling_role:
            await database.grant_queue_privileges(scaling_role)

    run_with_database(migrate_database)
    revision = get_latest_revision()
    with Outcome(as_json=as_json) as outcome:
        outcome.add(f"The tables are at revision {revision}.", revision=revision)
        if serving_role:
            outcome.add(f"The role {serving_role} may read and write their rows.", serving_role=serving_role)
        if scaling_role:
            outcome.add(f"The role {scaling_role} may measure the queue.", scaling_role=scaling_role)
