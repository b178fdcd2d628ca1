"""Measure the console's table of a large call on a separate PostgreSQL server: queries, response times and rendering
times of pages in Chromium, the dossier as a PDF, and the cost of viewers of a running call.

python -m benchmarks.console --rows 5000
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import httpx2
from pydantic import SecretStr

from assayer.models import Idea, IdeaId
from assayer_client.accounts import Scope
from benchmarks.console.bidding import time_bids
from benchmarks.console.browsing import time_pages
from benchmarks.console.child import ServedConsole, serve_console
from benchmarks.console.large_ranking import RANKING, add_ranking
from benchmarks.console.watchers import add_watched_call, time_watchers
from benchmarks.measuring import build_parser, format_heading
from cluster.postgres import EmbeddedPostgres
from orchestrator.access.api_keys import KeyPlan, generate_key
from orchestrator.jobs.models import BatchId, JobId, TenantId, TenantPlan
from orchestrator.jobs.report_figures import PartFigure, ReportFigures
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.jobs.submissions import NewBatch, NewJob
from orchestrator.store import ApiKeySettings, Database, DatabaseSettings, PgJobs, PgKeys, PgTenants
from orchestrator.store.call_tables import PgCallTables, TableView
from tests.unit.reports_fixture import make_full_report

_TENANT, _BATCH = TenantId("bench"), BatchId("bt_bench")
_TEXT = "We study how stored examples are overwritten, and rehearse those at risk. " * 60
_REPETITIONS = 15
_VIEWS = {
    "first page": TableView(),
    "sorted by score": TableView(sort="score", down=True),
    "sorted by a part": TableView(sort="part:soundness", down=True),
    "last page by title": TableView(sort="title", page=100),
    "search in texts": TableView(q="rehearse overwritten"),
    "search of one title": TableView(q="Proposal 4711"),
    "filtered": TableView(outcome=("unscored",), fit=("poor",)),
    "sorted by rank": TableView(sort="rank", ranking=RANKING),
}
_DONE = """
    UPDATE jobs SET state = 'succeeded', started_at = created_at, finished_at = now(), run_id = 'run_' || id,
        cost_usd = random() WHERE tenant = $1
"""
# The evaluations ended one after another over three hours; some cost ten times as much.
_ENDED = """
    UPDATE jobs SET finished_at = created_at + "row" * interval '2 seconds',
        started_at = created_at + "row" * interval '2 seconds' - random() * interval '80 seconds',
        cost_usd = cost_usd * CASE WHEN "row" % 50 = 0 THEN 10 ELSE 1 END
    WHERE tenant = $1
"""
# Two of twenty reviewers for each proposal, with similar scores.
_REVIEWERS = """
    INSERT INTO members (id, tenant, name, email, affiliation, role, invited_by)
    SELECT 'mb_' || number, $1, 'Reviewer ' || number, number || '@example.org', '', 'reviewer', 'bench'
    FROM generate_series(0, 19) AS number
"""
_ASSIGNED = """
    INSERT INTO assignments (evaluation, member, assigned_at)
    SELECT id, 'mb_' || ("row" + place * ("row" / 20 % 19 + 1)) % 20, now() FROM jobs, generate_series(0, 1) AS place
    WHERE tenant = $1 AND kind = 'evaluation'
"""
_OPINIONS = """
    INSERT INTO opinions (evaluation, member, blind_score, blind_note, blind_answers, blind_at, score, note, answers)
    SELECT evaluation, member, drawn_score, 'As discussed.', '{}', now(), drawn_score, 'As discussed.', '{}'
    FROM (
        SELECT evaluation, member, least(5, greatest(1, hashtext(evaluation) % 3 + 2 + round(random()))) AS drawn_score
        FROM assignments
    ) AS drawn
"""
_REPORTS = """
    INSERT INTO evaluations (id, idea_id, report)
    SELECT run_id, request #>> '{idea,id}', '{}' FROM jobs WHERE tenant = $1
"""
_FIGURES = """
    INSERT INTO report_figures (run, idea, score, certainty, fit, complete, shares, figures, words)
    SELECT run_id, request #>> '{idea,id}', CASE WHEN "row" % 3 > 0 THEN random() END, "row" % 3,
           (ARRAY['poor', 'partial', 'good'])["row" % 3 + 1], "row" % 3 > 0,
           jsonb_build_object('soundness', random()),
           $2::jsonb || jsonb_build_object('words', (
               SELECT jsonb_agg('word' || ("row" % 24 * 40 + ("row" * word * 7 + word * word) % 61))
               FROM generate_series(1, 12) AS word
           )), to_tsvector('simple', subject || ' ' || $3)
    FROM jobs WHERE tenant = $1
"""


_READABLE = """
    UPDATE evaluations SET report = jsonb_set($2::jsonb, '{idea,id}', to_jsonb(idea_id)) FROM jobs
    WHERE run_id = evaluations.id AND tenant = $1 AND "row" <= 100
