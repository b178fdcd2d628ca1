"""Curate papers, propose candidate ideas and score ideas in a single process, without Ray or a server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from assayer.curation.best_of import place_candidates
from assayer.curation.candidates import ProposedCandidates, propose_candidates
from assayer.curation.dimensions import load_score_dimensions
from assayer.curation.papers import curate_paper
from assayer.curation.scoring import score_idea
from assayer.curation.tasks import ALL
from assayer.llm import Llm
from assayer.models import Absent, Dropped, Idea, PromptVersion, RunUsage
from assayer.models.curation import ResearchQuestion, SourcePaper
from assayer.ports import Clock, Progress
from assayer.ranking.comparison import COMPARISON
from assayer.run.accounting import Started, measure_usage, sum_costs
from assayer.run.concurrency import gather_all
from assayer.run.run import Run
from assayer.version import __version__
from assayer_client.curation import BestBy, CuratedPaper, IdeaScores
from cluster.language_model import open_models
from cluster.run_request import LOCAL_REQUEST, RunRequest, normalise_result_inputs
from cluster.settings import CurationSettings, Settings
from orchestrator.jobs.requests import IdeaToScore

In = TypeVar("In")
Out = TypeVar("Out")


class CurationWork(NamedTuple, Generic[Out]):
    """Results of a command, in input order, with its usage and cost."""

    results: list[Out]
    dropped: tuple[Dropped, ...]
    usage: RunUsage
    """Usage of this execution only."""
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | Absent
    """Cost of all answers used, including answers paid for by earlier executions."""
    models: tuple[str, ...]
    """Names of the models that answered, sorted."""
    prompts: tuple[PromptVersion, ...]


@dataclass(frozen=True)
class CurationStage(Generic[In, Out]):
    """A stage (curation, proposal or scoring) together with its items. A command runs it as a whole, a service job item
    by item."""

    prefix: str
    """Prefix of the run id."""
    name: str
    """Plural noun for the items, shown in progress."""
    items: Sequence[In]
    request_fields: Mapping[str, object]
    """The request's values that determine the results."""
    options: CurationSettings
    work: Callable[[In, Run], Awaitable[Out]]


