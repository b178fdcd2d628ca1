"""Stage two: the rows of one partition, from all sources, become paper records.

DuckDB joins out of core: a partition that does not fit its memory is spilled to disk.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from assayer.errors import ConfigurationError
from assayer.models import Frozen
from index.ingest.kinds import KINDS, S2_KINDS, KindName
from index.ingest.places import Place
from index.ingest.raw import part_name
from index.reading.record_files import RECORDS_SCHEMA
from index.versions.manifest import RejectionCount

try:
    import duckdb
except ImportError:
    raise ConfigurationError("Ingest joins with DuckDB, which is not installed.", "Install assayer[ingest].") from None

__all__ = ["DELETIONS", "RECORDS", "UPSERTS", "JoinLimits", "PartSummary", "join_part", "made_from"]

RECORDS, UPSERTS, DELETIONS = "records", "upserts", "deletions"
_SOURCES = b"assayer.sources"
_GROUP = 8192

_SETUP = """
SET enable_progress_bar = false;
CREATE MACRO latest(name) AS TABLE
  SELECT * FROM query_table(name) SEMI JOIN (
    SELECT filename, line, deleted FROM query_table(name)
    QUALIFY row_number() OVER (PARTITION BY key ORDER BY layer DESC, deleted, filename, line) = 1
  ) USING (filename, line) WHERE NOT deleted;
"""
"""Of one key the row of the highest layer, and in a layer the first; none when that one says it is gone. Only narrow
columns are sorted: texts and vectors are read again for the rows that stand."""

_S2 = """
CREATE TEMP TABLE joined AS
WITH edges AS (
  SELECT key, cited, citation, layer FROM citations WHERE key IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY key, cited ORDER BY layer DESC, deleted) = 1 AND NOT deleted
), standing AS (
  SELECT key, cited FROM edges e WHERE NOT EXISTS (
    FROM citations d WHERE d.key IS NULL AND d.citation = e.citation AND d.layer > e.layer)
), cites AS (
  SELECT key, list('CorpusId:' || cited ORDER BY cited) AS "references"
  FROM standing WHERE cited IS NOT NULL GROUP BY key
)
SELECT 'CorpusId:' || p.key AS id, p.title, a.abstract, p.authors, p.publication_date, p.venue, p.url,
       p.citation_count, p.identifiers, c."references", p.fields, false AS retracted, s.sections, v.vector,
       CASE WHEN v.vector IS NOT NULL THEN getvariable('vector_model') END AS vector_model
FROM latest('papers') p
LEFT JOIN latest('abstracts') a USING (key)
LEFT JOIN cites c USING (key)
LEFT JOIN latest('s2orc') s USING (key)
LEFT JOIN latest('embeddings-specter_v2') v USING (key);
"""
_WHOLE = """
CREATE TEMP TABLE joined AS
SELECT key AS id, * EXCLUDE (key, line, layer, deleted, filename) FROM latest('rows');
"""
_REASONS = """
SELECT count(*) FILTER (trim(coalesce(title, '')) = ''),
       count(*) FILTER (trim(coalesce(title, '')) <> '' AND trim(coalesce(abstract, '')) = '')
FROM joined;
"""
_USABLE = "DELETE FROM joined WHERE trim(coalesce(title, '')) = '' OR trim(coalesce(abstract, '')) = '';"
_DUPLICATES = "SELECT count(*) - count(DISTINCT (key, layer)) FROM query_table($name) WHERE NOT deleted"
_CHANGED = "SELECT j.* FROM joined j LEFT JOIN old o ON o.id = j.id WHERE o.id IS NULL OR o IS DISTINCT FROM j"
_PENDING = """
SELECT w.* FROM waiting w SEMI JOIN joined j ON j.id = w.id ANTI JOIN changed c ON c.id = w.id
UNION ALL BY NAME SELECT * FROM changed;
"""
"""What an earlier night has left and nobody has taken yet still counts."""
_GONE = (
    "SELECT id FROM (SELECT id FROM old UNION SELECT id FROM absent) g ANTI JOIN joined j ON j.id = g.id ORDER BY id"
)


class JoinLimits(Frozen):
    memory_mb: int = 4096
    threads: int = 2
    vector_model: str = "allenai/specter2"
    """What `Embedder.name` calls the model that made Semantic Scholar's vectors."""


class PartSummary(NamedTuple):
    records: int
    upserts: int
    deletions: int
    rejected: tuple[RejectionCount, ...]


