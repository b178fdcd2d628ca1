"""Papers curated, candidates proposed and ideas scored in one process: settings in, a model with its cache, results
out. No Ray, no server.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from assayer import __version__
from assayer.curation.best_of import place_candidates
from assayer.curation.candidates import ProposedCandidates, propose_candidates
from assayer.curation.dimensions import score_dimensions
from assayer.curation.options import BestBy
from assayer.curation.papers import curate_paper
from assayer.curation.scoring import score_idea
from assayer.curation.tasks import ALL
from assayer.errors import ConfigurationError
from assayer.llm import Llm
from assayer.models import Absent, Dropped, Idea, PromptVersion, RunUsage
from assayer.models.curation import CuratedPaper, IdeaScores, ResearchQuestion, SourcePaper
from assayer.ports import Clock, Progress
from assayer.ranking.comparison import COMPARISON
from assayer.run.accounting import Started, cost_of, usage
from assayer.run.run import Run
from assayer.run.structured_concurrency import together
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.language_model import open_llm
from cluster.run_request import LOCAL_REQUEST, RunRequest, result_inputs, run_id
from cluster.settings import CurationSettings, Settings
from orchestrator.jobs.requests import IdeaToScore
from workers.embedding.local_embedder import local_embedder
from workers.llm.gateway import LlmGateway

__all__ = ["CurationStage", "CurationWork", "Curator", "open_curator", "require_llm_for_curation"]

In = TypeVar("In")
Out = TypeVar("Out")


class CurationWork(NamedTuple, Generic[Out]):
    """What a command made, in the order of what it was given, and what that took."""

    results: list[Out]
    dropped: tuple[Dropped, ...]
    usage: RunUsage
    """Of this execution only."""
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | Absent
    """Of all answers used, those of earlier executions included."""
    models: tuple[str, ...]
    """That answered, sorted."""
    prompts: tuple[PromptVersion, ...]


def require_llm_for_curation(settings: Settings) -> None:
    """Raises ConfigurationError: a pattern that finds surveys finds no new ideas, and no rule asks a question."""
    if settings.llm is None:
        raise ConfigurationError(
            "Curating papers, proposing ideas and scoring them need a language model, and none is configured.",
            "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__API_KEY if the endpoint asks "
            "for a key.",
        )


@dataclass(frozen=True)
class CurationStage(Generic[In, Out]):
    """One of the three stages, with its items: what a command runs at once, and a job of the service item by item."""

    prefix: str
    """Of the run's id."""
    name: str
    """Of the items, as progress names them."""
    items: Sequence[In]
    asked: Mapping[str, object]
    """What of the request determines the results."""
    options: CurationSettings
    work: Callable[[In, Run], Awaitable[Out]]


