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
from assayer.ports import Progress
from assayer.ranking.comparison import COMPARISON
from assayer.run.accounting import Started, cost_of, usage
from assayer.run.run import Run
from assayer.run.structured_concurrency import together
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.engine import open_llm
from cluster.run_request import LOCAL_REQUEST, RunRequest, result_inputs, run_id
from cluster.settings import CurationSettings, Settings
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.llm.gateway import LlmGateway

__all__ = ["CurationWork", "Curator", "open_curator", "require_llm_for_curation"]

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
class Curator:
    """Every method raises ConfigurationError without a model, LlmRejected, LlmUnavailable and StorageError; asked
    again, it goes on from what has been answered."""

    settings: Settings
    llm: Llm
    clock: SystemClock

    async def curate(
        self, papers: Sequence[SourcePaper], progress: Progress, run_request: RunRequest = LOCAL_REQUEST
    ) -> CurationWork[CuratedPaper]:
        options = self.settings.curation
        run = await self._begin("cu", {"papers": [one.model_dump() for one in papers]}, progress, run_request)
        return await self._each("papers", papers, run, lambda one: curate_paper(one, self.llm, run, options))

    async def propose(
        self,
        questions: Sequence[ResearchQuestion],
        best_by: BestBy | None,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> CurationWork[ProposedCandidates]:
        """With places where the best is wanted."""
        options = self.settings.curation
        dimensions = score_dimensions(options.score_dimensions)
        asked = {"questions": [one.model_dump() for one in questions], "best_by": best_by}
        run = await self._begin("pr", asked, progress, run_request)

        async def one(question: ResearchQuestion) -> ProposedCandidates:
            made = await propose_candidates(question, self.llm, run, options)
            if best_by is None:
                return made
            ranking = self.settings.ranking
            placed = await place_candidates(made.candidates, best_by, self.llm, run, options, ranking, dimensions)
            return made._replace(candidates=placed)

        return await self._each("questions", questions, run, one)

    async def score(
        self,
        ideas: Sequence[Idea],
        question: str | None,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> CurationWork[IdeaScores]:
        """Ideas are shown as they are: mask them first where they are to be judged blind. Raises InputError for a file
        of dimensions that cannot be used."""
        options = self.settings.curation
        dimensions = score_dimensions(options.score_dimensions)
        asked = {
            "ideas": [one.judged_id for one in ideas],
            "question": question,
            "dimensions": [one.sha256 for one in dimensions],
        }
        run = await self._begin("sc", asked, progress, run_request)
        return await self._each(
            "ideas", ideas, run, lambda one: score_idea(one, dimensions, self.llm, run, options, question)
        )

    async def _each(
        self, stage: str, items: Sequence[In], run: Run, work: Callable[[In], Awaitable[Out]]
    ) -> CurationWork[Out]:
        started, done = Started.now(self.clock), 0
        slots = asyncio.Semaphore(self.settings.evaluation.concurrency)

        async def one(item: In) -> Out:
            nonlocal done
            async with slots:
                result = await work(item)
            done += 1
            run.report_progress(stage, done, len(items))
            return result

        results = await together(one(item) for item in items)
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

    async def _begin(self, kind: str, asked: Mapping[str, object], progress: Progress, run_request: RunRequest) -> Run:
        llm, options = self.settings.llm, self.settings.curation
        request = result_inputs(
            {
                "assayer": __version__,
                **asked,
                "options": options.model_dump(mode="json"),
                "ranking": self.settings.ranking.model_dump(mode="json"),
                "models": self.llm.models,
                "llm": llm.result_inputs if llm else None,
                "prompts": {task.name: [task.version, task.digest] for task in (*ALL, COMPARISON)},
            }
        )
        run = Run(
            id=run_id(kind, request, run_request.job),
            cutoff=None,
            clock=self.clock,
            progress=progress,
            budget=run_request.budget(options),
            answers_of=run_request.answers_of,
        )
        await run_request.begin(run.id, request)
        return run


@asynccontextmanager
async def open_curator(settings: Settings) -> AsyncIterator[Curator]:
    """Raises ConfigurationError, StorageError, LlmRejected and LlmUnavailable before anything is asked."""
    require_llm_for_curation(settings)
    async with AsyncExitStack() as stack:
        embedder = stack.enter_context(closing(SentenceTransformerEmbedder(settings.embedder)))
        database = await stack.enter_async_context(open_database(settings))
        llm = await open_llm(settings, database, embedder, stack)
        _require_prices(settings.curation, llm)
        yield Curator(settings, llm, SystemClock())


def _require_prices(options: CurationSettings, llm: Llm) -> None:
    if options.max_usd is not None and isinstance(llm, LlmGateway):
        llm.require_prices()
