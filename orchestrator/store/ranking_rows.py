"""Rankings as table rows: the submitted ideas and known answers, and the ranks once the ranking has finished. Ranking
requests and reports are not stored as documents, but assembled from these rows."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assayer.ranking.distinct_ideas import require_distinct
from orchestrator.jobs.models import JobId, JobKind, JobRequest, TenantId
from orchestrator.jobs.requests import RankingRequest
from orchestrator.store.database import Connection
from orchestrator.store.json_columns import mapping_to_json_column, replace_nul, replace_nul_in_json, to_json_column

_IDEAS_PER_STATEMENT = 500
_FIELDS_IN_ROWS = {"ideas", "known", "scores"}

WHOLE_REQUEST = """CASE WHEN jobs.kind = 'ranking' THEN jobs.request || (
        SELECT jsonb_build_object(
            'ideas', coalesce(jsonb_agg(body ORDER BY place), '[]'),
            'scores', coalesce(jsonb_object_agg(idea, seed) FILTER (WHERE seed IS NOT NULL), '{}'),
            'known', (
                SELECT coalesce(jsonb_agg(answer ORDER BY place), '[]') FROM ranking_pairs WHERE job = jobs.id AND known
            )
        )
        FROM ranking_ideas WHERE job = jobs.id
    ) ELSE jobs.request END"""
"""SQL expression for a job's request as it was submitted."""
RANKED_IDEA = """
    details || jsonb_build_object(
        'id', idea, 'title', title, 'source', source,
        'rank', rank, 'ranks', jsonb_build_object('low', low, 'high', high),
        'strength', strength, 'strengths', jsonb_build_object('low', strength_low, 'high', strength_high),
        'comparisons', comparisons, 'shortlist_probability', shortlist_probability, 'band', band, 'same_text_as', CASE
            WHEN text_group IS NULL THEN '[]'
            ELSE to_jsonb(array_remove(array_agg(idea) OVER (
                PARTITION BY text_group ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
            ), idea))
        END
    )
"""
"""SQL expression that builds a RankedIdea from a row in `ranking_ideas`, for queries over all rows of one ranking."""

_INSERT_IDEAS = """
    INSERT INTO ranking_ideas (job, place, idea, source, seed, body)
    SELECT $1, * FROM unnest($2::integer[], $3::text[], $4::text[], $5::float8[], $6::jsonb[])
"""
_INSERT_PAIRS = """
    INSERT INTO ranking_pairs (job, place, first, second, answer, known)
    SELECT $1, place, answer ->> 'first', answer ->> 'second', answer, $3
    FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS numbered (answer, place)
"""
# Joined through `runs`, because `jobs` has no index on runs.
_INSERT_CALLS = """
    INSERT INTO ranking_calls (batch, job, proposals)
    SELECT proposals.batch, $1, count(DISTINCT evaluations.idea_id)
    FROM evaluations JOIN runs ON runs.run_id = evaluations.id
    JOIN jobs AS proposals ON proposals.id = runs.job AND proposals.run_id = runs.run_id
    WHERE evaluations.idea_id = ANY($3) AND proposals.tenant = $2 AND proposals.kind = 'evaluation'
      AND proposals.batch IS NOT NULL
    GROUP BY proposals.batch HAVING count(DISTINCT evaluations.idea_id) > 1
    ON CONFLICT DO NOTHING
"""
_INSERT_HEAD = "INSERT INTO rankings (job, shortlist_size, size, head) VALUES ($1, $2, $3, $4)"
_UPDATE_IDEAS = """
    UPDATE ranking_ideas SET
        source = ranked ->> 'source', title = ranked ->> 'title', rank = (ranked ->> 'rank')::integer,
        band = ranked ->> 'band', low = (ranked #>> '{ranks,low}')::float8, high = (ranked #>> '{ranks,high}')::float8,
        shortlist_probability = (ranked ->> 'shortlist_probability')::float8,
        strength = (ranked ->> 'strength')::float8,
        strength_low = (ranked #>> '{strengths,low}')::float8, strength_high = (ranked #>> '{strengths,high}')::float8,
        comparisons = (ranked ->> 'comparisons')::integer, text_group = (ranked ->> 'text_group')::integer,
        details = ranked - $3::text[]
    FROM jsonb_array_elements($2::jsonb) AS ranked WHERE job = $1 AND idea = ranked ->> 'id'
"""
_FIELDS_IN_COLUMNS = (
    *("id", "title", "source", "rank", "ranks", "strength", "strengths", "comparisons", "shortlist_probability"),
    *("band", "same_text_as", "text_group"),
)


