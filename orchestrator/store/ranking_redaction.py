"""Removal of an applicant's ideas from a finished ranking. The other ideas keep their ranks, so gaps remain."""

import datetime as dt
from collections.abc import Set
from typing import NamedTuple

from assayer.models import Absent
from assayer_client.rankings import ErasedRank
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.store.database import Connection
from orchestrator.store.job_sql import source_matches
from orchestrator.store.json_columns import to_json_column

MIN_REMAINING_PROPOSALS = 2
"""Minimum number of proposals that must remain; a ranking that would have fewer is deleted."""
REDACTION_SECONDS = 300.0
"""Timeout in seconds for redacting a ranking, which may contain thousands of ideas."""

_SELECT_IDEAS = """
    SELECT jobs.id, coalesce(jobs.request #>> '{idea,id}', evaluations.idea_id) AS idea
    FROM jobs LEFT JOIN evaluations ON evaluations.id = jobs.run_id
    WHERE tenant = $1 AND kind = 'evaluation' AND
"""
APPLICANT_IDEAS = f"""
    direct AS (
        {_SELECT_IDEAS} (
            batch = $3 OR {source_matches("(jobs.request ->> 'source')", "$2")}
            OR {source_matches("(jobs.request #>> '{idea,source}')", "$2")}
            OR EXISTS (SELECT FROM applicants WHERE evaluation = jobs.id AND name <> '' AND lower(name) = lower($2))
        )
    ), own (idea) AS (
        (SELECT idea FROM direct UNION SELECT unnest($4::text[])) EXCEPT
        SELECT idea FROM (
            {_SELECT_IDEAS} $2::text IS NOT NULL AND NOT EXISTS (SELECT FROM direct WHERE direct.id = jobs.id)
        ) AS others
    )
"""
"""SQL that defines two tables for a tenant ($1). `direct` holds the evaluations named $2 or in batch $3. `own` holds
their ideas and the ideas ($4) of evaluations already deleted. An idea with the same text as another proposal is omitted
from `own`: it does not identify the applicant as long as that proposal exists."""

_LOCK_RANKING = """
    SELECT size FROM jobs JOIN rankings ON job = id
    WHERE tenant = $1 AND id = $2 AND kind = 'ranking' AND state = 'succeeded' FOR UPDATE OF jobs
"""
_SELECT_APPLICANT_IDEAS = f"""
    WITH {APPLICANT_IDEAS}
    SELECT idea, rank FROM ranking_ideas
    WHERE job = $5 AND ({source_matches("source", "$2")} OR idea IN (SELECT idea FROM own)) ORDER BY rank
"""
_COUNT_OTHER_IDEAS = "SELECT count(*) FROM ranking_ideas WHERE job = $1 AND idea <> ALL($2::text[])"

_DELETE_IDEAS = (
    "DELETE FROM ranking_pairs WHERE job = $1 AND (first = ANY($2::text[]) OR second = ANY($2::text[]))",
    "DELETE FROM ranking_ideas WHERE job = $1 AND idea = ANY($2::text[])",
)
# The verification of an erasure looks for its log entry's number here.
_RECORD_ERASURE = """
    UPDATE rankings SET head = head || jsonb_build_object('erasures', coalesce(head -> 'erasures', '[]') || $2::jsonb)
    WHERE job = $1
"""
# The group overview describes all ideas and refers to them by rank, so it is deleted.
_REDACT_HEAD = """
    UPDATE rankings SET head = head || jsonb_build_object('erased', coalesce(head -> 'erased', '[]') || $2::jsonb)
        || CASE WHEN head -> 'analysis' ? 'overview' THEN jsonb_build_object('analysis', $3::jsonb) ELSE '{}' END
    WHERE job = $1
"""
_REDACT_FLAGS = """
    UPDATE jobs SET flags = ARRAY(
        SELECT flag FROM unnest(flags) WITH ORDINALITY AS numbered (flag, place) WHERE flag IN (
            SELECT jsonb_path_query(body, '$.flags[*].kind') #>> '{}' FROM ranking_ideas WHERE job = $1
        ) ORDER BY place
    )
    WHERE id = $1 AND flags <> '{}'
"""
# Requests to the judge contain both ideas, possibly masked or shortened, so all of the ranking's cached requests are
# deleted. Verdicts on pairs of other ideas stay in `ranking_pairs`.
_DELETE_ANSWERS = """
    WITH own AS (
        SELECT run_id FROM runs WHERE job = $1
    ), erased AS (
        INSERT INTO erased_runs (run_id) SELECT run_id FROM own ORDER BY 1 ON CONFLICT DO NOTHING
    ), waiting AS (
        DELETE FROM llm_batch_calls WHERE run_id IN (SELECT run_id FROM own)
    )
    DELETE FROM answers WHERE key IN (
        SELECT key FROM ledger WHERE run_id IN (SELECT run_id FROM own) AND NOT cached
    )
"""

