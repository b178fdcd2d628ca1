"""Commands `assayer admin …`, for operators of a service."""

from cluster.cli.commands import LazyCommand, lazy_app

app = lazy_app(
    "Manage the tenants, keys, members and database of a service, and check its audit log.",
    (
        LazyCommand("admin tenants", "Manage the tenants of the service and their limits."),
        LazyCommand("admin members", "Manage the people who work in the console, and their roles."),
        LazyCommand("admin keys", "Manage the API keys of the service's tenants."),
        LazyCommand("admin migrate", "Create or change the database's tables as the role that owns them."),
        LazyCommand("admin dump", "Dump the embedded database to a file, while the service runs."),
        LazyCommand("admin audit-log", "Save and check the log of who did what about decisions."),
    ),
)