"""
_SCOPES: frozenset[Scope] = frozenset(("submit", "read", "manage"))


def main() -> None:
    parser = build_parser("console", __doc__)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument(
        "--only", choices=("queries", "pages", "bids", "dossier", "watchers"), help="measure only this part"
    )
    options = parser.parse_args()
    rows, only_part = options.rows, options.only
    print(
        f"{format_heading()}\n{rows:,} proposals of {len(_TEXT):,} characters, {_REPETITIONS} times each\n", flush=True
    )
    asyncio.run(_measure(rows, only_part))


async def _measure(rows: int, only_part: str | None) -> None:
    # Not below the working directory: run by root, the server is another user, who may not have access to it.
    with tempfile.TemporaryDirectory(prefix="assayer-console-") as folder:
        async with EmbeddedPostgres(Path(folder) / "postgres", durable=False) as server:
            url = await server.ensure()
            settings = DatabaseSettings(url=SecretStr(url), command_seconds=300)
            async with Database(settings) as database:
                await database.migrate()
                await _fill_database(database, rows)
                if only_part in (None, "queries"):
                    await _time_queries(PgCallTables(database))
                await database.execute(_READABLE, _TENANT, make_full_report().model_dump_json())
                key = generate_key()
                await PgKeys(database, ApiKeySettings()).create(_TENANT, KeyPlan(name="bench", scopes=_SCOPES), key)
                async with serve_console(url) as service:
                    if only_part in (None, "pages"):
                        await time_pages(service.address, key.secret, _BATCH, _REPETITIONS)
                    if only_part in (None, "bids"):
                        await time_bids(service.address, key.secret, _TENANT, _BATCH, database)
                    if only_part in (None, "dossier"):
                        await _time_dossier(service, key.secret)
                    if only_part in (None, "watchers"):
                        await add_watched_call(database, _TENANT)
                        await time_watchers(service, key.secret, database)


async def _fill_database(database: Database, rows: int) -> None:
    await PgTenants(database).create(_TENANT, TenantPlan(name="bench", max_queued=rows + 1))
    jobs = [_build_job(row) for row in range(1, rows + 1)]
    await PgJobs(database).add(_TENANT, jobs, NewBatch(id=_BATCH, name="large", rows=rows))
    parts = tuple(
        PartFigure(name=name, title=name, share=0.5, value=5, scale_max=10, certainty="low", reason="")
        for name in ("soundness", "contribution")
    )
    figures = ReportFigures(
        idea="i", score=0.5, reason="", certainty="low", fit="good", complete=True, parts=parts, notices=()
    )
    await database.execute(_DONE, _TENANT)
    await database.execute("INSERT INTO runs (job, run_id) SELECT id, run_id FROM jobs WHERE tenant = $1", _TENANT)
    await database.execute(_ENDED, _TENANT)
    await database.execute(_REPORTS, _TENANT)
    await database.execute(_FIGURES, _TENANT, figures.model_dump_json(), _TEXT)
    await add_ranking(database, _TENANT, [_build_idea(row) for row in range(1, rows + 1)], max(1, rows // 10))
    await database.execute(_REVIEWERS, _TENANT)
    await database.execute(_ASSIGNED, _TENANT)
    await database.execute(_OPINIONS)
    await database.execute("ANALYZE")


def _build_idea(row: int) -> Idea:
    title = f"Proposal {row}"
    return Idea(
        id=IdeaId(f"idea_{row}"), title=title, text=f"{title}. {_TEXT}", sections=(), source=f"A-2026-{row:05}.pdf"
    )


def _build_job(row: int) -> NewJob:
    idea = _build_idea(row)
    request = EvaluationRequest(idea=idea, source=idea.source, method="scholareval")
    return NewJob(id=JobId(f"ev_{row}"), request=request, subject=idea.title, priority="batch", row=row)


async def _time_queries(tables: PgCallTables) -> None:
    async def time_view(view: TableView | None) -> float:
        began = time.perf_counter()
        await (tables.count_by_outcome(_TENANT, _BATCH) if view is None else tables.get_page(_TENANT, _BATCH, view))
        return 1_000 * (time.perf_counter() - began)

    for name, view in {**_VIEWS, "counts by outcome": None}.items():
        times = sorted([await time_view(view) for _ in range(_REPETITIONS)])
        print(f"{name:22} median {statistics.median(times):6.1f} ms   slowest {times[-1]:6.1f} ms", flush=True)


async def _time_dossier(service: ServedConsole, key: str) -> None:
    """Print the duration of one request, the first after the service's start, and the service's CPU time."""
    cpu_before, began = sum(service.process.cpu_times()[:2]), time.perf_counter()
    async with httpx2.AsyncClient(base_url=service.address, headers={"Authorization": f"Bearer {key}"}) as client:
        answer = await client.get(f"/v1/batches/{_BATCH}/dossier", timeout=300)
    answer.raise_for_status()
    seconds, cpu = time.perf_counter() - began, sum(service.process.cpu_times()[:2]) - cpu_before
    print(f"dossier                {seconds:.1f} s, {cpu:.1f} s of CPU, {len(answer.content) / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
