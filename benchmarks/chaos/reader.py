"""`python -m benchmarks.chaos.reader URL RECORD ERASURES FILES`: compare the tables with the clients' record.

It is a separate process with its own SQL, so that it shares no code with the service that it checks. Prints Findings.
"""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

import asyncpg

from benchmarks.chaos.findings import Accepted, Findings, StoredEvaluation, check_guarantees
from benchmarks.chaos.ledger_audit import Erased, audit

_JOBS = """
    SELECT j.id, j.state, j.attempt, j.lease IS NOT NULL AS leased, j.problem::text AS problem,
           v.report IS NOT NULL AS reported
    FROM jobs j LEFT JOIN evaluations v ON v.id = j.run_id
    WHERE j.tenant LIKE 'tenant-%'
"""
_EVENTS = "SELECT job, number, kind FROM events ORDER BY job, number"
_LATE_CALLS = """
    SELECT DISTINCT j.id FROM jobs j JOIN runs r ON r.job = j.id JOIN ledger l ON l.run_id = r.run_id
    WHERE j.finished_at IS NOT NULL
      AND l.at - make_interval(secs => l.latency_seconds)
          > j.finished_at + CASE j.state WHEN 'cancelled' THEN interval '1 second' ELSE interval '0' END
"""
"""Calls started after the verdict. For cancelled evaluations, a second is allowed until the worker is notified."""
_PAID_CALLS = "SELECT count(*) FROM ledger WHERE outcome = 'answered' AND NOT cached"
_CONNECT_SECONDS, _READ_SECONDS = 30.0, 120.0


async def read_findings(
    url: str, accepted_jobs: Collection[Accepted], erasures: Sequence[Erased], files: Path
) -> Findings:
    connection = await asyncpg.connect(url, timeout=_CONNECT_SECONDS, command_timeout=_READ_SECONDS)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            events: dict[str, list[tuple[int, str]]] = defaultdict(list)
            for row in await connection.fetch(_EVENTS):
                events[row["job"]].append((row["number"], row["kind"]))
            jobs = {row["id"]: _build_evaluation(row, events[row["id"]]) for row in await connection.fetch(_JOBS)}
            late_ids = [row["id"] for row in await connection.fetch(_LATE_CALLS)]
            paid_calls = await connection.fetchval(_PAID_CALLS)
            ledger_audit = await audit(connection, erasures, files)
    finally:
        await connection.close()
    return check_guarantees(jobs, late_ids, paid_calls, accepted_jobs, [item.job for item in erasures], ledger_audit)


def _build_evaluation(row: asyncpg.Record, events: list[tuple[int, str]]) -> StoredEvaluation:
    return StoredEvaluation(row["state"], row["attempt"], row["leased"], row["reported"], row["problem"], events)


def main() -> None:
    url, record, erasures, files = sys.argv[1:]
    accepted_jobs = [Accepted.model_validate_json(line) for line in Path(record).read_text("utf-8").splitlines()]
    erased_jobs = [Erased.model_validate_json(line) for line in Path(erasures).read_text("utf-8").splitlines()]
    print(asyncio.run(read_findings(url, accepted_jobs, erased_jobs, Path(files))).model_dump_json())


if __name__ == "__main__":
    main()
