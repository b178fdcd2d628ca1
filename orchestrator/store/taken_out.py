"""One applicant taken out of a finished ranking, which stays as it was for all others: a gap where they stood."""

import datetime as dt
from collections.abc import Sequence, Set
from typing import NamedTuple

from assayer.models import Absent
from assayer.models.ranking import ErasedRank
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.store.database import Connection
from orchestrator.store.job_sql import called
from orchestrator.store.json_columns import to_json_column

__all__ = [
    "APPLICANT",
    "LEAST_LEFT",
    "STILL_RANKED",
    "TAKE_OUT_SECONDS",
    "RankedApplicant",
    "ranked_applicant",
    "take_out",
]

LEAST_LEFT = 2
"""Proposals of which an order is told; a ranking that would have fewer goes whole."""
TAKE_OUT_SECONDS = 300.0
"""A ranking of thousands is tens of megabytes, written anew."""

_IDEAS = """
    SELECT jobs.id, coalesce(jobs.request #>> '{idea,id}', evaluations.idea_id) AS idea
    FROM jobs LEFT JOIN evaluations ON evaluations.id = jobs.run_id
    WHERE tenant = $1 AND kind = 'evaluation' AND
"""
APPLICANT = f"""
    direct AS (
        {_IDEAS} (
            batch = $3 OR {called("(jobs.request ->> 'source')", "$2")}
            OR {called("(jobs.request #>> '{idea,source}')", "$2")}
        )
    ), own (idea) AS (
        (SELECT idea FROM direct UNION SELECT unnest($4::text[])) EXCEPT
        SELECT idea FROM (
            {_IDEAS} $2::text IS NOT NULL AND NOT EXISTS (SELECT FROM direct WHERE direct.id = jobs.id)
        ) AS others
    )
"""  # noqa: S608 - put together from constants
"""Evaluations that a tenant ($1) calls so ($2), or of a batch ($3), and their ideas, with those ($4) of evaluations
that are gone by now. By words that somebody else's proposal has too no applicant is found while that is there."""

_LOCK = """
    SELECT size FROM jobs JOIN rankings ON job = id
    WHERE tenant = $1 AND id = $2 AND kind = 'ranking' AND state = 'done' FOR UPDATE OF jobs
"""
_TAKEN = f"""
    WITH {APPLICANT}
    SELECT one ->> 'id' AS idea, (one ->> 'rank')::integer AS rank
    FROM rankings, jsonb_array_elements(ideas) AS one
    WHERE job = $5 AND ({called("(one ->> 'source')", "$2")} OR one ->> 'id' IN (SELECT idea FROM own))
    ORDER BY rank
"""  # noqa: S608 - put together from constants
# What the proof of each erasure looks for: that it came by.
_NOTE = """
    UPDATE rankings SET head = head || jsonb_build_object('erasures', coalesce(head -> 'erasures', '[]') || $2::jsonb)
    WHERE job = $1
"""
_OTHERS = "SELECT count(*) FROM ranked_ideas WHERE job = $1 AND idea <> ALL($2::text[])"

