"""What a call comes to: the panel of its reviewers, scores that officers set themselves, and its sign-off."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from assayer.models import Absent
from orchestrator.api.acting import PanelReader, acting, actor_of
from orchestrator.api.common_schemas import Body, Explained, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import problem_responses
from orchestrator.api.pagination import decode_place, encode_place
from orchestrator.api.problems import not_there
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.agreement import PairAgreement, mean_kappa, pair_agreements
from orchestrator.reviewing.models import Opinion, ScoreOfPerson, ScoreOverride, SignOff
from orchestrator.store.decisions import SignedDespite
from orchestrator.store.panels import PanelProposal, PanelScores, Place

__all__ = [
    "OverrideBody",
    "Panel",
    "PanelAgreement",
    "PanelPair",
    "PanelQuery",
    "PanelRow",
    "Reason",
    "SignOffBody",
    "panel_of",
    "router",
    "rows_of",
    "whole_panel",
]

Reason = Annotated[str, Explained, Field(max_length=5_000)]

router = APIRouter(tags=["reviewing"])


class PanelPair(Resource):
    """Two reviewers."""

    first: str
    second: str
    common: int
    """Proposals that both have scored."""
    kappa: float | Absent
    """Cohen's kappa with quadratic weights: 1 is full agreement, 0 what chance would give."""


class PanelAgreement(Resource):
    kappa: float | Absent
    """Mean of the pairs, weighted by the proposals they share."""
    pairs: tuple[PanelPair, ...]


class PanelRow(Resource):
    """A proposal to which somebody is assigned, or whose score an officer has set."""

    evaluation: str
    row: int | None
    title: str
    assigned: int
    opinions: tuple[Opinion, ...]
    set_aside: int
    """Of the opinions, those of people whose conflict of interest stands: they count in no figure."""
    mean: float | None
    """Of the reviewers' scores as they stand; null without any that counts."""
    spread: int | None
    """Between the highest and the lowest; null for fewer than two."""
    override: ScoreOverride | None
    score: float | None
    """What counts: the override, else the mean."""


class Panel(Resource):
    """What the reviewers of a batch think. Nothing of it is the program's."""

    batch: str
    assigned: int
    given: int
    revised: int
    set_aside: int
    """Of those given, opinions of people whose conflict of interest stands: shown, and left out of means, spreads,
    scores and agreement."""
    rows: tuple[PanelRow, ...]
    """In the order of the batch."""
    next: str | None
    """The cursor of the next page; null where there is none, or no limit was given."""
    blind: PanelAgreement
    """Of first opinions, given before the program's was seen."""
    standing: PanelAgreement
    """Of opinions as they stand."""
    sign_off: SignOff | None


class OverrideBody(Body):
    score: ScoreOfPerson
    """From 1, weak, to 5, outstanding."""
    reason: Reason


class SignOffBody(Body):
    note: str = Field(default="", max_length=5_000)
    despite_missing: bool = False
    """Also while assigned opinions are missing; how many is written down."""
    despite_unfinished: bool = False
    """Also while evaluations have not ended; how many is written down. They still end, and cannot be cancelled."""


class PanelQuery(Body):
    limit: int | None = Field(default=None, ge=1, le=1_000)
    """Rows on a page; null: all rows at once."""
    after: str | None = Field(default=None, max_length=200)
    """`next` of the page before."""


@router.get("/v1/batches/{id}/panel", responses=problem_responses(404, 410, 422))
async def panel(
    id: PathId, query: Annotated[PanelQuery, Query()], caller: PanelReader, services: ServicesDependency
) -> Panel:
    """The opinions on a batch, proposal by proposal, and how far reviewers agree, before and after they saw the
    program's. With a limit page by page: figures and agreement are of the whole batch on each of them."""
    batch = await services.find_batch(caller.tenant, id)
    after = decode_place(query.after)
    return await panel_of(services, caller.tenant, batch.id, after=after, limit=query.limit)


