"""Curations, proposals and scores as jobs of many items, and what is done with each of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from assayer.curation.candidates import ProposedCandidates
from assayer.errors import LlmRejected, LlmUnavailable
from assayer.models import Absent
from assayer.models.curation import CuratedPaper, IdeaScores, MissingCandidate, Proposal, ResearchQuestion, SourcePaper
from assayer.ports import Progress
from assayer.ranking.judged_texts import masked_idea
from assayer.run.accounting import cost_of
from assayer.run.journal import Journal
from assayer.run.run import Run
from cluster.curator import Curator, require_llm_for_curation
from cluster.item_batch import Ending, ItemWork, do_items_of_job
from cluster.run_request import RunRequest
from orchestrator.jobs.item_outcomes import CurationOutcome, ItemsResult, PaidOutcome, ProposalOutcome, ScoreOutcome
from orchestrator.jobs.models import Lease
from orchestrator.jobs.requests import CurationRequest, IdeaToScore, ProposalRequest, ScoreRequest
from orchestrator.store import Database, PgItemOutcomes

__all__ = ["CurationJobs"]

_EVERYBODYS = (LlmRejected, LlmUnavailable)
"""Begun again, a job goes on from what has been answered."""


@dataclass(frozen=True)
class CurationJobs:
    """Does one job after another, or several at once."""

    curator: Curator
    database: Database

    async def perform(
        self,
        lease: Lease,
        request: CurationRequest | ProposalRequest | ScoreRequest,
        progress: Progress,
        run_request: RunRequest,
    ) -> ItemsResult:
        """Raises ConfigurationError without a model and where a budget in dollars has no prices, InputError for a file
        of dimensions that cannot be used, LlmRejected, LlmUnavailable, StorageError and LeaseLost; begun again it goes
        on from what is stored."""
        require_llm_for_curation(self.curator.settings)
        ended: Sequence[PaidOutcome]
        match request:
            case CurationRequest():
                ended = await self._curate(lease, request.items, progress, run_request)
            case ProposalRequest():
                ended = await self._propose(lease, request, progress, run_request)
            case ScoreRequest():
                ideas = request.items
                if run_request.blind:
                    ideas = await asyncio.to_thread(_masked, ideas)
                ended = await self._score(lease, ideas, progress, run_request)
            case _:
                assert_never(request)
        return ItemsResult.of(request.kind, ended)

    async def _curate(
        self, lease: Lease, papers: Sequence[SourcePaper], progress: Progress, run_request: RunRequest
    ) -> Sequence[CurationOutcome]:
        stage = self.curator.curation(papers)
        run = await self.curator.begin(stage, progress, run_request)

        def outcome(ending: Ending[CuratedPaper]) -> CurationOutcome:
            return CurationOutcome(**_told(ending), paper=ending.made)

        work = ItemWork(
            stage.name, lambda one: (one.title, one.abstract), lambda one: one.id, stage.work, outcome, _EVERYBODYS
        )
        outcomes = PgItemOutcomes(self.database, CurationOutcome)
        return await do_items_of_job(lease, papers, work, run, self._concurrency, outcomes)

    async def _propose(
        self, lease: Lease, request: ProposalRequest, progress: Progress, run_request: RunRequest
    ) -> Sequence[ProposalOutcome]:
        stage = self.curator.proposal(request.items, request.best_by, request.candidates)
        run = await self.curator.begin(stage, progress, run_request)

        async def do(question: ResearchQuestion, run: Run) -> Proposal:
            return _proposal(question, await stage.work(question, run))

        def outcome(ending: Ending[Proposal]) -> ProposalOutcome:
            return ProposalOutcome(**_told(ending), proposal=ending.made)

        work = ItemWork(stage.name, lambda one: one.text, lambda one: one.id, do, outcome, _EVERYBODYS)
        outcomes = PgItemOutcomes(self.database, ProposalOutcome)
        return await do_items_of_job(lease, request.items, work, run, self._concurrency, outcomes)

    async def _score(
        self, lease: Lease, ideas: Sequence[IdeaToScore], progress: Progress, run_request: RunRequest
    ) -> Sequence[ScoreOutcome]:
        stage = self.curator.scoring(ideas)
        run = await self.curator.begin(stage, progress, run_request)

        def outcome(ending: Ending[IdeaScores]) -> ScoreOutcome:
            return ScoreOutcome(**_told(ending), scores=ending.made)

        work = ItemWork(
            stage.name,
            lambda one: (one.idea.judged_id, one.question),
            lambda one: one.id,
            stage.work,
            outcome,
            _EVERYBODYS,
        )
        outcomes = PgItemOutcomes(self.database, ScoreOutcome)
        return await do_items_of_job(lease, ideas, work, run, self._concurrency, outcomes)

    @property
    def _concurrency(self) -> int:
        return self.curator.settings.evaluation.concurrency


def _masked(ideas: Sequence[IdeaToScore]) -> tuple[IdeaToScore, ...]:
    return tuple(one.model_copy(update={"idea": masked_idea(one.idea)}) for one in ideas)


def _proposal(question: ResearchQuestion, made: ProposedCandidates) -> Proposal:
    lost = [MissingCandidate(number=number, reason=str(error)) for number, error in made.lost.items()]
    repeats = [
        MissingCandidate(number=number, reason="It says what an earlier one says.", same_as=first)
        for number, first in made.repeats.items()
    ]
    return Proposal(
        question=question.text,
        candidates=made.candidates,
        missing=tuple(sorted([*lost, *repeats], key=lambda one: one.number)),
        flags=question.flags,
    )


def _told(ending: Ending[Any]) -> dict[str, Any]:
    """What every outcome tells beside its result."""
    calls = ending.journal.calls
    return {
        "item": ending.item,
        "id": ending.id,
        "problem": ending.problem,
        "seconds": ending.seconds,
        "calls": len(calls),
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "completion_tokens": sum(call.completion_tokens for call in calls),
        "cost_usd": _cost(ending.journal),
        "models": tuple(sorted({call.model for call in calls})),
        "prompts": ending.journal.prompts(),
    }


def _cost(journal: Journal) -> float | Absent:
    if any(faults for _, faults in journal.failed_calls):
        return Absent(reason="An answer was lost on the way, and what its attempts cost stands in the ledger alone.")
    return cost_of(call for call in journal.calls if not call.cached)
