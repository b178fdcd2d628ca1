"""Second stage of ingest: join a partition's rows from all sources to paper records."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from index.ingest.duckdb_tables import BATCH, Database, JoinLimits, Relation, add_raw_table, open_database
from index.ingest.raw_files import name_partition_file
from index.ingest.source_files import S2_KINDS, SourceKind
from index.ingest.source_formats import SOURCE_FORMATS
from index.ingest.storage_path import StoragePath
from index.records.parquet_records import RECORDS_SCHEMA
from index.versions.manifest import RejectionCount

RECORDS, UPSERTS, DELETIONS = "records", "upserts", "deletions"
_SOURCES = b"assayer.sources"

_S2 = """
CREATE TEMP TABLE joined AS
WITH cites AS (
  SELECT key, list('CorpusId:' || cited ORDER BY cited) AS "references"
  FROM (SELECT DISTINCT key, cited FROM edges('citations')) GROUP BY key
), parts AS (
  FROM latest('s2orc_v2') UNION ALL FROM latest('s2orc') o ANTI JOIN latest('s2orc_v2') n ON n.key = o.key
)
SELECT 'CorpusId:' || p.key AS id, p.title, a.abstract, p.authors, p.publication_date, p.venue, p.url,
       p.citation_count, p.identifiers, c."references", p.fields, false AS retracted, s.sections, v.vector,
       CASE WHEN v.vector IS NOT NULL THEN getvariable('vector_model') END AS vector_model
FROM latest('papers') p
LEFT JOIN latest('abstracts') a USING (key)
LEFT JOIN cites c USING (key)
LEFT JOIN parts s USING (key)
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
"""SQL that selects pending upserts, including those from earlier runs that the corpus has not applied yet."""
_GONE = (
    "SELECT id FROM (SELECT id FROM old UNION SELECT id FROM absent) g ANTI JOIN joined j ON j.id = g.id ORDER BY id"
)


class PartitionSummary(NamedTuple):
    records: int
    upserts: int
    deletions: int
    rejected: tuple[RejectionCount, ...]


def read_joined_sources(root: StoragePath, part: int) -> tuple[str, ...] | None:
    """Return the names and seals of the sources that a partition was last joined from; None before its first join."""
    place = root / RECORDS / name_partition_file(part)
    if not place.exists():
        return None
    with place.filesystem.open(place.path, "rb") as file:
        sources_json = (pq.read_schema(file).metadata or {}).get(_SOURCES, b"[]")
    return tuple(json.loads(sources_json))


def join_partition(
    root: StoragePath, part: int, files: Mapping[SourceKind, Sequence[StoragePath]], names: Sequence[str], is_first:
    bool, limits: JoinLimits,
) -> PartitionSummary:  # fmt: skip
    """Rewrite a partition's records from its raw files. Unless `is_first` is true, write the changes as
    upserts and deletions too. `names` are stored for `read_joined_sources`. Records are written last, so that an
    interrupted join can be repeated."""
    with open_database(root, limits) as base:
        rejections = _join(base, files)
        record_file = root / RECORDS / name_partition_file(part)
        upserts = deletions = 0
        if not is_first:
            upserts, deletions = _write_changes(base, root, part, record_file)
        sources = {_SOURCES: json.dumps(list(names)).encode()}
        records = _write(base.sql("FROM joined"), record_file, sources)
    return PartitionSummary(records, upserts, deletions, rejections)


def _join(base: Database, files: Mapping[SourceKind, Sequence[StoragePath]]) -> tuple[RejectionCount, ...]:
    """Create the table `joined`, and return how many rows were rejected for each reason."""
    single_file_kinds = [kind for kind in files if kind not in S2_KINDS]
    if single_file_kinds:
        add_raw_table(base, "rows", files[single_file_kinds[0]], SOURCE_FORMATS[single_file_kinds[0]].schema)
    else:
        for kind in S2_KINDS:
            add_raw_table(base, kind, files.get(kind, ()), SOURCE_FORMATS[kind].schema)
    base.execute(_WHOLE if single_file_kinds else _S2)
    no_title, no_abstract = _fetch_row(base, _REASONS)
    (duplicates,) = _fetch_row(base, _DUPLICATES, {"name": "rows" if single_file_kinds else "papers"})
    base.execute(_USABLE)
    counts = {"title is missing": no_title, "abstract is missing": no_abstract, "duplicate id": duplicates}
    return tuple(RejectionCount(reason=reason, count=count) for reason, count in counts.items() if count)


def _add_records(base: Database, name: str, file: StoragePath) -> None:
    if file.exists():
        base.read_parquet(str(file)).create_view(name)
    else:
        base.register(name, RECORDS_SCHEMA.empty_table())


def _fetch_row(base: Database, query: str, parameters: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
    row = base.execute(query, dict(parameters or {})).fetchone()
    return row or ()


def _write_changes(base: Database, root: StoragePath, part: int, record_file: StoragePath) -> tuple[int, int]:
    """Write a partition's changes, and return the numbers of pending upserts and deletions."""
    upsert_file = root / UPSERTS / name_partition_file(part)
    gone_file = root / DELETIONS / name_partition_file(part).replace(".parquet", ".txt")
    _add_records(base, "old", record_file)
    _add_records(base, "waiting", upsert_file)
    pending_deletions = gone_file.read().decode().split() if gone_file.exists() else []
    base.register("absent", pa.table({"id": pa.array(pending_deletions, pa.string())}))
    base.execute(f"CREATE TEMP TABLE changed AS {_CHANGED}")
    upserts = _write(base.sql(_PENDING), upsert_file, {})
    if not upserts:
        upsert_file.remove()
    deleted_ids = [str(row[0]) for row in base.execute(_GONE).fetchall()]
    if deleted_ids:
        gone_file.write("".join(f"{deleted_id}\n" for deleted_id in deleted_ids).encode())
    else:
        gone_file.remove()
    return upserts, len(deleted_ids)


def _write(rows: Relation, place: StoragePath, metadata: Mapping[bytes, bytes]) -> int:
    """Write rows with the columns and types of records, and return how many there are."""
    schema = RECORDS_SCHEMA.with_metadata(dict(metadata))
    rows_written = 0
    with place.open_atomic() as sink, pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in rows.to_arrow_reader(BATCH):
            writer.write_batch(batch.select(schema.names).cast(schema))
            rows_written += batch.num_rows
    return rows_written