_FORGET_ROWS = (
    "DELETE FROM pair_verdicts WHERE job = $1 AND (first = ANY($2::text[]) OR second = ANY($2::text[]))",
    "DELETE FROM ranked_ideas WHERE job = $1 AND idea = ANY($2::text[])",
    # Of whom nobody else has the same text any more.
    """
    UPDATE ranked_ideas SET alike = false WHERE job = $1 AND alike AND idea IN (
        SELECT one ->> 'id' FROM rankings, jsonb_array_elements(ideas) AS one
        WHERE job = $1 AND (one -> 'same_text_as') - $2::text[] = '[]'
    )
    """,
)
# What was written of the group speaks of all of it, and names them by their ranks.
_FORGET_IN_RANKING = """
    UPDATE rankings SET
        ideas = (
            SELECT jsonb_agg(
                CASE WHEN one -> 'same_text_as' ?| $2::text[]
                    THEN jsonb_set(one, '{same_text_as}', (one -> 'same_text_as') - $2::text[]) ELSE one END
                ORDER BY place
            )
            FROM jsonb_array_elements(ideas) WITH ORDINALITY AS each (one, place)
            WHERE one ->> 'id' <> ALL($2::text[])
        ),
        head = head || jsonb_build_object('erased', coalesce(head -> 'erased', '[]') || $3::jsonb)
            || CASE WHEN head -> 'analysis' ? 'overview' THEN jsonb_build_object('analysis', $4::jsonb) ELSE '{}' END
    WHERE job = $1
"""
# The document of the result says what the rows say (v0033); flags are of the texts that are left. What is large is put
# in last, as each step before would write it anew.
_FORGET_IN_JOB = """
    WITH kept AS (
        SELECT coalesce(jsonb_agg(one ORDER BY place), '[]') AS ideas
        FROM jobs, jsonb_array_elements(request -> 'ideas') WITH ORDINALITY AS each (one, place)
        WHERE id = $1 AND one ->> 'id' <> ALL($2::text[])
    ), known AS (
        SELECT coalesce(jsonb_agg(one ORDER BY place), '[]') AS comparisons
        FROM jobs, jsonb_array_elements(coalesce(request -> 'known', '[]')) WITH ORDINALITY AS each (one, place)
        WHERE id = $1 AND one ->> 'first' <> ALL($2::text[]) AND one ->> 'second' <> ALL($2::text[])
    ), answers AS (
        SELECT coalesce(jsonb_agg(answer ORDER BY place), '[]') AS comparisons FROM pair_verdicts WHERE job = $1
    )
    UPDATE jobs SET
        request = jsonb_set(
            (request - '{ideas,known,scores}'::text[]) || jsonb_build_object(
                'known', known.comparisons, 'scores', coalesce(request -> 'scores', '{}') - $2::text[]
            ),
            '{ideas}', kept.ideas
        ),
        result = jsonb_set(
            (result - '{ranking,comparisons}'::text[])
                || jsonb_build_object('ranking', head || jsonb_build_object('ideas', rankings.ideas)),
            '{comparisons}', answers.comparisons
        ),
        flags = ARRAY(
            SELECT flag FROM unnest(flags) WITH ORDINALITY AS had (flag, place)
            WHERE flag IN (SELECT jsonb_path_query(kept.ideas, '$[*].flags[*].kind') #>> '{}') ORDER BY place
        )
    FROM kept, known, answers, rankings WHERE id = $1 AND rankings.job = $1
"""
# A question to a judge holds both ideas whole, in words that may have been masked or cut: all that were asked for the
# ranking go, as they would with it. What was answered stays in the comparisons of the others.
_FORGET_ANSWERS = """
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

STILL_RANKED = """
    WITH kept AS (
        SELECT id, request, result, head, ideas, size FROM jobs JOIN rankings ON job = id
        WHERE tenant = $1 AND id = ANY($2)
    ), named (job, idea) AS (
        SELECT id, jsonb_path_query(request, '$.ideas[*].id') #>> '{}' FROM kept
        UNION SELECT id, jsonb_object_keys(request -> 'scores') FROM kept
        UNION SELECT id, one ->> side FROM kept, jsonb_path_query(request, '$.known[*]') AS one,
                     unnest('{first,second}'::text[]) AS side
        UNION SELECT id, one ->> side FROM kept, jsonb_path_query(result, '$.comparisons[*]') AS one,
                     unnest('{first,second}'::text[]) AS side
        UNION SELECT id, jsonb_path_query(result, '$.ranking.ideas[*].id') #>> '{}' FROM kept
        UNION SELECT id, jsonb_path_query(result, '$.ranking.ideas[*].same_text_as[*]') #>> '{}' FROM kept
        UNION SELECT id, jsonb_path_query(ideas, '$[*].id') #>> '{}' FROM kept
        UNION SELECT id, jsonb_path_query(ideas, '$[*].same_text_as[*]') #>> '{}' FROM kept
        UNION SELECT id, first FROM kept JOIN pair_verdicts ON job = id
        UNION SELECT id, second FROM kept JOIN pair_verdicts ON job = id
    )
    SELECT kept.id FROM kept WHERE
        EXISTS (
            SELECT FROM named WHERE named.job = kept.id AND NOT EXISTS (
                SELECT FROM ranked_ideas WHERE ranked_ideas.job = kept.id AND ranked_ideas.idea = named.idea
            )
        )
        OR NOT coalesce(head -> 'erasures', '[]') @> $3::jsonb
        OR size <> jsonb_array_length(coalesce(head -> 'erased', '[]'))
            + (SELECT count(*) FROM ranked_ideas WHERE job = kept.id)
        OR EXISTS (
            SELECT FROM ranked_ideas, jsonb_array_elements(head -> 'erased') AS gap
            WHERE job = kept.id AND rank = (gap ->> 'rank')::integer
        )
        OR head -> 'analysis' ? 'overview' OR result #> '{ranking,analysis}' ? 'overview'
        OR EXISTS (
            SELECT FROM runs JOIN ledger USING (run_id)
            JOIN answers ON answers.key = ledger.key AND answers.created_at = ledger.at
            WHERE runs.job = kept.id AND NOT cached
        )
