"""From ideas to their order: rounds of comparisons, each chosen by what the ones before left open."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assayer import __version__, account
from assayer.errors import BudgetExhausted, InputError
from assayer.flow import Failed, each
from assayer.models import Idea, IdeaId
from assayer.models.base import Absent
from assayer.models.ranking import Comparison, Ranking, RankingId
from assayer.ports import Llm
from assayer.ranking.comparing import compare, unread_of
from assayer.ranking.options import Options
from assayer.ranking.pairing import next_pairs, other_way_round
from assayer.ranking.standings import judge_of, standings
from assayer.ranking.strengths import fit
from assayer.ranking.triage import NO_BASELINE
from assayer.ranking.verdicts import Floats, Ints, Verdicts
from assayer.run import Run

__all__ = ["Ranked", "rank"]

_WON = {"first": 1.0, "second": 0.0, "tie": 0.5}
_LEAST_ROUND = 8
_SEED_TRUST = 0.6
"""Correlation that we grant point scores with the truth: prior means are this many usual widths per standard score."""


@dataclass(frozen=True)
class Ranked:
    ranking: Ranking
    comparisons: tuple[Comparison, ...]
    """All that it rests on, to be handed in again when ideas are added."""


@dataclass
class _Asked:
    """Comparisons so far, and how many pairs got no answer."""

    comparisons: list[Comparison]
    handed_in: int
    ended: int
    """Answered or not, those handed in included."""
    failed: int = 0
    spent: BudgetExhausted | None = None


async def rank(
    ideas: Sequence[Idea],
    llm: Llm,
    run: Run,
    options: Options,
    cut: int | None = None,
    scores: Mapping[IdeaId, float] | None = None,
    known: Sequence[Comparison] = (),
) -> Ranked:
    """Asks at most `options.calls_per_idea` comparisons an idea, the known ones included, and each pair at most once
    in each order.

    Point scores, where there are any, are the start from which comparisons move the ideas. Raises InputError for ideas
    that cannot be ranked, RunCancelled, LlmRejected and LlmUnavailable; a spent budget ends only the asking.
    """
    started_at, started = run.clock.now(), run.clock.monotonic()
    rows = _rows(ideas, cut)
    seeds = _seeds(ideas, scores)
    usable = {(one.first, one.second): one for one in reversed(known) if _usable(one, rows, options.order_by)}
    asked = _Asked(list(usable.values())[::-1], handed_in=len(usable), ended=len(usable))
    budget = min(round(options.calls_per_idea * len(ideas)), len(ideas) * (len(ideas) - 1))
    reversals = round(options.both_ways * budget)
    while (left := budget - asked.ended) > 0 and asked.spent is None:
        # In a thread: thousands of ideas take seconds, in which others of this process would stand still.
        pairs = await asyncio.to_thread(_choose, asked, rows, seeds, options, cut, left, reversals)
        if not len(pairs[0]):
            break
        await _round(ideas, pairs, llm, run, options, asked, budget)
    by_dimension = await asyncio.to_thread(
        lambda: {one.name: fit(_verdicts(asked, rows, one.name), seeds) for one in options.dimensions}
    )
    ranking = Ranking(
        id=RankingId(run.id),
        dimension=options.order_by,
        dimensions=options.dimensions,
        cut=cut,
        confidence=options.confidence,
        ideas=await asyncio.to_thread(standings, ideas, by_dimension, options, cut),
        judge=judge_of(by_dimension[options.order_by], asked.handed_in, asked.failed, options.confidence),
        seeded=seeds is not None,
        unread=unread_of(ideas, options),
        stopped=Absent(reason=asked.spent.message) if asked.spent else None,
        models=llm.models,
        prompts=run.journal.prompts(),
        faults=run.journal.faults(),
        dropped=run.journal.dropped(),
        prompt_tokens=sum(call.prompt_tokens for call in run.journal.calls),
        completion_tokens=sum(call.completion_tokens for call in run.journal.calls),
        cost_usd=account.cost(run.journal.calls),
        baselines=NO_BASELINE,
        assayer_version=__version__,
        usage=account.usage(run, started_at, started),
    )
    return Ranked(ranking, tuple(asked.comparisons))


def _choose(
    asked: _Asked,
    rows: Mapping[IdeaId, int],
    seeds: Floats | None,
    options: Options,
    cut: int | None,
    left: int,
    reversals: int,
) -> tuple[Ints, Ints]:
    """The pairs of the next round, of the calls that are left; the last calls ask telling pairs the other way round."""
    strengths = fit(_verdicts(asked, rows, options.order_by), seeds)
    salt = options.seed + asked.ended
    size = min(left, max(_LEAST_ROUND, len(rows) // 2))
    pairs = other_way_round(strengths, size if left <= reversals else 0, salt, cut)
    if len(pairs[0]):
        return pairs
    return next_pairs(strengths, min(size, left - reversals) if left > reversals else size, salt, cut)


def _usable(known: Comparison, rows: Mapping[IdeaId, int], dimension: str) -> bool:
    """Of two of these ideas, and in the dimension that orders them."""
    judged = any(one.dimension == dimension for one in known.verdicts)
    return judged and known.first in rows and known.second in rows and known.first != known.second


def _rows(ideas: Sequence[Idea], cut: int | None) -> dict[IdeaId, int]:
    counts = Counter(idea.id for idea in ideas)
    twice = [idea.source for idea in ideas if counts[idea.id] > 1]
    if twice:
        raise InputError(f"The same idea was given more than once: {', '.join(twice)}.", "Give every idea once.")
    if len(ideas) < 2:
        raise InputError(f"A ranking needs at least two ideas, and {len(ideas)} was given.", "Give more of them.")
    if cut is not None and not 0 < cut < len(ideas):
        raise InputError(f"A cut at {cut} leaves nothing to decide among {len(ideas)} ideas.", "Choose one between.")
    return {idea.id: row for row, idea in enumerate(ideas)}


def _seeds(ideas: Sequence[Idea], scores: Mapping[IdeaId, float] | None) -> Floats | None:
    """Prior means in logits; an idea without a score starts in the middle."""
    if not scores:
        return None
    given = np.array([scores.get(idea.id, np.nan) for idea in ideas])
    spread = np.nanstd(given)
    if not spread > 0:
        return None
    standard: Floats = np.nan_to_num((given - np.nanmean(given)) / spread)
    return _SEED_TRUST * standard


def _verdicts(asked: _Asked, rows: Mapping[IdeaId, int], dimension: str) -> Verdicts:
    found = [
        (rows[one.first], rows[one.second], _WON[verdict.winner])
        for one in asked.comparisons
        for verdict in one.verdicts
        if verdict.dimension == dimension
    ]
    first, second, won = zip(*found, strict=True) if found else ((), (), ())
    return Verdicts(len(rows), np.array(first, np.int64), np.array(second, np.int64), np.array(won, np.float64))


async def _round(
    ideas: Sequence[Idea],
    pairs: tuple[Ints, Ints],
    llm: Llm,
    run: Run,
    options: Options,
    asked: _Asked,
    budget: int,
) -> None:
    async def one(pair: tuple[int, int]) -> Comparison:
        try:
            return await compare(ideas[pair[0]], ideas[pair[1]], llm, run, options)
        finally:
            asked.ended += 1
            run.tell("comparisons", asked.ended, budget)

    outcomes = await each(list(zip(pairs[0].tolist(), pairs[1].tolist(), strict=True)), one)
    asked.comparisons += run.keep(outcomes, "comparison")
    failures = [one.error for one in outcomes if isinstance(one, Failed)]
    asked.failed += len(failures)
    asked.spent = next((error for error in failures if isinstance(error, BudgetExhausted)), None)
