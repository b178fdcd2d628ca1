"""Compute ranks, intervals and bands from posterior strengths."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from scipy.special import ndtri

from assayer.models import Absent, Idea
from assayer.models.sender_references import reference_in
from assayer.ranking.bradley_terry import StrengthPosterior
from assayer.ranking.judged_texts import JudgedTexts
from assayer.ranking.moved_cut import choose_band
from assayer.ranking.options import RankingOptions
from assayer.ranking.verdicts import measure_judge_consistency
from assayer_client.rankings import Interval, Judge, RankedIdea

_SAMPLES = 1_000
_TIE_NOISE = 1e-9
"""Standard deviation, in logits, of the noise that orders ideas with the same text. It is far below any real
difference."""


def compute_standings(
    ideas: Sequence[Idea],
    texts: JudgedTexts,
    by_dimension: Mapping[str, StrengthPosterior],
    options: RankingOptions,
    cut: int | None,
    unjudged: Mapping[int, Absent] = MappingProxyType({}),
) -> tuple[RankedIdea, ...]:
    """Return the ranked ideas, best first. Ranks, intervals and chances come from joint draws of the strengths in the
    deciding dimension.

    Strengths belong to texts, so each draw puts ideas with the same text in a new random order. `unjudged` says, keyed
    by row, why no comparison of a text succeeded."""
    deciding_posterior, alike = by_dimension[options.order_by], texts.find_same_texts()
    idea_rows = np.array([texts.rows[idea.id] for idea in ideas], np.int64)
    drawn_strengths = deciding_posterior.sample(_SAMPLES, options.seed)[:, idea_rows]
    drawn_strengths -= drawn_strengths.mean(axis=1, keepdims=True)
    ordered = drawn_strengths
    if len(texts.distinct) < len(ideas):
        ordered = drawn_strengths + _TIE_NOISE * np.random.default_rng(options.seed).standard_normal(
            drawn_strengths.shape
        )
    ranks = np.argsort(np.argsort(-ordered, axis=1, kind="stable"), axis=1) + 1
    tails = [(1 - options.confidence) / 2, (1 + options.confidence) / 2]
    strength_low, strength_high = np.quantile(drawn_strengths, tails, axis=0)
    rank_low, rank_high = np.quantile(ranks, tails, axis=0, method="nearest")
    chance = None if cut is None else (ranks <= cut).mean(axis=0)
    centred = {name: item.mean[idea_rows] - item.mean[idea_rows].mean() for name, item in by_dimension.items()}
    mean, counts = centred[options.order_by], deciding_posterior.verdicts.counts[idea_rows]
    order = np.lexsort(([idea.id for idea in ideas], -mean))
    return tuple(
        RankedIdea(
            id=ideas[row].id,
            title=ideas[row].title,
            source=ideas[row].source,
            reference=reference_in(ideas[row].source),
            rank=rank,
            ranks=Interval(low=float(rank_low[row]), high=float(rank_high[row])),
            strength=float(mean[row]),
            strengths=Interval(low=float(strength_low[row]), high=float(strength_high[row])),
            dimension_strengths={name: float(values[row]) for name, values in centred.items()},
            comparisons=int(counts[row]),
            shortlist_probability=None if chance is None else float(chance[row]),
            band=None if chance is None else choose_band(float(chance[row]), options.confidence),
            baseline_predictions={},
            same_text_as=alike[ideas[row].id],
            flags=ideas[row].flags,
            blinding=ideas[row].blinding,
            unjudged=unjudged.get(texts.rows[ideas[row].id]),
        )
        for rank, row in enumerate(order.tolist(), start=1)
    )


def summarise_judge(
    strengths: StrengthPosterior, confidence: float, submitted: int, of_unknown_judge: int, failed: int
) -> Judge:
    """Summarise the judge's record over all comparisons, including submitted ones."""
    verdicts = strengths.verdicts
    half_width = float(ndtri((1 + confidence) / 2)) * strengths.bias_error
    return Judge(
        comparisons=len(verdicts),
        submitted_comparisons=submitted,
        comparisons_of_unknown_judge=of_unknown_judge,
        failed=failed,
        ties=int(np.sum(verdicts.won == 0.5)),
        bias=strengths.bias,
        bias_interval=Interval(low=strengths.bias - half_width, high=strengths.bias + half_width),
        **measure_judge_consistency(verdicts)._asdict(),
    )