@dataclass(frozen=True)
class Curator:
    """Every method that is awaited raises ConfigurationError without a model, LlmRejected, LlmUnavailable and
    StorageError; asked again, it goes on from what has been answered."""

    settings: Settings
    llm: Llm
    clock: Clock

    async def curate(
        self, papers: Sequence[SourcePaper], progress: Progress, run_request: RunRequest = LOCAL_REQUEST
    ) -> CurationWork[CuratedPaper]:
        return await self._each(self.curation(papers), progress, run_request)

    async def propose(
        self,
        questions: Sequence[ResearchQuestion],
        best_by: BestBy | None,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> CurationWork[ProposedCandidates]:
        """With places where the best is wanted."""
        return await self._each(self.proposal(questions, best_by), progress, run_request)

    async def score(
        self,
        ideas: Sequence[Idea],
        question: str | None,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> CurationWork[IdeaScores]:
        """Ideas are shown as they are: mask them first where they are to be judged blind. Raises InputError for a file
        of dimensions that cannot be used."""
        return await self._each(
            self.scoring([IdeaToScore(idea=one, question=question) for one in ideas]), progress, run_request
        )

    def curation(self, papers: Sequence[SourcePaper]) -> CurationStage[SourcePaper, CuratedPaper]:
        options = self.settings.curation

        async def one(paper: SourcePaper, run: Run) -> CuratedPaper:
            return await curate_paper(paper, self.llm, run, options)

        return CurationStage("cu", "papers", papers, {"papers": [one.model_dump() for one in papers]}, options, one)

    def proposal(
        self, questions: Sequence[ResearchQuestion], best_by: BestBy | None, candidates: int | None = None
    ) -> CurationStage[ResearchQuestion, ProposedCandidates]:
        """`candidates`: for each question, in place of what the settings say."""
        own = self.settings.curation
        options = own if candidates is None else own.model_copy(update={"candidates": candidates})
        dimensions = score_dimensions(options.score_dimensions)

        async def one(question: ResearchQuestion, run: Run) -> ProposedCandidates:
            made = await propose_candidates(question, self.llm, run, options)
            if best_by is None:
                return made
            ranking = self.settings.ranking
            placed = await place_candidates(made.candidates, best_by, self.llm, run, options, ranking, dimensions)
            return made._replace(candidates=placed)

        asked = {"questions": [one.model_dump() for one in questions], "best_by": best_by}
        return CurationStage("pr", "questions", questions, asked, options, one)

    def scoring(self, asked: Sequence[IdeaToScore]) -> CurationStage[IdeaToScore, IdeaScores]:
        """Ideas are shown as they are. Raises InputError for a file of dimensions that cannot be used."""
        options = self.settings.curation
        dimensions = score_dimensions(options.score_dimensions)

        async def one(item: IdeaToScore, run: Run) -> IdeaScores:
            return await score_idea(item.idea, dimensions, self.llm, run, options, item.question)

        determining = {
            "ideas": [[one.idea.judged_id, one.question] for one in asked],
            "dimensions": [one.sha256 for one in dimensions],
        }
        return CurationStage("sc", "ideas", asked, determining, options, one)

    async def begin(self, stage: CurationStage[In, Out], progress: Progress, run_request: RunRequest) -> Run:
        """The run of all items, with the budget that they share."""
        llm = self.settings.llm
        inputs = result_inputs(
            {
                "assayer": __version__,
                **stage.asked,
                "options": stage.options.model_dump(mode="json"),
                "ranking": self.settings.ranking.model_dump(mode="json"),
                "models": self.llm.models,
                "llm": llm.result_inputs if llm else None,
                "prompts": {task.name: [task.version, task.digest] for task in (*ALL, COMPARISON)},
            }
        )
        budget = run_request.budget(stage.options)
        if budget.max_usd is not None and isinstance(self.llm, LlmGateway):
            self.llm.require_prices()
        run = Run(
            id=run_id(stage.prefix, inputs, run_request.job),
            cutoff=None,
            clock=self.clock,
            progress=progress,
            budget=budget,
            answers_of=run_request.answers_of,
        )
        await run_request.begin(run.id, inputs)
        return run

    async def _each(
        self, stage: CurationStage[In, Out], progress: Progress, run_request: RunRequest
    ) -> CurationWork[Out]:
        run = await self.begin(stage, progress, run_request)
        started, done = Started.now(self.clock), 0
        slots = asyncio.Semaphore(self.settings.evaluation.concurrency)

        async def one(item: In) -> Out:
            nonlocal done
            async with slots:
                result = await stage.work(item, run)
            done += 1
            run.report_progress(stage.name, done, len(stage.items))
            return result

        results = await together(one(item) for item in stage.items)
        calls = run.journal.calls
        return CurationWork(
            results,
            run.journal.dropped(),
            usage(run, started),
            sum(call.prompt_tokens for call in calls),
            sum(call.completion_tokens for call in calls),
            cost_of(calls),
            tuple(sorted({call.model for call in calls})),
            run.journal.prompts(),
        )


@asynccontextmanager
async def open_curator(settings: Settings) -> AsyncIterator[Curator]:
    """Raises ConfigurationError, StorageError, LlmRejected and LlmUnavailable before anything is asked."""
    require_llm_for_curation(settings)
    async with AsyncExitStack() as stack:
        embedder = stack.enter_context(closing(local_embedder(settings.embedder)))
        database = await stack.enter_async_context(open_database(settings))
        llm = await open_llm(settings, database, embedder, stack)
        _require_prices(settings.curation, llm)
        yield Curator(settings, llm, SystemClock())


def _require_prices(options: CurationSettings, llm: Llm) -> None:
    if options.max_usd is not None and isinstance(llm, LlmGateway):
        llm.require_prices()
