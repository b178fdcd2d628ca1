"""Indexes for the proposals in calls with open bidding, which each API process keeps in memory."""

import asyncio
from collections import OrderedDict

from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.reviewing.proposal_index import IndexedProposal, ProposalIndex
from orchestrator.store.assignments import PgAssignments

_MAX_CACHED_CALLS = 4
_PROPOSALS_PER_READ = 500


class _CachedIndex:
    def __init__(self) -> None:
        self.lock, self.index = asyncio.Lock(), ProposalIndex()


class ProposalIndexes:
    def __init__(self, assignments: PgAssignments) -> None:
        self._assignments = assignments
        self._cached_indexes = OrderedDict[tuple[TenantId, BatchId], _CachedIndex]()
        """Indexes by call, least recently used first."""

    async def update_index(self, tenant: TenantId, batch: BatchId) -> ProposalIndex:
        """Add new and changed texts to the index of a call's proposals, and return it. Proposals whose text is not
        known yet are omitted."""
        cached_index = self._cached_indexes.setdefault((tenant, batch), _CachedIndex())
        self._cached_indexes.move_to_end((tenant, batch))
        if len(self._cached_indexes) > _MAX_CACHED_CALLS:
            self._cached_indexes.popitem(last=False)
        async with cached_index.lock:
            versions = await self._assignments.get_proposal_versions(tenant, batch)
            changed_ids = [
                proposal_id
                for proposal_id, version in versions.items()
                if cached_index.index.versions.get(proposal_id) != version
            ]
            for start in range(0, len(changed_ids), _PROPOSALS_PER_READ):
                proposals = await self._assignments.list_proposal_texts(
                    tenant, batch, changed_ids[start : start + _PROPOSALS_PER_READ]
                )
                texts = {
                    proposal.id: IndexedProposal(proposal.title, proposal.text, proposal.other_texts)
                    for proposal in proposals
                    if proposal.text is not None
                }
                cached_index.index = await asyncio.to_thread(cached_index.index.copy_with_texts, texts, versions)
            if cached_index.index.versions.keys() - versions.keys():
                cached_index.index = cached_index.index.copy_with_texts({}, versions)
            await asyncio.to_thread(cached_index.index.prepare)
            return cached_index.index
