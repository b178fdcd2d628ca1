"""Rankings in one process: settings in, a judge with its cache, an order out. No Ray, no server."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field, replace

from assayer import __version__
from assayer.errors import ConfigurationError
from assayer.llm import Llm
from assayer.methods.grapheval.graph.records import LabelledIdea
from assayer.models import Absent, Idea, IdeaId
from assayer.models.ranking import Comparison
from assayer.ports import Embedder, Progress
from assayer.ranking.comparison import COMPARISON, compare_ideas
from assayer.ranking.judged_texts import blinding_rules, masked_idea, read_the_same
from assayer.ranking.pipeline import CompletedRanking, rank_ideas
from assayer.ranking.triage_baselines import masked_labelled_idea, measure_triage_baselines, with_triage_baselines
from assayer.run.accounting import cost_of
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, each
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.language_model import open_llm
from cluster.run_request import LOCAL_REQUEST, ResultInputs, RunRequest, result_inputs, run_id
from cluster.settings import RankingSettings, Settings
from orchestrator.jobs.results import ComparisonResult, Outcome, outcomes_of
from workers.embedding.local_embedder import local_embedder
from workers.llm.gateway import LlmGateway

__all__ = ["Ranker", "RankingInputs", "open_ranker", "require_llm"]


@dataclass(frozen=True)
class RankingInputs:
    """What is to be ranked, and from what."""

    ideas: Sequence[Idea]
    cut: int | None = None
    scores: Mapping[IdeaId, float] = field(default_factory=dict)
    """Point scores to start from."""
    known: Sequence[Comparison] = ()
    labelled: Sequence[LabelledIdea] = ()
    outcomes: tuple[str, ...] = ()
    """Of the labelled ideas, from worst to best."""
    calls_per_idea: float | None = None
    """None: what the settings say."""
    evidence: Mapping[IdeaId, str] | None = None
    """What reports found of some of them; None: they are compared by their own texts."""


def require_llm(settings: Settings) -> None:
    """Raises ConfigurationError: no measure of overlap stands in for a preference."""
    if settings.llm is None:
        raise ConfigurationError(
            "A ranking needs a language model that compares the ideas, and none is configured.",
            "Set ASSAYER_LLM__BASE_URL and ASSAYER_LLM__MODEL, and ASSAYER_LLM__API_KEY if the endpoint asks "
            "for a key.",
        )


@dataclass(frozen=True)
class Ranker:
    """Ranks one group of ideas after another, or several at once."""

    settings: Settings
    llm: Llm
    embedder: Embedder
    clock: SystemClock

    async def rank(
        self, wanted: RankingInputs, progress: Progress, run_request: RunRequest = LOCAL_REQUEST
    ) -> CompletedRanking:
        """Blind where the request says so. Raises InputError for ideas that cannot be ranked, ConfigurationError
        without a judge, LlmRejected, LlmUnavailable and StorageError; asked again, it goes on from what the judge has
        answered."""
        require_llm(self.settings)
        options = self._options(run_request, wanted.calls_per_idea)
        if run_request.blind:
            wanted = await asyncio.to_thread(_masked, wanted)
        run = await self._begin(self._ranking(wanted, options), progress, run_request)
        said = None
        if wanted.labelled:
            said = await measure_triage_baselines(wanted.ideas, wanted.labelled, wanted.outcomes, self.embedder)
        ranked = await rank_ideas(
            wanted.ideas, self.llm, run, options, wanted.cut, wanted.scores, wanted.known, wanted.evidence
        )
        return ranked if said is None else replace(ranked, ranking=with_triage_baselines(ranked.ranking, said))

    async def compare(
        self, ideas: tuple[Idea, Idea], both_orders: bool, progress: Progress, run_request: RunRequest = LOCAL_REQUEST
    ) -> ComparisonResult:
        """Blind where the request says so. Ideas that then read the same are not compared: that is a tie, and says
        why. One order's failure leaves the other's answer. Raises as `rank`, and what both orders failed of."""
        require_llm(self.settings)
        options = self._options(run_request)
        if run_request.blind:
            first, second = await asyncio.to_thread(lambda: [masked_idea(one) for one in ideas])
            ideas = (first, second)
        run = await self._begin(self._comparison(ideas, both_orders, options), progress, run_request)
        if read_the_same(*ideas, options):
            return self._result(ideas, options, run, not_asked=_READ_THE_SAME)
        orders = [ideas, ideas[::-1]] if both_orders else [ideas]
        ended = 0

        async def one(order: tuple[Idea, Idea]) -> Comparison:
            nonlocal ended
            try:
                return await compare_ideas(*order, self.llm, run, options)
            finally:
                ended += 1
                run.report_progress("comparisons", ended, len(orders))

        found = await each(orders, one)
        answers = tuple(one for one in found if not isinstance(one, Failed))
        failures = [one.error for one in found if isinstance(one, Failed)]
        if not answers:
            raise failures[0]
        return self._result(ideas, options, run, answers, len(failures))

    def _result(
        self,
        ideas: tuple[Idea, Idea],
        options: RankingSettings,
        run: Run,
        answers: tuple[Comparison, ...] = (),
        failed: int = 0,
        not_asked: Absent | None = None,
    ) -> ComparisonResult:
        ties = tuple(Outcome(dimension=one.name, winner="tie", agreed=None) for one in options.dimensions)
        return ComparisonResult(
            first=ideas[0].id,
            second=ideas[1].id,
            dimension=options.order_by,
            outcomes=outcomes_of(ideas[0].id, answers) if not_asked is None else ties,
            answers=answers,
            not_asked=not_asked,
            blind=blinding_rules(ideas) is not None,
            blinding=tuple(one.blinding for one in ideas if one.blinding),
            failed=failed,
            models=self.llm.models,
            prompts=run.journal.prompts(),
            prompt_tokens=sum(call.prompt_tokens for call in run.journal.calls),
            completion_tokens=sum(call.completion_tokens for call in run.journal.calls),
            cost_usd=cost_of(run.journal.calls),
        )

    def _options(self, run_request: RunRequest, calls_per_idea: float | None = None) -> RankingSettings:
        own = self.settings.ranking
        asked = {} if calls_per_idea is None else {"calls_per_idea": calls_per_idea}
        return own.model_copy(update={**run_request.bounds(own).model_dump(), **asked})

    async def _begin(self, request: ResultInputs, progress: Progress, run_request: RunRequest) -> Run:
        run = Run(
            id=run_id("rk", request, run_request.job),
            cutoff=None,
            clock=self.clock,
            progress=progress,
            budget=run_request.budget(self.settings.ranking),
            answers_of=run_request.answers_of,
        )
        await run_request.begin(run.id, request)
        return run

    def _ranking(self, wanted: RankingInputs, options: RankingSettings) -> ResultInputs:
        """Everything that determines the ranking."""
        return self._request(
            options,
            ideas=[idea.id for idea in wanted.ideas],
            blinding=blinding_rules(wanted.ideas),
            cut=wanted.cut,
            scores=dict(wanted.scores),
            known=[one.model_dump() for one in wanted.known],
            labelled=[one.digest for one in wanted.labelled],
            outcomes=wanted.outcomes,
            evidence=None if wanted.evidence is None else dict(wanted.evidence),
        )

    def _comparison(self, ideas: Sequence[Idea], both_orders: bool, options: RankingSettings) -> ResultInputs:
        asked = [idea.id for idea in ideas]
        return self._request(options, ideas=asked, blinding=blinding_rules(ideas), both_orders=both_orders)

    def _request(self, options: RankingSettings, **asked: object) -> ResultInputs:
        llm = self.settings.llm
        return result_inputs(
            {
                "assayer": __version__,
                **asked,
                "options": options.model_dump(),
                "models": self.llm.models,
                "llm": llm.result_inputs if llm else None,
                "prompt": [COMPARISON.version, COMPARISON.digest],
            }
        )


_READ_THE_SAME = Absent(
    reason="The judge would be shown the same text twice: the ideas differ only in what is masked, in their titles, or "
    "beyond what it is shown of each."
)


def _masked(wanted: RankingInputs) -> RankingInputs:
    ideas = [masked_idea(one) for one in wanted.ideas]
    return replace(wanted, ideas=ideas, labelled=[masked_labelled_idea(one) for one in wanted.labelled])


@asynccontextmanager
async def open_ranker(settings: Settings) -> AsyncIterator[Ranker]:
    """Raises ConfigurationError, StorageError, LlmRejected and LlmUnavailable before anything is asked."""
    require_llm(settings)
    async with AsyncExitStack() as stack:
        embedder = stack.enter_context(closing(local_embedder(settings.embedder)))
        database = await stack.enter_async_context(open_database(settings))
        llm = await open_llm(settings, database, embedder, stack)
        if settings.ranking.max_usd is not None and isinstance(llm, LlmGateway):
            llm.require_prices()
        yield Ranker(settings, llm, embedder, SystemClock())
