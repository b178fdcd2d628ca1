"""Runs inside the connection and transaction that `orchestrator.store.migrator` opened and locked."""

from alembic import context

from orchestrator.store.migrator import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