"""
"""Of rankings ($2) from which an erasure ($3) took somebody out, those to which it has not come yet, and those that
name an idea anywhere which stands nowhere in them, have one where nobody is left, or words about all of them."""


class RankedApplicant(NamedTuple):
    """Of one applicant, in a ranking that is done."""

    ideas: tuple[str, ...]
    ranks: tuple[int, ...]
    others: int
    """Ideas that stay."""


async def ranked_applicant(
    connection: Connection, tenant: TenantId, ranking: JobId, source: str, ideas: Set[str]
) -> RankedApplicant | None:
    """Whoever is called so, there or as an evaluation, or had one of these ideas.

    Keeps the ranking as it is until the transaction has ended. None: it is not there any more."""
    if await connection.fetchrow(_LOCK, tenant, ranking) is None:
        return None
    rows = await connection.fetch(_TAKEN, tenant, source, None, list(ideas), ranking)
    taken = tuple(row["idea"] for row in rows)
    others = await connection.fetchval(_OTHERS, ranking, taken)
    return RankedApplicant(taken, tuple(row["rank"] for row in rows), others)


async def take_out(
    connection: Connection, ranking: JobId, applicant: RankedApplicant, now: dt.datetime, proof: int
) -> None:
    """From all rows and documents of a ranking that `ranked_applicant` has locked, and from the cache of answers.

    Ranks, intervals and bands of the others stay. `proof`: number of the entry of the audit log that says so."""
    await connection.fetch(_NOTE, ranking, str(proof))
    if not applicant.ideas:
        return
    ideas, day = list(applicant.ideas), now.astimezone(dt.UTC).date()
    for statement in _FORGET_ROWS:
        await connection.fetch(statement, ranking, ideas, timeout=TAKE_OUT_SECONDS)
    gaps = _as_json([ErasedRank(rank=rank, on=day) for rank in applicant.ranks])
    gone = to_json_column(Absent(reason=f"It was about all of the ideas, and one of them was erased on {day}."))
    await connection.fetch(_FORGET_IN_RANKING, ranking, ideas, gaps, gone, timeout=TAKE_OUT_SECONDS)
    await connection.fetch(_FORGET_IN_JOB, ranking, ideas, timeout=TAKE_OUT_SECONDS)
    await connection.fetch(_FORGET_ANSWERS, ranking, timeout=TAKE_OUT_SECONDS)


def _as_json(gaps: Sequence[ErasedRank]) -> str:
    return f"[{','.join(gap.model_dump_json() for gap in gaps)}]"