def request_to_json(request: JobRequest) -> str:
    """Return a request as JSON for its job's row, without the parts that `insert_ranking` stores in separate rows."""
    if not isinstance(request, RankingRequest):
        return to_json_column(request)
    return replace_nul_in_json(request.model_dump_json(exclude=_FIELDS_IN_ROWS))


async def insert_ranking(connection: Connection, tenant: TenantId, job: JobId, request: RankingRequest) -> None:
    """Store a newly submitted ranking's ideas, known answers, and the batches that it ranks. Raises InputError if an
    idea is listed twice."""
    require_distinct(request.ideas)
    for start in range(0, len(request.ideas), _IDEAS_PER_STATEMENT):
        ideas = request.ideas[start : start + _IDEAS_PER_STATEMENT]
        await connection.fetch(
            _INSERT_IDEAS,
            job,
            list(range(start, start + len(ideas))),
            [idea.id for idea in ideas],
            [replace_nul(idea.source) for idea in ideas],
            [request.scores.get(idea.id) for idea in ideas],
            [to_json_column(idea) for idea in ideas],
        )
    if request.known:
        await connection.fetch(
            _INSERT_PAIRS, job, _to_json([item.model_dump(mode="json") for item in request.known]), True
        )
    await connection.fetch(_INSERT_CALLS, job, tenant, [idea.id for idea in request.ideas])


async def store_ranking_result(
    connection: Connection, job: JobId, result: Mapping[str, Any], seconds: float | None = None
) -> None:
    """Store a finished ranking's ranks and answers, or a finished comparison's answers. `seconds` is the timeout for
    each statement."""
    ranking, answers = result.get("ranking"), result.get("comparisons", result.get("answers"))
    if ranking is not None:
        ideas = _add_text_groups(ranking["ideas"])
        head = {name: value for name, value in ranking.items() if name != "ideas"}
        await connection.fetch(_INSERT_HEAD, job, ranking["shortlist_size"], len(ideas), mapping_to_json_column(head))
        await connection.fetch(_UPDATE_IDEAS, job, _to_json(ideas), list(_FIELDS_IN_COLUMNS), timeout=seconds)
    if answers is not None:
        await connection.fetch("DELETE FROM ranking_pairs WHERE job = $1", job, timeout=seconds)
        await connection.fetch(_INSERT_PAIRS, job, _to_json(answers), False, timeout=seconds)


def result_to_json(kind: JobKind, result: Mapping[str, Any]) -> str | None:
    """Return a result as JSON for its job's row, without the parts that `store_ranking_result` stores in separate rows;
    None for a ranking."""
    if kind == "ranking":
        return None
    return mapping_to_json_column({name: value for name, value in result.items() if name != "answers"})


def _add_text_groups(ideas: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Assign a common number to ideas that list each other as having the same text."""
    groups: dict[str, int] = {}
    for number, idea in enumerate(ideas):
        for name in (idea["id"], *idea["same_text_as"]) if idea["same_text_as"] else ():
            groups.setdefault(name, number)
    return [{**idea, "text_group": groups.get(idea["id"])} for idea in ideas]


def _to_json(values: Sequence[Mapping[str, Any]]) -> str:
    return replace_nul_in_json(json.dumps(values, allow_nan=False))
