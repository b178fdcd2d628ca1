"""Embedded PostgreSQL server, installed with the package and running in the data directory."""

from cluster.postgres.embedded import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
