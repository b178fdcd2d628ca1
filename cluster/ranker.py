"""Rank and compare ideas in a single process, without Ray or a server."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from assayer.llm import Llm
from assayer.methods.grapheval.graph.records import LabelledIdea
from assayer.models import Absent, Idea, IdeaId
from assayer.ports import Embedder, Progress
from assayer.ranking.comparison import COMPARISON, compare_ideas
from assayer.ranking.judged_texts import have_same_text, mask_idea, require_same_blinding_rules
from assayer.ranking.pipeline import CompletedRanking, rank_ideas
from assayer.ranking.triage_baselines import add_triage_baselines, mask_labelled_idea, measure_triage_baselines
from assayer.run.accounting import sum_costs
from assayer.run.concurrency import Failed, gather_settled
from assayer.run.run import Run
from assayer.version import __version__
from assayer_client.comparisons import Comparison, ComparisonResult, Outcome
from cluster.clock import SystemClock
from cluster.language_model import open_models, require_llm
from cluster.run_request import LOCAL_REQUEST, ResultInputs, RunRequest, normalise_result_inputs
from cluster.settings import RankingSettings, Settings
from orchestrator.jobs.results import compute_outcomes


@dataclass(frozen=True)
class RankingInputs:
    """Ideas to rank, and what is already known about them."""

    ideas: Sequence[Idea]
    shortlist_size: int | None = None
    scores: Mapping[IdeaId, float] = field(default_factory=dict)
    """Initial scores of individual ideas."""
    known: Sequence[Comparison] = ()
    labelled: Sequence[LabelledIdea] = ()
    outcomes: tuple[str, ...] = ()
    """The labelled ideas' outcomes, from worst to best."""
    comparisons_per_idea: float | None = None
    """Number of LLM requests for comparisons per idea; None uses the value in the settings."""
    evidence: Mapping[IdeaId, str] | None = None
    """Evidence from reports, for some or all of the ideas. If None, ideas are compared only by their own texts."""