SELECT_UNREDACTED = """
    SELECT jobs.id FROM jobs JOIN rankings ON rankings.job = jobs.id WHERE tenant = $1 AND jobs.id = ANY($2) AND (
        NOT coalesce(head -> 'erasures', '[]') @> $3::jsonb
        OR size <> jsonb_array_length(coalesce(head -> 'erased', '[]'))
            + (SELECT count(*) FROM ranking_ideas WHERE job = jobs.id)
        OR EXISTS (
            SELECT FROM ranking_ideas, jsonb_array_elements(head -> 'erased') AS gap
            WHERE job = jobs.id AND rank = (gap ->> 'rank')::integer
        )
        OR EXISTS (
            SELECT FROM ranking_pairs AS pairs CROSS JOIN LATERAL unnest(ARRAY[first, second]) AS named (idea)
            WHERE pairs.job = jobs.id AND NOT EXISTS (
                SELECT FROM ranking_ideas AS ideas WHERE ideas.job = jobs.id AND ideas.idea = named.idea
            )
        )
        OR head -> 'analysis' ? 'overview'
        OR EXISTS (
            SELECT FROM runs JOIN ledger USING (run_id)
            JOIN answers ON answers.key = ledger.key AND answers.created_at = ledger.at
            WHERE runs.job = jobs.id AND NOT cached
        )
    )
"""
"""SQL query for the rankings in $2 that erasure $3 has not finished redacting: those not processed yet, and those that
still contain data about an idea that has no rank in them."""


class RankedApplicant(NamedTuple):
    """An applicant's ideas in a finished ranking."""

    ideas: tuple[str, ...]
    ranks: tuple[int, ...]
    others: int
    """Number of ideas that belong to other applicants."""


async def find_ranked_applicant(
    connection: Connection, tenant: TenantId, ranking: JobId, source: str, ideas: Set[str]
) -> RankedApplicant | None:
    """Lock a ranking until the transaction ends, and return the applicant's ideas in it. These are the ideas named
    `source` in the ranking itself, plus those named `source` in an evaluation or listed in `ideas` unless another
    proposal has the same text. Return None if the ranking no longer exists."""
    if await connection.fetchrow(_LOCK_RANKING, tenant, ranking) is None:
        return None
    rows = await connection.fetch(_SELECT_APPLICANT_IDEAS, tenant, source, None, list(ideas), ranking)
    applicant_ideas = tuple(row["idea"] for row in rows)
    others = await connection.fetchval(_COUNT_OTHER_IDEAS, ranking, applicant_ideas)
    return RankedApplicant(applicant_ideas, tuple(row["rank"] for row in rows), others)


async def redact_ranking(
    connection: Connection, ranking: JobId, applicant: RankedApplicant, now: dt.datetime, proof: int
) -> None:
    """Delete an applicant's ideas from a ranking that `find_ranked_applicant` has locked, and from the cache of model
    answers.

    All other ideas keep their ranks, intervals and bands. `proof` is the number of the audit log entry that records the
    erasure."""
    await connection.fetch(_RECORD_ERASURE, ranking, str(proof))
    if not applicant.ideas:
        return
    day = now.astimezone(dt.UTC).date()
    for statement in _DELETE_IDEAS:
        await connection.fetch(statement, ranking, list(applicant.ideas), timeout=REDACTION_SECONDS)
    gaps = f"[{','.join(ErasedRank(rank=rank, erased_on=day).model_dump_json() for rank in applicant.ranks)}]"
    replacement = to_json_column(
        Absent(reason=f"It described all of the ideas, at least one of which was erased on {day}.")
    )
    await connection.fetch(_REDACT_HEAD, ranking, gaps, replacement)
    await connection.fetch(_REDACT_FLAGS, ranking, timeout=REDACTION_SECONDS)
    await connection.fetch(_DELETE_ANSWERS, ranking, timeout=REDACTION_SECONDS)