def made_from(root: Place, part: int) -> tuple[str, ...] | None:
    """Names and seals of the sources that the records of a partition were made from; None when there are none yet."""
    place = root / RECORDS / part_name(part)
    if not place.exists():
        return None
    with place.system.open(place.path, "rb") as file:
        told = (pq.read_schema(file).metadata or {}).get(_SOURCES, b"[]")
    return tuple(json.loads(told))


def join_part(
    root: Place, part: int, files: Mapping[KindName, Sequence[Place]], names: Sequence[str], first: bool,
    limits: JoinLimits,
) -> PartSummary:  # fmt: skip
    """Writes the records of a partition anew from its raw files (`names` are told to `made_from`), and what that
    changes as upserts and deletions; of the `first` records nothing changes. Killed in the middle, it can be run
    again: the records come last."""
    with (
        _failures_told(limits),
        TemporaryDirectory(prefix="assayer-join-") as spill,
        _connection(spill, limits) as base,
    ):
        if root.local is None:
            base.register_filesystem(root.system)
        rejected = _join(base, files)
        record_file = root / RECORDS / part_name(part)
        upserts = deletions = 0
        if not first:
            upserts, deletions = _write_changes(base, root, part, record_file)
        sources = {_SOURCES: json.dumps(list(names)).encode()}
        records = _write(base.sql("FROM joined"), record_file, sources)
    return PartSummary(records, upserts, deletions, rejected)


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


def _connection(spill: str, limits: JoinLimits) -> duckdb.DuckDBPyConnection:
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


def _join(base: duckdb.DuckDBPyConnection, files: Mapping[KindName, Sequence[Place]]) -> tuple[RejectionCount, ...]:
    """Makes the table `joined`; returns what it leaves out."""
    whole = [kind for kind in files if kind not in S2_KINDS]
    if whole:
        _view(base, "rows", files[whole[0]], KINDS[whole[0]].schema)
    else:
        for kind in S2_KINDS:
            _view(base, kind, files.get(kind, ()), KINDS[kind].schema)
    base.execute(_WHOLE if whole else _S2)
    no_title, no_abstract = _one(base, _REASONS)
    (duplicates,) = _one(base, _DUPLICATES, {"name": "rows" if whole else "papers"})
    base.execute(_USABLE)
    counts = {"title is missing": no_title, "abstract is missing": no_abstract, "duplicate id": duplicates}
    return tuple(RejectionCount(reason=reason, count=count) for reason, count in counts.items() if count)


def _view(base: duckdb.DuckDBPyConnection, name: str, files: Sequence[Place], schema: pa.Schema) -> None:
    """Of Parquet files; of none an empty table with their columns."""
    if files:
        base.read_parquet([str(file) for file in files], filename=True).create_view(name)
    else:
        base.register(name, schema.append(pa.field("filename", pa.string())).empty_table())


def _records(base: duckdb.DuckDBPyConnection, name: str, file: Place) -> None:
    if file.exists():
        base.read_parquet(str(file)).create_view(name)
    else:
        base.register(name, RECORDS_SCHEMA.empty_table())


def _one(base: duckdb.DuckDBPyConnection, query: str, given: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
    row = base.execute(query, dict(given or {})).fetchone()
    return row or ()


def _write_changes(base: duckdb.DuckDBPyConnection, root: Place, part: int, record_file: Place) -> tuple[int, int]:
    """Of upserts and deletions how many are pending now."""
    upsert_file = root / UPSERTS / part_name(part)
    gone_file = root / DELETIONS / part_name(part).replace(".parquet", ".txt")
    _records(base, "old", record_file)
    _records(base, "waiting", upsert_file)
    waiting = gone_file.read().decode().split() if gone_file.exists() else []
    base.register("absent", pa.table({"id": pa.array(waiting, pa.string())}))
    base.execute(f"CREATE TEMP TABLE changed AS {_CHANGED}")
    upserts = _write(base.sql(_PENDING), upsert_file, {})
    if not upserts:
        upsert_file.remove()
    gone = [str(row[0]) for row in base.execute(_GONE).fetchall()]
    if gone:
        gone_file.write("".join(f"{one}\n" for one in gone).encode())
    else:
        gone_file.remove()
    return upserts, len(gone)


def _write(rows: duckdb.DuckDBPyRelation, place: Place, metadata: Mapping[bytes, bytes]) -> int:
    """In the columns and types of records; returns how many."""
    schema = RECORDS_SCHEMA.with_metadata(dict(metadata))
    written = 0
    with place.writing() as sink, pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in rows.to_arrow_reader(_GROUP):
            writer.write_batch(batch.select(schema.names).cast(schema))
            written += batch.num_rows
    return written
