"""Rank ideas in rounds of comparisons. Each round is chosen by the uncertainty that remains after earlier rounds."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assayer.errors import AssayerError, BudgetExhausted, InputError
from assayer.llm import Llm
from assayer.models import Absent, Idea, IdeaId
from assayer.ranking.bradley_terry import StrengthPosterior, fit_strengths
from assayer.ranking.comparison import compare_ideas, compute_shown_digests, describe_judging
from assayer.ranking.distinct_ideas import require_distinct
from assayer.ranking.group_analysis import analyse_group
from assayer.ranking.judged_texts import JudgedTexts, group_by_text, measure_unread_text, require_same_blinding_rules
from assayer.ranking.known_comparisons import Judging, split_comparisons
from assayer.ranking.options import RankingOptions
from assayer.ranking.pair_selection import Unanswered, choose_pairs, choose_reversed_pairs
from assayer.ranking.standings import compute_standings, summarise_judge
from assayer.ranking.triage_baselines import NO_BASELINE
from assayer.ranking.verdicts import Floats, Ints, PairwiseVerdicts
from assayer.run.accounting import Started, measure_usage, sum_costs
from assayer.run.concurrency import Failed, gather_settled
from assayer.run.run import Run
from assayer.version import __version__
from assayer_client.comparisons import Comparison
from assayer_client.rankings import Ranking

_OUTCOMES = {"first": 1.0, "second": 0.0, "tie": 0.5}
_MIN_ROUND_SIZE = 8
_MAX_FAILURES = 4
"""Number of failed comparisons after which an idea with no successful one is no longer compared."""
_SEED_TRUST = 0.6
"""Assumed correlation between scores and the truth. A standardised score of 1 becomes a prior mean of this many usual
widths."""


@dataclass(frozen=True)
class CompletedRanking:
    ranking: Ranking
    comparisons: tuple[Comparison, ...]
    """All comparisons on which the ranking is based. Submit them again when adding ideas."""
    set_aside: tuple[Comparison, ...] = ()
    """Known comparisons that were not used, because they were judged under other conditions."""


@dataclass
class _ComparisonProgress:
    """The comparisons so far, and the pairs that got no answer."""

    comparisons: list[Comparison]
    submitted: int
    finished: int
    """Number of finished comparisons, answered or not, including submitted ones."""
    failed: dict[tuple[int, int], AssayerError] = field(default_factory=dict)
    """Errors for the pairs that got no answer, keyed by rows, in the order in which they were asked."""
    budget_error: BudgetExhausted | None = None

    def find_unanswered(self, texts: JudgedTexts) -> Unanswered:
        """Return the unanswered pairs and the closed ideas: ideas with several failures and no answer."""
        first, second = np.array(list(self.failed), np.int64).reshape(-1, 2).T
        count = len(texts.distinct)
        failures_by_row = np.bincount(np.concatenate([first, second]), minlength=count)
        return Unanswered(first, second, (failures_by_row >= _MAX_FAILURES) & ~self._find_answered(texts))

    def explain_unjudged(self, texts: JudgedTexts) -> dict[int, Absent]:
        """Return, keyed by row, the reason why no comparison of a text succeeded."""
        answered, closed = self._find_answered(texts), self.find_unanswered(texts).closed
        errors: dict[int, list[AssayerError]] = {}
        for pair, error in self.failed.items():
            for row in pair:
                if not answered[row]:
                    errors.setdefault(row, []).append(error)
        return {row: _explain_unjudged(found, bool(closed[row])) for row, found in errors.items()}

    def _find_answered(self, texts: JudgedTexts) -> NDArray[np.bool_]:
        answered = np.zeros(len(texts.distinct), np.bool_)
        answered[
            [texts.rows[idea] for comparison in self.comparisons for idea in (comparison.first, comparison.second)]
        ] = True
        return answered


def _explain_unjudged(errors: Sequence[AssayerError], closed: bool) -> Absent:
    note = "; no further attempts were made" if closed else ""
    reason = errors[-1].reason
    return Absent(reason=f"All comparisons of this idea failed ({len(errors)} attempted{note}). Last error: {reason}.")


async def rank_ideas(
    ideas: Sequence[Idea],
    llm: Llm,
    run: Run,
    options: RankingOptions,
    cut: int | None = None,
    scores: Mapping[IdeaId, float] | None = None,
    known_comparisons: Sequence[Comparison] = (),
    evidence: Mapping[IdeaId, str] | None = None,
) -> CompletedRanking:
    """Rank ideas by up to `options.comparisons_per_idea` comparisons per idea, including known ones. Each pair is
    compared at most once in each order. Ideas that are shown with the same text count as one.

    A known comparison is used if the conditions that it states (masking rules, model, question, texts) are the current
    ones, and otherwise recorded as dropped. If `evidence` is passed, the judge also sees the findings of the ideas'
    reports. `scores` are starting points, which the comparisons adjust.

    Raises InputError if the ideas cannot be ranked, and LlmRejected or LlmUnavailable if the endpoint fails. An
    exhausted budget raises nothing; it only ends the comparisons."""
    started = Started.now(run.clock)
    _check_ideas(ideas, cut)
    rules = require_same_blinding_rules(ideas)
    texts = group_by_text(ideas, options)
    _check_texts(texts, ideas)
    distinct_ideas, rows = texts.distinct, texts.rows
    seeds = _compute_seeds(texts, scores)
    judging = describe_judging(options, llm.models[0] if llm.models else None, rules, evidence is not None)
    judging = judging._replace(texts=await asyncio.to_thread(compute_shown_digests, ideas, options, evidence))
    usable, refused = _select_known(known_comparisons, rows, judging, run, options.order_by)
    progress = _ComparisonProgress(list(usable), submitted=len(usable), finished=len(usable))
    budget = min(
        round(options.comparisons_per_idea * len(distinct_ideas)), len(distinct_ideas) * (len(distinct_ideas) - 1)
    )
    reversals = round(options.both_ways * budget)
    while (remaining := budget - progress.finished) > 0 and progress.budget_error is None:
        # In a thread, because with thousands of ideas this would block the event loop for seconds.
        pairs = await asyncio.to_thread(_choose_round, progress, texts, seeds, options, cut, remaining, reversals)
        if not len(pairs[0]):
            break
        await _compare_pairs(distinct_ideas, pairs, llm, run, options, progress, budget, evidence)
    by_dimension = await asyncio.to_thread(_fit_dimensions, progress, texts, options, seeds)
    ranked = await asyncio.to_thread(
        compute_standings, ideas, texts, by_dimension, options, cut, progress.explain_unjudged(texts)
    )
    analysis = None
    if len(ideas) <= options.analysed_ideas and progress.comparisons:
        analysis = await analyse_group(ideas, ranked, progress.comparisons, llm, run, options)
    ranking = Ranking(
        id=run.id,
        dimension=options.order_by,
        dimensions=options.dimensions,
        shortlist_size=cut,
        confidence=options.confidence,
        ideas=ranked,
        judge=summarise_judge(
            by_dimension[options.order_by],
            options.confidence,
            submitted=progress.submitted,
            of_unknown_judge=sum(item.judged_by is None for item in usable),
            failed=len(progress.failed),
        ),
        has_starting_scores=seeds is not None,
        blind=rules is not None,
        ideas_with_evidence=None if evidence is None else sum(1 for idea in ideas if evidence.get(idea.id)),
        truncated_ideas=measure_unread_text(ideas, options),
        analysis=analysis,
        stopped_early=Absent(reason=progress.budget_error.message) if progress.budget_error else None,
        models=llm.models,
        prompts=run.journal.list_prompts(),
        faults=run.journal.list_faults(),
        dropped=run.journal.list_dropped(),
        prompt_tokens=sum(call.prompt_tokens for call in run.journal.calls),
        completion_tokens=sum(call.completion_tokens for call in run.journal.calls),
        cost_usd=sum_costs(run.journal.calls),
        baselines=NO_BASELINE,
        assayer_version=__version__,
        usage=measure_usage(run, started),
    )
    return CompletedRanking(ranking, tuple(progress.comparisons), tuple(refused))


def _choose_round(
    progress: _ComparisonProgress,
    texts: JudgedTexts,
    seeds: Floats | None,
    options: RankingOptions,
    cut: int | None,
    remaining: int,
    reversal_count: int,
) -> tuple[Ints, Ints]:
    """Choose the pairs for the next round. The last part of the budget repeats informative pairs in the opposite
    order."""
    strengths = fit_strengths(_collect_verdicts(progress, texts, options.order_by), seeds)
    round_seed = options.seed + progress.finished
    round_size = min(remaining, max(_MIN_ROUND_SIZE, len(texts.distinct) // 2))
    unanswered = progress.find_unanswered(texts)
    pairs = choose_reversed_pairs(
        strengths, round_size if remaining <= reversal_count else 0, round_seed, cut, unanswered
    )
    if len(pairs[0]):
        return pairs
    count = min(round_size, remaining - reversal_count) if remaining > reversal_count else round_size
    return choose_pairs(strengths, count, round_seed, cut, unanswered)


def _fit_dimensions(
    progress: _ComparisonProgress, texts: JudgedTexts, options: RankingOptions, seeds: Floats | None
) -> dict[str, StrengthPosterior]:
    return {
        dimension.name: fit_strengths(_collect_verdicts(progress, texts, dimension.name), seeds)
        for dimension in options.dimensions
    }


def _select_known(
    known: Sequence[Comparison], rows: Mapping[IdeaId, int], judging: Judging, run: Run, dimension: str
) -> tuple[list[Comparison], Sequence[Comparison]]:
    """Return the comparisons to use, and those that were judged under other conditions, which are recorded as dropped.
    Used is the first comparison of each ordered pair, among those that are between different texts and cover the
    dimension that decides the order."""
    comparable, refused = split_comparisons(known, rows, judging)
    for objection, count in Counter(map(judging.explain_objection, refused)).items():
        run.journal.record_dropped("known comparison", f"judged {objection}", count)
    by_pair = {
        (item.first, item.second): item
        for item in reversed(comparable)
        if rows[item.first] != rows[item.second] and any(verdict.dimension == dimension for verdict in item.verdicts)
    }
    return list(by_pair.values())[::-1], refused


def _check_ideas(ideas: Sequence[Idea], cut: int | None) -> None:
    require_distinct(ideas)
    if len(ideas) < 2:
        raise InputError(f"A ranking needs at least two ideas; number of ideas passed: {len(ideas)}.", "Add ideas.")
    if cut is not None and not 0 < cut < len(ideas):
        raise InputError(
            f"A cut at {cut} leaves nothing to decide among {len(ideas)} ideas.",
            f"Choose a cut from 1 to {len(ideas) - 1}.",
        )


def _check_texts(texts: JudgedTexts, ideas: Sequence[Idea]) -> None:
    if len(texts.distinct) < 2:
        raise InputError(
            f"The judge would be shown the same text for all {len(ideas)} ideas, so there is nothing to compare.",
            "The ideas may differ only in words that are masked, or in text beyond the length that the judge is shown.",
        )


def _compute_seeds(texts: JudgedTexts, scores: Mapping[IdeaId, float] | None) -> Floats | None:
    """Convert scores to prior means in logits. A text without a score starts in the middle; a text shared by several
    ideas starts from the mean of their scores."""
    if not scores:
        return None
    scores_by_row: list[list[float]] = [[] for _ in texts.distinct]
    for idea, row in texts.rows.items():
        if idea in scores:
            scores_by_row[row].append(scores[idea])
    mean_scores = np.array([np.mean(row_scores) if row_scores else np.nan for row_scores in scores_by_row])
    spread = np.nanstd(mean_scores)
    if not spread > 0:
        return None
    standard: Floats = np.nan_to_num((mean_scores - np.nanmean(mean_scores)) / spread)
    return _SEED_TRUST * standard


def _collect_verdicts(progress: _ComparisonProgress, texts: JudgedTexts, dimension: str) -> PairwiseVerdicts:
    rows = texts.rows
    verdict_rows = [
        (rows[comparison.first], rows[comparison.second], _OUTCOMES[verdict.winner])
        for comparison in progress.comparisons
        for verdict in comparison.verdicts
        if verdict.dimension == dimension
    ]
    first, second, won = zip(*verdict_rows, strict=True) if verdict_rows else ((), (), ())
    count = len(texts.distinct)
    return PairwiseVerdicts(count, np.array(first, np.int64), np.array(second, np.int64), np.array(won, np.float64))


async def _compare_pairs(
    ideas: Sequence[Idea],
    pairs: tuple[Ints, Ints],
    llm: Llm,
    run: Run,
    options: RankingOptions,
    progress: _ComparisonProgress,
    budget: int,
    evidence: Mapping[IdeaId, str] | None,
) -> None:
    async def compare_pair(pair: tuple[int, int]) -> Comparison:
        try:
            return await compare_ideas(ideas[pair[0]], ideas[pair[1]], llm, run, options, evidence)
        finally:
            progress.finished += 1
            run.report_progress("comparisons", progress.finished, budget)

    chosen_pairs = list(zip(pairs[0].tolist(), pairs[1].tolist(), strict=True))
    outcomes = await gather_settled(chosen_pairs, compare_pair)
    progress.comparisons += run.keep_successes(outcomes, "comparison")
    failures = {
        pair: outcome.error for pair, outcome in zip(chosen_pairs, outcomes, strict=True) if isinstance(outcome, Failed)
    }
    progress.failed |= failures
    progress.budget_error = next((error for error in failures.values() if isinstance(error, BudgetExhausted)), None)
