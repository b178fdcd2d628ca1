"""A PostgreSQL that comes with the installation and runs in a directory of its own."""

from cluster.postgres.embedded import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
