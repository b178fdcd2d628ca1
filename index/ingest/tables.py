"""Stage one's files as DuckDB tables of one partition, and which of their rows stand.

DuckDB works out of core: a partition that does not fit its memory is spilled to disk.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pyarrow as pa

from assayer.errors import ConfigurationError
from assayer.models import Frozen
from index.ingest.places import Place

try:
    import duckdb
except ImportError:
    raise ConfigurationError("Ingest joins with DuckDB, which is not installed.", "Install assayer[ingest].") from None

__all__ = ["BATCH", "JoinLimits", "Rows", "Tables", "raw_table", "tables"]

Tables: TypeAlias = duckdb.DuckDBPyConnection
Rows: TypeAlias = duckdb.DuckDBPyRelation

BATCH = 8192
"""Rows that are read from DuckDB at a time."""

_SETUP = """
SET enable_progress_bar = false;
CREATE MACRO latest(name) AS TABLE
  SELECT * FROM query_table(name) SEMI JOIN (
    SELECT filename, line, deleted FROM query_table(name)
    QUALIFY row_number() OVER (PARTITION BY key ORDER BY layer DESC, deleted, filename, line) = 1
  ) USING (filename, line) WHERE NOT deleted;
CREATE MACRO edges(name) AS TABLE
  SELECT * FROM (
    SELECT * FROM query_table(name) WHERE key IS NOT NULL
    QUALIFY row_number() OVER (
      PARTITION BY key, coalesce(citation, -1 - cited) ORDER BY layer DESC, deleted, filename, line) = 1
  ) e
  WHERE NOT deleted AND cited IS NOT NULL AND NOT EXISTS (
    FROM query_table(name) d
    WHERE d.deleted AND d.key IS NULL AND d.citation = e.citation AND d.layer > e.layer
  ) AND NOT EXISTS (
    FROM query_table(name) d
    WHERE d.deleted AND d.citation IS NULL AND d.key = e.key AND d.cited = e.cited AND d.layer > e.layer
  );
"""
"""`latest`: of one key the row of the highest layer, and in a layer the first; none when that one says it is gone. Only
narrow columns are sorted: texts and vectors are read again for the rows that stand. `edges`: the same of citations,
whose key is their own number where they have one; a deletion may name that number alone, or the two papers alone."""


class JoinLimits(Frozen):
    memory_mb: int = 4096
    threads: int = 2
    vector_model: str = "allenai/specter2"
    """What `Embedder.name` calls the model that made Semantic Scholar's vectors."""


@contextmanager
def tables(root: Place, limits: JoinLimits) -> Iterator[Tables]:
    """An empty database that reads files below the root. Raises ConfigurationError for what does not fit the limits,
    and OSError."""
    with (
        TemporaryDirectory(prefix="assayer-") as spill,
        _failures_told(limits),
        _connection(spill, limits) as base,
    ):
        if root.local is None:
            base.register_filesystem(root.system)
        yield base


def raw_table(base: Tables, name: str, files: Sequence[Place], schema: pa.Schema) -> None:
    """Of stage one's files; of none an empty table with their columns."""
    if files:
        base.read_parquet([str(file) for file in files], filename=True).create_view(name)
    else:
        base.register(name, schema.append(pa.field("filename", pa.string())).empty_table())


def _connection(spill: str, limits: JoinLimits) -> Tables:
    base = duckdb.connect(
        config={
            "memory_limit": f"{limits.memory_mb}MB",
            "threads": limits.threads,
            "temp_directory": spill,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    base.execute("SET VARIABLE vector_model = ?", [limits.vector_model])
    base.execute(_SETUP)
    return base


@contextmanager
def _failures_told(limits: JoinLimits) -> Iterator[None]:
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise ConfigurationError(
            f"A partition cannot be joined in {limits.memory_mb} MB.", "Raise ASSAYER_INGEST__MEMORY_MB."
        ) from error
    except duckdb.IOException as error:
        raise OSError(str(error).splitlines()[0]) from error
