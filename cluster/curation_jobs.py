"""Jobs that curate papers, propose ideas or score ideas, one by one, with one outcome per item."""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, assert_never

from assayer.curation.candidates import ProposedCandidates
from assayer.errors import LlmRejected, LlmUnavailable
from assayer.models.curation import ResearchQuestion, SourcePaper
from assayer.ports import Progress
from assayer.ranking.judged_texts import mask_idea
from assayer.run.accounting import sum_journal_costs
from assayer.run.run import Run
from assayer_client.curation import (
    CandidateIdeas,
    CandidateIdeasOutcome,
    CurationOutcome,
    ItemsResult,
    MissingCandidate,
    PaidOutcome,
    ScoreOutcome,
)
from cluster.curator import CurationStage, Curator
from cluster.item_batch import Ending, ItemWork, do_items_of_job
from cluster.language_model import require_llm
from cluster.run_request import RunRequest
from orchestrator.jobs.item_outcomes import summarise_items
from orchestrator.jobs.models import Lease
from orchestrator.jobs.requests import CandidateIdeasRequest, CurationRequest, IdeaToScore, ScoreRequest
from orchestrator.store import Database, PgItemOutcomes

Item = TypeVar("Item", SourcePaper, ResearchQuestion, IdeaToScore)
Ended = TypeVar("Ended", bound=PaidOutcome)

_JOB_ERRORS = (LlmRejected, LlmUnavailable)
"""Errors that affect all items and therefore end the job. A restarted job continues from the stored answers."""


@dataclass(frozen=True)
class CurationJobs:
    """Job performer for curation, candidate idea and scoring jobs."""

    curator: Curator
    database: Database

    async def perform(
        self,
        lease: Lease,
        request: CurationRequest | CandidateIdeasRequest | ScoreRequest,
        progress: Progress,
        run_request: RunRequest,
    ) -> ItemsResult:
        """Run a job. A restarted job continues from the stored answers.

        Raises ConfigurationError if no language model is configured or if a dollar budget is set and prices are
        unknown; InputError if the dimensions file is unusable; LlmRejected or LlmUnavailable if the endpoint fails;
        StorageError; LeaseLost if another process has taken over the job."""
        require_llm(self.curator.settings, "Curation")
        each = partial(self._run_each_item, lease, progress, run_request)
        ended: Sequence[PaidOutcome]
        match request:
            case CurationRequest():
                papers = self.curator.create_curation_stage(request.items)
                ended = await each(papers, lambda item: (item.title, item.abstract), CurationOutcome, "paper")
            case CandidateIdeasRequest():
                questions = self.curator.create_proposal_stage(
                    request.items, request.ranking_method, request.candidates
                )

                async def propose(question: ResearchQuestion, run: Run) -> CandidateIdeas:
                    return _build_candidate_ideas(question, await questions.work(question, run))

                stage = CurationStage(**(vars(questions) | {"work": propose}))
                ended = await each(stage, lambda item: item.text, CandidateIdeasOutcome, "candidate_ideas")
            case ScoreRequest():
                ideas = await asyncio.to_thread(_mask_ideas, request.items) if run_request.blind else request.items
                scores = self.curator.create_scoring_stage(ideas)
                ended = await each(scores, lambda item: (item.idea.judged_id, item.question), ScoreOutcome, "scores")
            case _:
                assert_never(request)
        return summarise_items(request.kind, ended)

    async def _run_each_item(
        self,
        lease: Lease,
        progress: Progress,
        run_request: RunRequest,
        stage: CurationStage[Item, Any],
        words: Callable[[Item], Hashable],
        outcomes: type[Ended],
        field: str,
    ) -> tuple[Ended, ...]:
        """Run a stage item by item and return the outcomes. Each result is stored in its outcome's field named
        `field`."""

        def build_outcome(ending: Ending[Any]) -> Ended:
            return outcomes(**(_build_common_fields(ending) | {field: ending.made}))

        run = await self.curator.begin(stage, progress, run_request)
        work = ItemWork(stage.name, words, lambda item: item.id, stage.work, build_outcome, _JOB_ERRORS)
        concurrency = self.curator.settings.evaluation.concurrency
        return await do_items_of_job(
            lease, stage.items, work, run, concurrency, PgItemOutcomes(self.database, outcomes)
        )


def _mask_ideas(ideas: Sequence[IdeaToScore]) -> tuple[IdeaToScore, ...]:
    return tuple(idea.model_copy(update={"idea": mask_idea(idea.idea)}) for idea in ideas)


def _build_candidate_ideas(question: ResearchQuestion, proposed: ProposedCandidates) -> CandidateIdeas:
    missing_candidates = [MissingCandidate(number=number, reason=str(error)) for number, error in proposed.lost.items()]
    repeats = [
        MissingCandidate(number=number, reason="It duplicates an earlier candidate.", duplicate_of=repeated)
        for number, repeated in proposed.repeats.items()
    ]
    return CandidateIdeas(
        question=question.text,
        candidates=proposed.candidates,
        missing=tuple(sorted([*missing_candidates, *repeats], key=lambda repeat: repeat.number)),
        flags=question.flags,
    )


def _build_common_fields(ending: Ending[Any]) -> dict[str, Any]:
    """Return the fields that every outcome has besides its result."""
    calls = ending.journal.calls
    return {
        "item": ending.item,
        "id": ending.id,
        "problem": ending.problem,
        "seconds": ending.seconds,
        "llm_requests": len(calls),
        "prompt_tokens": sum(call.prompt_tokens for call in calls),
        "completion_tokens": sum(call.completion_tokens for call in calls),
        "cost_usd": sum_journal_costs(ending.journal),
        "models": tuple(sorted({call.model for call in calls})),
        "prompts": ending.journal.list_prompts(),
    }
