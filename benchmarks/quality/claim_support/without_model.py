"""Who needs no language model: the program's own measure of overlap, its two halves alone, and always `supports`."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from assayer.claim_support.overlap import PARTLY_FROM, Closeness, closeness, outcome_of, said_here
from assayer.models.assessment import SupportOutcome
from assayer.ports import Vectors
from benchmarks.quality.claim_support.items import KnownClaim
from benchmarks.quality.claim_support.measures import macro_f1_of_support
from benchmarks.quality.grapheval.graphs import Vectoriser

__all__ = ["Fitted", "closenesses", "contestants", "fitted", "refit"]

_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
_THRESHOLDS = np.arange(0.2, 0.9, 0.01)
_FITTED_ON = ("scifact", "citation_integrity")


class Fitted(NamedTuple):
    """The threshold with the best mean F1 over the sets that it was fitted on."""

    weight: float
    """Of the cosine."""
    supported_from: float
    value: float


class _KnownVectors:
    """Embeddings that were made before."""

    def __init__(self, vectorise: Vectoriser) -> None:
        self._vectorise = vectorise

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        return self._vectorise(texts)


def closenesses(claims: Sequence[KnownClaim], vectorise: Vectoriser) -> list[Closeness]:
    said, passages = [said_here(one.claim) for one in claims], [one.passage for one in claims]
    vectorise([*said, *passages])
    return asyncio.run(closeness(said, passages, _KnownVectors(vectorise)))  # type: ignore[arg-type]


def fitted(
    sets: Mapping[str, Sequence[KnownClaim]], measured: Mapping[str, Sequence[Closeness]], weights: Sequence[float]
) -> Fitted:
    """On the tuning parts alone; every set weighs the same."""
    best = Fitted(0.0, 0.0, -1.0)
    for weight in weights:
        for threshold in _THRESHOLDS:
            found = []
            for name in (name for name in _FITTED_ON if name in sets):
                pairs = zip(sets[name], measured[name], strict=True)
                tuning = [(claim, one.weighed(weight)) for claim, one in pairs if claim.tuning]
                found.append(
                    macro_f1_of_support([claim for claim, _ in tuning], [value >= threshold for _, value in tuning])
                )
            if found and float(np.mean(found)) > best.value:
                best = Fitted(weight, round(float(threshold), 2), float(np.mean(found)))
    return best


def contestants(
    sets: Mapping[str, Sequence[KnownClaim]], measured: Mapping[str, Sequence[Closeness]]
) -> dict[str, Mapping[str, Sequence[SupportOutcome | None]]]:
    """What each says of every claim, by set."""
    words, nearness = fitted(sets, measured, (0.0,)), fitted(sets, measured, (1.0,))

    def by(weight: float, threshold: float) -> Mapping[str, Sequence[SupportOutcome]]:
        return {
            name: ["supports" if one.weighed(weight) >= threshold else "not" for one in found]
            for name, found in measured.items()
        }

    return {
        "always supports": {name: ["supports"] * len(found) for name, found in measured.items()},
        f"shared words alone (from {words.supported_from})": by(0.0, words.supported_from),
        f"embeddings alone (from {nearness.supported_from})": by(1.0, nearness.supported_from),
        "the program without a model": {
            name: [outcome_of(one.weighed()) for one in found] for name, found in measured.items()
        },
    }


def refit(sets: Mapping[str, Sequence[KnownClaim]], measured: Mapping[str, Sequence[Closeness]]) -> str:
    best = fitted(sets, measured, _WEIGHTS)
    return (
        f"Fitted anew: weight of the cosine {best.weight}, supported from {best.supported_from} "
        f"(mean F1 {best.value:.3f} on the tuning parts); partly from {PARTLY_FROM} as in the program."
    )
