"""What a call comes to: the panel of its reviewers, scores that officers set themselves, and its sign-off."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import Field

from assayer.models import Absent
from orchestrator.api.acting import PanelReader, acting, actor_of
from orchestrator.api.common_schemas import Body, Explained, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import not_found
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.agreement import PairAgreement, mean_kappa, pair_agreements, spread
from orchestrator.reviewing.models import Assignment, Opinion, ScoreOfPerson, ScoreOverride, SignOff

__all__ = [
    "OverrideBody",
    "Panel",
    "PanelAgreement",
    "PanelPair",
    "PanelRow",
    "Reason",
    "SignOffBody",
    "panel_of",
    "router",
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
    """What the reviewers of a batch think. Nothing of it is the machine's."""

    batch: str
    assigned: int
    given: int
    revised: int
    set_aside: int
    """Of those given, opinions of people whose conflict of interest stands: shown, and left out of means, spreads,
    scores and agreement."""
    rows: tuple[PanelRow, ...]
    blind: PanelAgreement
    """Of first opinions, given before the machine's was seen."""
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


@router.get("/v1/batches/{id}/panel", responses=problem_responses(404, 422))
async def panel(id: PathId, caller: PanelReader, services: ServicesDependency) -> Panel:
    """The opinions on a batch, proposal by proposal, and how far reviewers agree, before and after they saw the
    machine's."""
    batch = await services.find_batch(caller.tenant, id)
    return await panel_of(services, caller.tenant, batch.id)


async def panel_of(services: Services, tenant: TenantId, batch: BatchId) -> Panel:
    """Of a batch that there is."""
    assigned, opinions, overriding, titles = await asyncio.gather(
        services.assignments.queue(tenant, member=None, batch=batch, limit=100_000),
        services.opinions.of(tenant, batch=batch),
        services.decisions.overrides(tenant, batch),
        services.assignments.titles(tenant, batch),
    )
    overrides = {one.evaluation: one for one in overriding}
    counting = [one for one in opinions if not one.conflict]
    return Panel(
        batch=batch,
        assigned=len(assigned),
        given=len(opinions),
        revised=sum(one.revised_at is not None for one in opinions),
        set_aside=len(opinions) - len(counting),
        rows=tuple(_rows(assigned, opinions, overrides, titles)),
        blind=await asyncio.to_thread(_agreement, counting, True),
        standing=await asyncio.to_thread(_agreement, counting, False),
        sign_off=await services.decisions.signed_off(tenant, batch),
    )


@router.post(
    "/v1/evaluations/{id}/override",
    responses=problem_responses(400, 404, 409, 413, 415, 422),
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
        raise not_found("evaluation", id)
    return made


@router.post(
    "/v1/batches/{id}/sign-off",
    responses=problem_responses(400, 404, 409, 413, 415, 422),
    dependencies=[Depends(json_only)],
)
async def sign_off(
    id: PathId,
    body: SignOffBody,
    caller: Annotated[AuthenticatedCaller, Depends(acting("sign off", scope="manage"))],
    services: ServicesDependency,
) -> SignOff:
    """Closes the call: from then on it takes no rows, nothing of it is cancelled or run again, and no opinion,
    assignment, remark or score of it changes. An applicant can still be erased."""
    signed = await services.decisions.sign_off(
        caller.tenant, BatchId(id), body.note, body.despite_missing, actor_of(caller), services.clock.now()
    )
    if signed is None:
        raise not_found("batch", id)
    return signed


def _rows(
    assigned: Sequence[Assignment],
    opinions: Sequence[Opinion],
    overrides: dict[JobId, ScoreOverride],
    titles: dict[JobId, str],
) -> list[PanelRow]:
    given: dict[JobId, list[Opinion]] = defaultdict(list)
    for opinion in opinions:
        given[opinion.evaluation].append(opinion)
    people: dict[JobId, list[Assignment]] = defaultdict(list)
    for one in assigned:
        people[one.evaluation].append(one)
    order = [one for one in titles if one in people or one in given or one in overrides]
    rows = []
    for evaluation in order:
        scores = [one.score for one in given[evaluation] if not one.conflict]
        mean = sum(scores) / len(scores) if scores else None
        override = overrides.get(evaluation)
        rows.append(
            PanelRow(
                evaluation=evaluation,
                row=next((one.row for one in people[evaluation]), None),
                title=titles[evaluation],
                assigned=len(people[evaluation]),
                opinions=tuple(given[evaluation]),
                set_aside=len(given[evaluation]) - len(scores),
                mean=mean,
                spread=spread(scores),
                override=override,
                score=mean if override is None else float(override.score),
            )
        )
    return rows


def _agreement(opinions: Sequence[Opinion], blind: bool) -> PanelAgreement:
    scores: dict[str, dict[str, int]] = defaultdict(dict)
    for one in opinions:
        scores[one.member][one.evaluation] = one.blind_score if blind else one.score
    pairs = pair_agreements(scores)
    return PanelAgreement(kappa=mean_kappa(pairs), pairs=tuple(map(_pair, pairs)))


def _pair(pair: PairAgreement) -> PanelPair:
    return PanelPair(first=pair.first, second=pair.second, common=pair.common, kappa=pair.kappa)
