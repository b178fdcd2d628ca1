"""Route `/v1/batches/{id}/results`: a batch's results in a single file."""

import asyncio
import re
import unicodedata
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response, StreamingResponse
from pydantic import Field

from assayer.models.sender_references import get_own_reference
from assayer_client.batches import RowError
from assayer_client.reviewing import PanelRow
from orchestrator.access.api_keys import Caller
from orchestrator.access.roles import may
from orchestrator.api.url_queries import Reference, UrlQuery
from orchestrator.batches.results import (
    FlatResult,
    ResultRow,
    RowStanding,
    flatten_result,
    merge_rows,
    render_csv,
    render_json_line,
    render_parquet,
)
from orchestrator.batches.workbook import render_xlsx
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import build_not_found_problem
from orchestrator.services.panels import get_panel
from orchestrator.store.call_tables import TableRow
from orchestrator.web.authentication import Reader
from orchestrator.web.content_negotiation import require_media_type
from orchestrator.web.path_parameters import CallInPath
from orchestrator.web.services import Services

router = APIRouter(prefix="/v1/batches", tags=["batches"])

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MEDIA_TYPES = {
    "jsonl": "application/jsonl",
    "csv": "text/csv",
    "xlsx": _XLSX,
    "parquet": "application/vnd.apache.parquet",
}
_FORMAT_NAMES = {
    **dict.fromkeys(("application/jsonl", "application/x-ndjson"), "jsonl"),
    "text/csv": "csv",
    _XLSX: "xlsx",
    "application/vnd.apache.parquet": "parquet",
}
"""Result formats by media type."""
_RESULTS_RESPONSE = {
    "description": "One line per row, in order. A row without a report, such as a rejected row, states the reason.",
    "content": {
        media: {
            "schema": {"type": "string", **({"format": "binary"} if media in (_XLSX, _MEDIA_TYPES["parquet"]) else {})}
        }
        for media in _FORMAT_NAMES
    },
}
_MAX_NAME_CHARS = 100

Standings = Mapping[str, RowStanding]
"""Standings by evaluation id."""


class ResultsQuery(UrlQuery):
    format: Literal["jsonl", "csv", "xlsx", "parquet"] | None = None
    """Format of the results. Takes precedence over `Accept`."""
    reference: Reference | None = None
    """Return only rows with exactly this reference, which the sender assigned. Includes rejected rows."""
    ranking: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,64}$")
    """Id of a finished ranking of these proposals; its ranks are included. Defaults to the newest."""


@router.get("/{id}/results", response_class=Response, responses={200: _RESULTS_RESPONSE})
async def get_batch_results(
    query: Annotated[ResultsQuery, Query()],
    context: Reader,
    batch: CallInPath,
    accept: Annotated[str | None, Header()] = None,
) -> Response:
    """Return the results so far, with scores and ranks. Callers who may see reviewers' opinions also get their number
    and combined score. The formats are JSON Lines with full reports, or a table as CSV, Excel or Parquet."""
    media_type = _MEDIA_TYPES[query.format] if query.format else require_media_type(accept, tuple(_FORMAT_NAMES))
    format_name = _FORMAT_NAMES[media_type]
    standings = await _load_standings(context.services, context.caller, batch, query.ranking)
    await context.services.audit_log.record(context.tenant, context.by, "exported", batch.id, format=format_name)
    headers = {
        "Vary": "Accept",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": _build_content_disposition(batch, format_name),
    }
    results = _read_result_rows(context.services, context.tenant, batch, query.reference)
    if format_name == "jsonl":
        return StreamingResponse(_render_json_lines(results, standings), 200, headers, media_type)
    rows = [flatten_result(row, _get_standing(row, standings)) async for row in results]
    tables: dict[str, Callable[[Sequence[FlatResult]], str | bytes]] = {"csv": render_csv, "xlsx": render_xlsx}
    render = partial(tables.get(format_name, render_parquet), rows)
    return Response(await asyncio.to_thread(render), 200, headers, _MEDIA_TYPES[format_name])


def _read_result_rows(
    services: Services, tenant: TenantId, batch: BatchStatus, reference: str | None
) -> AsyncIterator[ResultRow]:
    rejected = [item for item in batch.rejected if reference in (None, get_own_reference(item.source, item.row))]
    return merge_rows(services.jobs.iterate_batch_rows(tenant, batch.id, reference), rejected)


async def _render_json_lines(rows: AsyncIterator[ResultRow], standings: Standings) -> AsyncIterator[bytes]:
    async for row in rows:
        yield render_json_line(row, _get_standing(row, standings))


def _get_standing(row: ResultRow, standings: Standings) -> RowStanding:
    """Return a row's standing. It is empty for rejected rows, and for rows added after the standings were read."""
    return RowStanding() if isinstance(row, RowError) else standings.get(row.job.id, RowStanding())


async def _load_standings(
    services: Services, caller: Caller, batch: BatchStatus, ranking_id: str
) -> dict[str, RowStanding]:
    """Return the standings by evaluation id. Raises HttpProblem with status 404 if the ranking does not belong to this
    batch or has not finished."""
    rankings = await services.rankings.list_rankings(caller.tenant, batch=batch.id, state="succeeded")
    ranking = next((item.id for item in rankings if ranking_id in ("", item.id)), None)
    if ranking_id and ranking is None:
        raise build_not_found_problem("finished ranking of this batch", ranking_id)
    table = await services.tables.list_rows(caller.tenant, batch.id, ranking or "")
    panel_rows: dict[str, PanelRow] | None = None
    if may(caller.role, "see the panel"):
        panel_rows = {
            item.evaluation: item for item in (await get_panel(services.reviewing, caller.tenant, batch.id)).rows
        }
    return {row.id: _build_standing(row, ranking, panel_rows) for row in table}


def _build_standing(row: TableRow, ranking: JobId | None, panel_rows: Mapping[str, PanelRow] | None) -> RowStanding:
    figures, rank = row.figures, row.rank
    panel_row = panel_rows.get(row.id) if panel_rows else None
    opinions = None if panel_rows is None else len(panel_row.opinions) - panel_row.excluded_opinions if panel_row else 0
    return RowStanding(
        outcome=row.outcome,
        score=None if figures is None or figures.score is None else round(100 * figures.score, 2),
        score_absent=figures.reason or None if figures else None,
        certainty=figures.certainty if figures else None,
        ranking=ranking if rank else None,
        rank=rank.rank if rank else None,
        rank_low=rank.low if rank else None,
        rank_high=rank.high if rank else None,
        band=rank.band if rank else None,
        shortlist_probability=rank.shortlist_probability if rank else None,
        opinions=opinions,
        reviewers_score=panel_row.score if panel_row else None,
        panel_decision=None if panel_rows is None else row.decision,
        awarded=None if panel_rows is None else row.amount,
        applicant=row.applicant or None,
        institution=row.institution or None,
        requested=row.requested,
        columns=row.columns,
    )


def _build_content_disposition(batch: BatchStatus, format_name: str) -> str:
    """Return a Content-Disposition header with a file name derived from the call's name: in ASCII for all browsers, and
    in Unicode for those that support RFC 6266."""
    name = " ".join(re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|;%]', " ", batch.name).split()).strip(". ")[:_MAX_NAME_CHARS]
    ascii_letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    ascii_name = " ".join(ascii_letters.split()).strip(". ")
    disposition = f'attachment; filename="{ascii_name or batch.id}.{format_name}"'
    if name.isascii():
        return disposition
    encoded = quote(f"{name}.{format_name}", safe="", errors="replace")
    return f"{disposition}; filename*=UTF-8''{encoded}"
