"""A call's panel: the opinions on each proposal, and the agreement between reviewers."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence

from assayer_client.reviewing import Panel, PanelAgreement, PanelPair, PanelProposal, PanelRow
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.agreement import PairAgreement, compute_mean_kappa, compute_pair_agreements
from orchestrator.reviewing.models import Opinion
from orchestrator.reviewing.review_forms import compute_criterion_means
from orchestrator.services.reviewing_stores import ReviewingStores
from orchestrator.store.panels import PanelCursor, PanelScores


async def get_panel(reviewing: ReviewingStores, tenant: TenantId, batch: BatchId) -> Panel:
    """Return the panel of an existing batch with all rows."""
    panel, _ = await get_panel_page(reviewing, tenant, batch, after=None, limit=None)
    return panel


async def get_panel_page(
    reviewing: ReviewingStores,
    tenant: TenantId,
    batch: BatchId,
    *,
    after: PanelCursor | None,
    limit: int | None,
) -> tuple[Panel, PanelCursor | None]:
    """Return the panel of an existing batch with up to `limit` rows, and the cursor for the next page (None if there is
    none)."""
    limit_with_next = None if limit is None else limit + 1
    proposals = await reviewing.panels.list_proposals(tenant, batch, after=after, limit=limit_with_next)
    page = proposals[:limit]
    if limit is None and after is None:
        opinions = await reviewing.opinions.list_opinions(tenant, batch=batch)
    else:
        opinions = await reviewing.opinions.list_for_proposals(tenant, [proposal.evaluation for proposal in page])
    next_cursor = PanelCursor(page[-1].row, page[-1].evaluation) if len(proposals) > len(page) else None
    panel = await get_panel_figures(reviewing, tenant, batch)
    return panel.model_copy(update={"rows": build_panel_rows(page, opinions)}), next_cursor


async def get_panel_figures(reviewing: ReviewingStores, tenant: TenantId, batch: BatchId) -> Panel:
    """Return the panel of an existing batch without rows, only with its figures."""
    scores, sign_off = await asyncio.gather(
        reviewing.panels.get_scores(tenant, batch), reviewing.decisions.get_sign_off(tenant, batch)
    )
    blind, current = await asyncio.to_thread(
        lambda: (_compute_agreement(scores, scores.blind), _compute_agreement(scores, scores.current))
    )
    return Panel(
        batch=batch,
        assigned_opinions=scores.assigned_opinions,
        submitted_opinions=scores.submitted_opinions,
        revised_opinions=scores.revised_opinions,
        excluded_opinions=scores.excluded_opinions,
        rows=(),
        next=None,
        blind=blind,
        current=current,
        sign_off=sign_off,
    )


def build_panel_rows(proposals: Sequence[PanelProposal], opinions: Iterable[Opinion]) -> tuple[PanelRow, ...]:
    by_proposal: dict[JobId, list[Opinion]] = defaultdict(list)
    for opinion in opinions:
        by_proposal[opinion.evaluation].append(opinion)
    return tuple(
        PanelRow(**dict(proposal), opinions=tuple(own_opinions), criteria=compute_criterion_means(own_opinions))
        for proposal in proposals
        for own_opinions in [by_proposal[proposal.evaluation]]
    )


def _compute_agreement(scores: PanelScores, figures: Sequence[int]) -> PanelAgreement:
    pairs = compute_pair_agreements(scores.members, scores.proposals, figures)
    return PanelAgreement(kappa=compute_mean_kappa(pairs), pairs=tuple(map(_build_panel_pair, pairs)))


def _build_panel_pair(pair: PairAgreement) -> PanelPair:
    return PanelPair(first=pair.first, second=pair.second, common_proposals=pair.common_proposals, kappa=pair.kappa)