@dataclass(frozen=True)
class Ranker:
    """Ranks ideas; can run several rankings concurrently."""

    settings: Settings
    llm: Llm
    embedder: Embedder
    clock: SystemClock

    async def rank(
        self, inputs: RankingInputs, progress: Progress, run_request: RunRequest = LOCAL_REQUEST
    ) -> CompletedRanking:
        """Rank the ideas, masked if the request is blind. A repeated call continues from the judge's stored answers.

        Raises InputError if the ideas cannot be ranked, ConfigurationError if there is no language model, LlmRejected
        or LlmUnavailable if the endpoint fails, and StorageError."""
        require_llm(self.settings, "A ranking")
        options = self._build_options(run_request, inputs.comparisons_per_idea)
        if run_request.blind:
            inputs = await asyncio.to_thread(_mask_ideas, inputs)
        # In a thread, because 200,000 known comparisons would block the event loop for seconds.
        request = await asyncio.to_thread(self._build_ranking_result_inputs, inputs, options)
        run = await self._begin(request, progress, run_request)
        baselines = None
        if inputs.labelled:
            baselines = await measure_triage_baselines(inputs.ideas, inputs.labelled, inputs.outcomes, self.embedder)
        completed_ranking = await rank_ideas(
            inputs.ideas, self.llm, run, options, inputs.shortlist_size, inputs.scores, inputs.known, inputs.evidence
        )
        return (
            completed_ranking
            if baselines is None
            else replace(completed_ranking, ranking=add_triage_baselines(completed_ranking.ranking, baselines))
        )

    async def compare(
        self, ideas: tuple[Idea, Idea], both_orders: bool, progress: Progress, run_request: RunRequest = LOCAL_REQUEST
    ) -> ComparisonResult:
        """Compare two ideas, masked if the request is blind. If the judge would see the same text twice, the result is
        a tie with the reason, without an LLM request. If one of the two orders fails, the result is based on the
        remaining order. Raises the errors of `rank`; if all orders fail, raises the first error."""
        require_llm(self.settings, "A comparison")
        options = self._build_options(run_request)
        if run_request.blind:
            first, second = await asyncio.to_thread(lambda: [mask_idea(idea) for idea in ideas])
            ideas = (first, second)
        run = await self._begin(
            self._build_comparison_result_inputs(ideas, both_orders, options), progress, run_request
        )
        if have_same_text(*ideas, options):
            return self._build_result(ideas, options, run, not_asked=_READ_THE_SAME)
        orders = [ideas, ideas[::-1]] if both_orders else [ideas]
        ended_count = 0

        async def compare_order(order: tuple[Idea, Idea]) -> Comparison:
            nonlocal ended_count
            try:
                return await compare_ideas(*order, self.llm, run, options)
            finally:
                ended_count += 1
                run.report_progress("comparisons", ended_count, len(orders))

        outcomes = await gather_settled(orders, compare_order)
        answers = tuple(outcome for outcome in outcomes if not isinstance(outcome, Failed))
        failures = [outcome.error for outcome in outcomes if isinstance(outcome, Failed)]
        if not answers:
            raise failures[0]
        return self._build_result(ideas, options, run, answers, len(failures))

    def _build_result(
        self,
        ideas: tuple[Idea, Idea],
        options: RankingSettings,
        run: Run,
        answers: tuple[Comparison, ...] = (),
        failed: int = 0,
        not_asked: Absent | None = None,
    ) -> ComparisonResult:
        ties = tuple(
            Outcome(dimension=dimension.name, winner="tie", orders_agree=None) for dimension in options.dimensions
        )
        return ComparisonResult(
            first=ideas[0].id,
            second=ideas[1].id,
            dimension=options.order_by,
            outcomes=compute_outcomes(ideas[0].id, answers) if not_asked is None else ties,
            answers=answers,
            unjudged=not_asked,
            blind=require_same_blinding_rules(ideas) is not None,
            blinding=tuple(idea.blinding for idea in ideas if idea.blinding),
            failed=failed,
            models=self.llm.models,
            prompts=run.journal.list_prompts(),
            prompt_tokens=sum(call.prompt_tokens for call in run.journal.calls),
            completion_tokens=sum(call.completion_tokens for call in run.journal.calls),
            cost_usd=sum_costs(run.journal.calls),
        )

    def _build_options(self, run_request: RunRequest, comparisons_per_idea: float | None = None) -> RankingSettings:
        ranking_settings = self.settings.ranking
        requested_options = {} if comparisons_per_idea is None else {"comparisons_per_idea": comparisons_per_idea}
        return ranking_settings.model_copy(
            update={**run_request.combine_limits(ranking_settings).model_dump(), **requested_options}
        )

    async def _begin(self, request: ResultInputs, progress: Progress, run_request: RunRequest) -> Run:
        ranking_settings = self.settings.ranking
        return await run_request.start_run("rk", request, self.llm, self.clock, progress, ranking_settings)

    def _build_ranking_result_inputs(self, inputs: RankingInputs, options: RankingSettings) -> ResultInputs:
        """Return all inputs that affect the ranking."""
        return self._build_request(
            options,
            ideas=[idea.id for idea in inputs.ideas],
            blinding=require_same_blinding_rules(inputs.ideas),
            cut=inputs.shortlist_size,
            scores=dict(inputs.scores),
            known=_hash_comparisons(inputs.known),
            labelled=[idea.digest for idea in inputs.labelled],
            outcomes=inputs.outcomes,
            evidence=None if inputs.evidence is None else dict(inputs.evidence),
        )

    def _build_comparison_result_inputs(
        self, ideas: Sequence[Idea], both_orders: bool, options: RankingSettings
    ) -> ResultInputs:
        idea_ids = [idea.id for idea in ideas]
        return self._build_request(
            options, ideas=idea_ids, blinding=require_same_blinding_rules(ideas), both_orders=both_orders
        )

    def _build_request(self, options: RankingSettings, **inputs: object) -> ResultInputs:
        llm = self.settings.llm
        return normalise_result_inputs(
            {
                "assayer": __version__,
                **inputs,
                "options": options.model_dump(),
                "models": self.llm.models,
                "llm": llm.result_inputs if llm else None,
                "prompt": [COMPARISON.version, COMPARISON.digest],
            }
        )


def _hash_comparisons(comparisons: Sequence[Comparison]) -> str | None:
    """Return a hash of the comparisons, or None if there are none. They are serialised one by one, because serialising
    all of them at once would block every other thread."""
    if not comparisons:
        return None
    digest = hashlib.sha256()
    for comparison in comparisons:
        digest.update(comparison.model_dump_json().encode())
    return digest.hexdigest()


_READ_THE_SAME = Absent(
    reason="The judge would see the same text twice: the ideas differ only in masked text, in their titles, or "
    "after the part that is shown to the judge."
)


def _mask_ideas(inputs: RankingInputs) -> RankingInputs:
    ideas = [mask_idea(idea) for idea in inputs.ideas]
    return replace(inputs, ideas=ideas, labelled=[mask_labelled_idea(idea) for idea in inputs.labelled])


@asynccontextmanager
async def open_ranker(settings: Settings) -> AsyncIterator[Ranker]:
    """Open a ranker. Raises ConfigurationError, StorageError, LlmRejected or LlmUnavailable before any comparison."""
    async with open_models(settings) as models:
        yield Ranker(settings, models.llm, models.embedder, models.clock)
