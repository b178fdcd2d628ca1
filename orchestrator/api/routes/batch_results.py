"""`/v1/batches/{id}/results`: what a batch came to, in one file."""

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

from assayer.models.sender_references import own_reference
from orchestrator.access.roles import may
from orchestrator.api.acting import actor_of
from orchestrator.api.authentication import Reader
from orchestrator.api.common_schemas import Body, Reference
from orchestrator.api.content_negotiation import negotiated_media_type
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import not_found
from orchestrator.api.routes.panel import PanelRow, panel_of
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.batches.results import (
    FlatResult,
    ResultRow,
    RowStanding,
    as_csv,
    as_json_line,
    as_parquet,
    flat_result,
    rows_in_order,
)
from orchestrator.batches.rows import RejectedRow
from orchestrator.batches.workbook import as_xlsx
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.store.call_tables import TableRow

__all__ = ["ResultsQuery", "router"]

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
"""Formats by the media types that ask for them."""
_RESULTS = {
    "description": "One line for each row, in their order; rows without a report, rejected ones included, say why",
    "content": {
        media: {
            "schema": {"type": "string", **({"format": "binary"} if media in (_XLSX, _MEDIA_TYPES["parquet"]) else {})}
        }
        for media in _FORMAT_NAMES
    },
}
_LONGEST_NAME = 100

Standings = Mapping[str, RowStanding]
"""By the ids of evaluations."""


class ResultsQuery(Body):
    format: Literal["jsonl", "csv", "xlsx", "parquet"] | None = None
    """Takes precedence over `Accept`."""
    reference: Reference | None = None
    """Only rows that their sender calls so, refused ones included."""
    ranking: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,64}$")
    """The id of a finished ranking of these proposals, whose ranks are told; without it the newest."""


@router.get(
    "/{id}/results", response_class=Response, responses={200: _RESULTS, **problem_responses(404, 406, 410, 422)}
)
async def results(
    id: PathId,
    query: Annotated[ResultsQuery, Query()],
    caller: Reader,
    services: ServicesDependency,
    accept: Annotated[str | None, Header()] = None,
) -> Response:
    """The results so far, with scores, ranks and, for people who may see it, what reviewers think: whole reports as
    JSON lines, or a table as CSV, Excel or Parquet."""
    media = _MEDIA_TYPES[query.format] if query.format else negotiated_media_type(accept, tuple(_FORMAT_NAMES))
    format_name = _FORMAT_NAMES[media]
    batch = await services.find_batch(caller.tenant, id)
    standings = await _standings(services, caller, batch, query.ranking)
    await services.audit_log.record(
        caller.tenant, actor_of(caller), "exported", batch.id, services.clock.now(), format=format_name
    )
    headers = {
        "Vary": "Accept",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": _attachment(batch, format_name),
    }
    found = _result_rows(services, caller.tenant, batch, query.reference)
    if format_name == "jsonl":
        return StreamingResponse(_json_lines(found, standings), 200, headers, media)
    rows = [flat_result(row, _standing(row, standings)) async for row in found]
    tables: dict[str, Callable[[Sequence[FlatResult]], str | bytes]] = {"csv": as_csv, "xlsx": as_xlsx}
    render = partial(tables.get(format_name, as_parquet), rows)
    return Response(await asyncio.to_thread(render), 200, headers, _MEDIA_TYPES[format_name])


def _result_rows(
    services: Services, tenant: TenantId, batch: BatchStatus, reference: str | None
) -> AsyncIterator[ResultRow]:
    named = [one for one in batch.rejected if reference in (None, own_reference(one.source, one.row))]
    return rows_in_order(services.jobs.batch_rows(tenant, batch.id, reference), named)


async def _json_lines(rows: AsyncIterator[ResultRow], standings: Standings) -> AsyncIterator[bytes]:
    async for row in rows:
        yield as_json_line(row, _standing(row, standings))


def _standing(row: ResultRow, standings: Standings) -> RowStanding:
    """Of a row that was added after the standings were read: nothing."""
    return RowStanding() if isinstance(row, RejectedRow) else standings.get(row.job.id, RowStanding())


async def _standings(
    services: Services, caller: AuthenticatedCaller, batch: BatchStatus, named: str
) -> dict[str, RowStanding]:
    """Raises HttpProblem (404) for a ranking that is none of this batch, or has not ended."""
    ended = await services.rankings.listed(caller.tenant, batch=batch.id, state="done")
    ranking = next((one.id for one in ended if named in ("", one.id)), None)
    if named and ranking is None:
        raise not_found("finished ranking of this batch", named)
    while not await services.figures.fill(caller.tenant, batch.id):
        pass
    table = await services.tables.all(caller.tenant, batch.id, ranking or "")
    people: dict[str, PanelRow] | None = None
    if may(caller.role, "see the panel"):
        people = {one.evaluation: one for one in (await panel_of(services, caller.tenant, batch.id)).rows}
    return {row.id: _of_row(row, ranking, people) for row in table}


def _of_row(row: TableRow, ranking: JobId | None, people: Mapping[str, PanelRow] | None) -> RowStanding:
    figures, rank = row.figures, row.rank
    reviewed = people.get(row.id) if people else None
    opinions = None if people is None else len(reviewed.opinions) - reviewed.set_aside if reviewed else 0
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
        chance_in=rank.chance_in if rank else None,
        opinions=opinions,
        reviewers_score=reviewed.score if reviewed else None,
    )


def _attachment(batch: BatchStatus, format_name: str) -> str:
    """Named for the call: plainly for every browser, and with all of its letters for those that read RFC 6266."""
    name = " ".join(re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|;%]', " ", batch.name).split()).strip(". ")[:_LONGEST_NAME]
    bare = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = " ".join(bare.split()).strip(". ")
    told = f'attachment; filename="{plain or batch.id}.{format_name}"'
    if name.isascii():
        return told
    whole = quote(f"{name}.{format_name}", safe="", errors="replace")
    return f"{told}; filename*=UTF-8''{whole}"