@dataclass(frozen=True)
class Curator:
    """Curation with a language model. Repeated calls continue from the stored answers. All async methods raise
    ConfigurationError if there is no model, LlmRejected or LlmUnavailable if the endpoint fails, and StorageError."""

    settings: Settings
    llm: Llm
    clock: Clock

    async def curate(
        self, papers: Sequence[SourcePaper], progress: Progress, run_request: RunRequest = LOCAL_REQUEST
    ) -> CurationWork[CuratedPaper]:
        return await self._run_each_item(self.create_curation_stage(papers), progress, run_request)

    async def propose(
        self,
        questions: Sequence[ResearchQuestion],
        ranking_method: BestBy | None,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> CurationWork[ProposedCandidates]:
        """Propose candidate ideas for the questions, ranked if `ranking_method` is set."""
        return await self._run_each_item(self.create_proposal_stage(questions, ranking_method), progress, run_request)

    async def score(
        self,
        ideas: Sequence[Idea],
        question: str | None,
        progress: Progress,
        run_request: RunRequest = LOCAL_REQUEST,
    ) -> CurationWork[IdeaScores]:
        """Score ideas without masking them; for blind scoring, mask them first. Raises InputError if the dimensions
        file is unusable."""
        return await self._run_each_item(
            self.create_scoring_stage([IdeaToScore(idea=idea, question=question) for idea in ideas]),
            progress,
            run_request,
        )

    def create_curation_stage(self, papers: Sequence[SourcePaper]) -> CurationStage[SourcePaper, CuratedPaper]:
        options = self.settings.curation

        async def curate_item(paper: SourcePaper, run: Run) -> CuratedPaper:
            return await curate_paper(paper, self.llm, run, options)

        return CurationStage(
            "cu", "papers", papers, {"papers": [paper.model_dump() for paper in papers]}, options, curate_item
        )

    def create_proposal_stage(
        self, questions: Sequence[ResearchQuestion], ranking_method: BestBy | None, candidates: int | None = None
    ) -> CurationStage[ResearchQuestion, ProposedCandidates]:
        """Return the proposal stage; `candidates` overrides the configured number of candidates per question."""
        curation_settings = self.settings.curation
        options = (
            curation_settings if candidates is None else curation_settings.model_copy(update={"candidates": candidates})
        )
        dimensions = load_score_dimensions(options.score_dimensions)

        async def propose_ideas(question: ResearchQuestion, run: Run) -> ProposedCandidates:
            proposed = await propose_candidates(question, self.llm, run, options)
            if ranking_method is None:
                return proposed
            ranking = self.settings.ranking
            placed_candidates = await place_candidates(
                proposed.candidates, ranking_method, self.llm, run, options, ranking, dimensions
            )
            return proposed._replace(candidates=placed_candidates)

        request_fields = {
            "questions": [question.model_dump() for question in questions],
            "ranking_method": ranking_method,
        }
        return CurationStage("ci", "questions", questions, request_fields, options, propose_ideas)

    def create_scoring_stage(self, items: Sequence[IdeaToScore]) -> CurationStage[IdeaToScore, IdeaScores]:
        """Return the scoring stage, which does not mask the ideas. Raises InputError if the dimensions file is
        unusable."""
        options = self.settings.curation
        dimensions = load_score_dimensions(options.score_dimensions)

        async def score_item(item: IdeaToScore, run: Run) -> IdeaScores:
            return await score_idea(item.idea, dimensions, self.llm, run, options, item.question)

        request_fields = {
            "ideas": [[entry.idea.judged_id, entry.question] for entry in items],
            "dimensions": [dimension.sha256 for dimension in dimensions],
        }
        return CurationStage("sc", "ideas", items, request_fields, options, score_item)

    async def begin(self, stage: CurationStage[In, Out], progress: Progress, run_request: RunRequest) -> Run:
        """Start a run with one budget, shared by all items in the stage."""
        llm = self.settings.llm
        inputs = normalise_result_inputs(
            {
                "assayer": __version__,
                **stage.request_fields,
                "options": stage.options.model_dump(mode="json"),
                "ranking": self.settings.ranking.model_dump(mode="json"),
                "models": self.llm.models,
                "llm": llm.result_inputs if llm else None,
                "prompts": {task.name: [task.version, task.digest] for task in (*ALL, COMPARISON)},
            }
        )
        return await run_request.start_run(stage.prefix, inputs, self.llm, self.clock, progress, stage.options)

    async def _run_each_item(
        self, stage: CurationStage[In, Out], progress: Progress, run_request: RunRequest
    ) -> CurationWork[Out]:
        run = await self.begin(stage, progress, run_request)
        started, done = Started.now(self.clock), 0
        slots = asyncio.Semaphore(self.settings.evaluation.concurrency)

        async def run_item(item: In) -> Out:
            nonlocal done
            async with slots:
                result = await stage.work(item, run)
            done += 1
            run.report_progress(stage.name, done, len(stage.items))
            return result

        results = await gather_all(run_item(item) for item in stage.items)
        calls = run.journal.calls
        return CurationWork(
            results,
            run.journal.list_dropped(),
            measure_usage(run, started),
            sum(call.prompt_tokens for call in calls),
            sum(call.completion_tokens for call in calls),
            sum_costs(calls),
            tuple(sorted({call.model for call in calls})),
            run.journal.list_prompts(),
        )


@asynccontextmanager
async def open_curator(settings: Settings) -> AsyncIterator[Curator]:
    """Open a curator. Raises ConfigurationError, StorageError, LlmRejected or LlmUnavailable before any LLM request."""
    async with open_models(settings) as models:
        yield Curator(settings, models.llm, models.clock)
