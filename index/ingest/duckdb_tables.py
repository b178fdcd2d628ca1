"""Open the raw files of one partition as DuckDB tables, and select their current rows.

DuckDB spills a partition that does not fit in memory to disk."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pyarrow as pa

from assayer.errors import ConfigurationError
from assayer.models import Frozen
from index.ingest.storage_path import StoragePath

try:
    import duckdb
except ImportError:
    raise ConfigurationError(
        "Ingest needs DuckDB, which is not installed.", "Install it with: pip install 'assayer-research[ingest]'"
    ) from None

Database: TypeAlias = duckdb.DuckDBPyConnection
Relation: TypeAlias = duckdb.DuckDBPyRelation

BATCH = 8192
"""Number of rows read from DuckDB at a time."""

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
"""SQL macros that select current rows. `latest` keeps, for each key, the first row in the highest layer, or none if
that row is a deletion. Only narrow columns are sorted; texts and vectors are then read for the kept rows. `edges` does
the same for citations. A citation's key is its number, if it has one; a deletion can state only the number or only the
two papers."""


class JoinLimits(Frozen):
    memory_mb: int = 4096
    threads: int = 2
    vector_model: str = "allenai/specter2"
    """Name of the model that computed Semantic Scholar's vectors, as in `Embedder.name`."""


@contextmanager
def open_database(root: StoragePath, limits: JoinLimits) -> Iterator[Database]:
    """Open an empty database that can read files below the root. Within the context, ConfigurationError is raised if
    memory runs out, and OSError if reading or writing fails."""
    with (
        TemporaryDirectory(prefix="assayer-") as spill,
        _explain_duckdb_errors(limits),
        _connect(spill, limits) as base,
    ):
        if root.local is None:
            base.register_filesystem(root.filesystem)
        yield base


def add_raw_table(base: Database, name: str, files: Sequence[StoragePath], schema: pa.Schema) -> None:
    """Add a table that reads raw files; if there are none, an empty table with the same columns."""
    if files:
        base.read_parquet([str(file) for file in files], filename=True).create_view(name)
    else:
        base.register(name, schema.append(pa.field("filename", pa.string())).empty_table())


def _connect(spill: str, limits: JoinLimits) -> Database:
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
def _explain_duckdb_errors(limits: JoinLimits) -> Iterator[None]:
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise ConfigurationError(
            f"{limits.memory_mb} MB of memory is not enough to join a partition.",
            "Increase ASSAYER_INGEST__MEMORY_MB.",
        ) from error
    except duckdb.IOException as error:
        raise OSError(str(error).splitlines()[0]) from error
