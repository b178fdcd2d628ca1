"""The `assayer admin` commands, for operators of a service."""

from cluster.cli.commands import LazyCommand, create_lazy_app

app = create_lazy_app(
    "Manage a service's tenants, keys, members and database, and check its audit log.",
    (
        LazyCommand("admin tenants", "Manage the service's tenants and their limits."),
        LazyCommand("admin members", "Manage the people who work in the console, and their roles."),
        LazyCommand("admin keys", "Manage the tenants' API keys."),
        LazyCommand("admin migrate", "Create or migrate the database's tables as the role that owns them."),
        LazyCommand("admin dump", "Dump the embedded database to a file, while the service runs."),
        LazyCommand("admin audit-log", "Save and check the audit log of who did what about decisions."),
    ),
)
