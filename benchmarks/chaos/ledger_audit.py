"""Checks that charges match the ledger and that erased data is gone. They use only SQL and files, not the product's
code."""

import zlib
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from assayer.models import Frozen

AnyConnection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"

_TOLERANCE_USD = 1e-9
"""Tolerance in US dollars for sums of floats."""

# A call in flight during a cancellation or erasure is recorded in the ledger a moment later, but not charged.
_CHARGES = """
    SELECT j.id, j.tenant, j.cost_usd AS charged, coalesce(sum(l.cost_usd), 0) AS most,
           coalesce(sum(l.cost_usd) FILTER (
               WHERE l.at <= j.finished_at - CASE j.state WHEN 'cancelled' THEN interval '1 s' ELSE interval '0' END
           ), 0) AS least, count(l.id) FILTER (WHERE l.at > j.finished_at) AS late
    FROM jobs j LEFT JOIN runs r ON r.job = j.id LEFT JOIN ledger l ON l.run_id = r.run_id AND NOT l.cached
    WHERE j.finished_at IS NOT NULL GROUP BY j.id
"""
_ERASED_CHARGES = """
    SELECT coalesce(sum(l.cost_usd), 0) AS most,
           coalesce(sum(l.cost_usd) FILTER (WHERE l.at <= e.erased_at - interval '1 s'), 0) AS least
    FROM erased_runs e JOIN ledger l USING (run_id) WHERE NOT l.cached
"""
_TOTAL_SPENDING = "SELECT coalesce(sum(usd), 0) FROM spending"
_ORPHANED_RUNS = """
    SELECT DISTINCT run_id FROM ledger l WHERE NOT cached AND prompt_tokens + completion_tokens > 0
        AND NOT EXISTS (SELECT FROM runs r WHERE r.run_id = l.run_id)
        AND NOT EXISTS (SELECT FROM erased_runs e WHERE e.run_id = l.run_id)
"""
_TOKENS = "SELECT coalesce(sum(prompt_tokens + completion_tokens), 0)::bigint FROM ledger WHERE NOT cached"
_KEPT_DOCUMENTS = "SELECT document_file FROM jobs WHERE document_file IS NOT NULL"
_TABLES = """
    SELECT c.relname AS name,
           coalesce(array_agg(a.attname::text) FILTER (WHERE a.atttypid = 'bytea'::regtype), '{}') AS bytes
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' GROUP BY 1
"""


class Erased(Frozen):
    """Line of the clients' record: an erasure that the service confirmed."""

    job: str
    marker: str
    """Words that occur only in the erased idea."""


class Charge(NamedTuple):
    """Charge for an evaluation that has ended, or for all erased evaluations, in US dollars."""

    id: str
    charged_usd: float | None
    min_usd: float
    """Lower bound: ledger entries before the verdict."""
    max_usd: float
    """Upper bound: all ledger entries, including those after the verdict."""


class LedgerAudit(NamedTuple):
    broken: Mapping[str, Collection[str]]
    tokens: int
    """Tokens in the ledger: those of answers, and at least the prompts of requests that the endpoint may have received
    without answering in time."""
    ledger_usd: float
    spent_usd: float
    late: int
    """Number of calls recorded after the verdict: in the ledger, but not charged for a cancelled evaluation."""


async def audit(connection: AnyConnection, erasures: Sequence[Erased], files: Path) -> LedgerAudit:
    """Check charges and erasures after all evaluations have ended. `files` is the folder of submitted documents, in
    which only documents of evaluations that were not erased may remain."""
    kept_files = {row[0] for row in await connection.fetch(_KEPT_DOCUMENTS)}
    rows = await connection.fetch(_CHARGES)
    charges = [Charge(row["id"], row["charged"], row["least"], row["most"]) for row in rows]
    erased_charges = await connection.fetchrow(_ERASED_CHARGES)
    assert erased_charges is not None  # noqa: S101 - sums always have a row
    spent_usd = float(await connection.fetchval(_TOTAL_SPENDING))
    erased_charge = Charge(
        "all that were erased",
        spent_usd - sum(charge.charged_usd or 0.0 for charge in charges),
        *reversed(tuple(erased_charges)),
    )
    ids = {item.job for item in erasures}
    stored_ids = {
        row["id"] for row in await connection.fetch("SELECT id FROM jobs WHERE id = ANY($1::text[])", list(ids))
    }
    return LedgerAudit(
        broken={
            "charged another sum than was paid for them": [
                charge.id for charge in [*charges, erased_charge] if is_unbalanced(charge)
            ],
            "runs that were paid for and belong to no evaluation": [
                row[0] for row in await connection.fetch(_ORPHANED_RUNS)
            ],
            "erased, and still in the tables": stored_ids,
            "places where words of erased ideas are left": [
                *[place async for place in _find_in_tables(connection, [item.marker for item in erasures])],
                *_find_unexpected_files(files, kept_files),
            ],
        },
        tokens=await connection.fetchval(_TOKENS),
        ledger_usd=sum(charge.max_usd for charge in charges) + erased_charges["most"],
        spent_usd=spent_usd,
        late=sum(row["late"] for row in rows),
    )


def is_unbalanced(charge: Charge) -> bool:
    if charge.charged_usd is None:
        return True
    return not charge.min_usd - _TOLERANCE_USD <= charge.charged_usd <= charge.max_usd + _TOLERANCE_USD


async def _find_in_tables(connection: AnyConnection, markers: Sequence[str]) -> AsyncIterator[str]:
    """Yield the places in the tables with one of the markers. All columns are searched as text, and byte columns also
    as they are and decompressed."""
    patterns = [f"%{marker}%" for marker in markers]
    for table in await connection.fetch(_TABLES) if markers else ():
        name = table["name"]
        query = f"SELECT count(*) FROM {name} t WHERE t::text LIKE ANY($1::text[])"  # noqa: S608
        if row_count := await connection.fetchval(query, patterns):
            yield f"{row_count} rows of {name}"
        for column in table["bytes"]:
            for row in await connection.fetch(f"SELECT {column} FROM {name} WHERE {column} IS NOT NULL"):  # noqa: S608
                if any(marker.encode() in content for content in _expand_content(row[0]) for marker in markers):
                    yield f"{name}.{column}"


def _expand_content(content: bytes) -> Iterator[bytes]:
    yield content
    try:
        yield zlib.decompress(content)
    except zlib.error:
        return


def _find_unexpected_files(folder: Path, kept_files: Collection[str]) -> list[str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [str(file) for file in files if file.relative_to(folder).as_posix() not in kept_files]