async def panel_of(
    services: Services, tenant: TenantId, batch: BatchId, *, after: Place | None = None, limit: int | None = None
) -> Panel:
    """Of a batch that there is; all rows, or so many after a place."""
    more = None if limit is None else limit + 1
    found = await services.panels.proposals(tenant, batch, after=after, limit=more)
    page = found[:limit]
    if limit is None and after is None:
        opinions = await services.opinions.of(tenant, batch=batch)
    else:
        opinions = await services.opinions.of_proposals(tenant, [one.evaluation for one in page])
    last = Place(page[-1].row, page[-1].evaluation) if len(found) > len(page) else None
    whole = await whole_panel(services, tenant, batch)
    return whole.model_copy(
        update={"rows": rows_of(page, opinions), "next": None if last is None else encode_place(last)}
    )


async def whole_panel(services: Services, tenant: TenantId, batch: BatchId) -> Panel:
    """The figures of a batch that there is, without rows."""
    scores, signed = await asyncio.gather(
        services.panels.scores(tenant, batch), services.decisions.signed_off(tenant, batch)
    )
    blind, standing = await asyncio.to_thread(
        lambda: (_agreement(scores, scores.blind), _agreement(scores, scores.standing))
    )
    return Panel(
        batch=batch,
        assigned=scores.assigned,
        given=scores.given,
        revised=scores.revised,
        set_aside=scores.set_aside,
        rows=(),
        next=None,
        blind=blind,
        standing=standing,
        sign_off=signed,
    )


def rows_of(proposals: Sequence[PanelProposal], opinions: Iterable[Opinion]) -> tuple[PanelRow, ...]:
    given: dict[JobId, list[Opinion]] = defaultdict(list)
    for opinion in opinions:
        given[opinion.evaluation].append(opinion)
    return tuple(PanelRow(**dict(one), opinions=tuple(given[one.evaluation])) for one in proposals)


@router.post(
    "/v1/evaluations/{id}/override",
    responses=problem_responses(400, 404, 409, 410, 413, 415, 422),
    dependencies=[Depends(json_only)],
)
async def override(
    id: PathId,
    body: OverrideBody,
    caller: Annotated[AuthenticatedCaller, Depends(acting("override", scope="manage"))],
    services: ServicesDependency,
) -> ScoreOverride:
    """Sets the score that counts, in place of what the opinions come to, with a reason."""
    made = await services.decisions.override(
        caller.tenant, JobId(id), body.score, body.reason, actor_of(caller), services.clock.now()
    )
    if made is None:
        raise not_there("evaluation", id)
    return made


@router.post(
    "/v1/batches/{id}/sign-off",
    responses=problem_responses(400, 404, 409, 410, 413, 415, 422),
    dependencies=[Depends(json_only)],
)
async def sign_off(
    id: PathId,
    body: SignOffBody,
    caller: Annotated[AuthenticatedCaller, Depends(acting("sign off", scope="manage"))],
    services: ServicesDependency,
) -> SignOff:
    """Closes the call, unless opinions are missing or evaluations have not ended: from then on it takes no rows,
    nothing of it is cancelled or run again, and no opinion, assignment, remark or score of it changes. An applicant can
    still be erased."""
    despite = SignedDespite(body.despite_missing, body.despite_unfinished)
    signed = await services.decisions.sign_off(
        caller.tenant, BatchId(id), body.note, despite, actor_of(caller), services.clock.now()
    )
    if signed is None:
        raise not_there("batch", id)
    return signed


def _agreement(scores: PanelScores, given: Sequence[int]) -> PanelAgreement:
    pairs = pair_agreements(scores.members, scores.proposals, given)
    return PanelAgreement(kappa=mean_kappa(pairs), pairs=tuple(map(_pair, pairs)))


def _pair(pair: PairAgreement) -> PanelPair:
    return PanelPair(first=pair.first, second=pair.second, common=pair.common, kappa=pair.kappa)
