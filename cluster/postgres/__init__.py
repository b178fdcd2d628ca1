"""Embedded PostgreSQL that is installed with the package and runs in its own directory."""

from cluster.postgres.embedded import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
