"""Plagiarism: whether an idea repeats earlier ideas, or others of the same batch.

An idea is compared viewpoint by viewpoint with its nearest viewpoints of other ideas, which an index finds; ideas
are never compared with each other one by one. A viewpoint is *taken* when one of another idea comes close enough, and
an idea resembles others when enough of its viewpoints are taken: from one other idea (a copy), or from several
together (a recombination). Where too few are that close, the nearer half of its viewpoints may still all lie near one
other idea's: the same statements in other words (a paraphrase). Nearness is a reason to look, not a proof: the pairs
stand side by side for a reader.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from assayer.methods.grapheval.ports import NearestViewpoints, NeighbourIndex
from assayer.models import Frozen, IdeaId
from assayer.ports import Vectors

__all__ = [
    "LIMITS_BY_EMBEDDER",
    "MINILM_LIMITS",
    "NEAREST_VIEWPOINTS",
    "IdeaViewpoints",
    "NearbyViewpoint",
    "PlagiarismLimits",
    "Resemblance",
    "ViewpointPair",
    "resemblance_in_graph",
    "resemblance_to_neighbours",
    "resemblances_within_batch",
]


NEAREST_VIEWPOINTS = 10
"""Neighbours of each viewpoint that are looked at, besides its own idea's."""


class NearbyViewpoint(NamedTuple):
    """A viewpoint of another idea."""

    idea: IdeaId
    text: str
    cosine: float


class IdeaViewpoints(NamedTuple):
    """An idea's viewpoints and their vectors, row by row."""

    idea: IdeaId
    texts: Sequence[str]
    vectors: Vectors


class PlagiarismLimits(Frozen):
    """From which similarity on a resemblance is reported. They hold for one embedding."""

    cosine: float = Field(gt=0, le=1)
    """A viewpoint is taken when one of another idea is this close."""
    share: float = Field(gt=0, le=1)
    """An idea resembles others when this share of its viewpoints is taken."""
    paraphrase: float | None = Field(default=None, gt=0, le=1)
    """An idea is a paraphrase when the nearer half of its viewpoints come this close to one other idea's, on average;
    None: paraphrases are not looked for."""


MINILM_LIMITS = PlagiarismLimits(cosine=0.85, share=0.5, paraphrase=0.76)
"""For `all-MiniLM-L6-v2` and the splitter. `benchmarks/quality/grapheval` fitted 0.83–0.86 and 0.50–0.60 on three
random parts of 89 submissions of ICLR 2017 and ideas plagiarised from them (November 2026,
docs/quality/grapheval.md). Of the viewpoints of that conference 1 in 200 lies this close to one of another paper.
The limit of paraphrases is fitted on abstracts that their authors rewrote; it flags 1 in 200 honest ones."""
LIMITS_BY_EMBEDDER = {"all-MiniLM-L6-v2": MINILM_LIMITS}
"""Nobody knows any for another embedding."""
_FEWEST_REWORDED = 4
"""Viewpoints: of fewer, half is too little to tell a paraphrase from the same subject."""


class ViewpointPair(Frozen):
    """Two viewpoints side by side."""

    text: str
    other_text: str
    other: IdeaId
    cosine: float


class Resemblance(Frozen):
    idea: IdeaId
    kind: Literal["copy", "recombination", "paraphrase"]
    """A copy: one other idea alone holds enough of its viewpoints. A paraphrase: in other words."""
    viewpoints: int
    share: float
    """Of its viewpoints that are taken, from any idea; of a paraphrase those that were compared."""
    closest: IdeaId
    """The idea that holds most of them."""
    closest_share: float
    pairs: tuple[ViewpointPair, ...]
    """One for each taken viewpoint, in the idea's order; with a viewpoint of `closest` where that is close enough."""


def resemblance_to_neighbours(
    idea: IdeaId, texts: Sequence[str], neighbours: Sequence[Sequence[NearbyViewpoint]], limits: PlagiarismLimits
) -> Resemblance | None:
    """`texts` are the idea's viewpoints, `neighbours` what lies near each of them; its own are left out here.

    None when the idea resembles nothing.
    """
    matches: list[list[NearbyViewpoint]] = [
        sorted((one for one in nearby if one.idea != idea and one.cosine >= limits.cosine), key=lambda one: -one.cosine)
        for nearby in neighbours
    ]
    share = sum(map(bool, matches)) / len(texts) if texts else 0.0
    if share < limits.share:
        return _paraphrase(idea, texts, neighbours, limits)
    places_by_idea: dict[IdeaId, set[int]] = defaultdict(set)
    for place, nearby in enumerate(matches):
        for one in nearby:
            places_by_idea[one.idea].add(place)
    closest = max(places_by_idea, key=lambda other: (len(places_by_idea[other]), _nearness(other, matches), other))
    closest_share = len(places_by_idea[closest]) / len(texts)
    pairs = []
    for text, nearby in zip(texts, matches, strict=True):
        if nearby:
            best = next((one for one in nearby if one.idea == closest), nearby[0])
            pairs.append(ViewpointPair(text=text, other_text=best.text, other=best.idea, cosine=min(best.cosine, 1.0)))
    return Resemblance(
        idea=idea,
        kind="copy" if closest_share >= limits.share else "recombination",
        viewpoints=len(texts),
        share=share,
        closest=closest,
        closest_share=closest_share,
        pairs=tuple(pairs),
    )


def _paraphrase(
    idea: IdeaId, texts: Sequence[str], neighbours: Sequence[Sequence[NearbyViewpoint]], limits: PlagiarismLimits
) -> Resemblance | None:
    if limits.paraphrase is None or len(texts) < _FEWEST_REWORDED:
        return None
    nearest: dict[IdeaId, dict[int, NearbyViewpoint]] = defaultdict(dict)
    for place, nearby in enumerate(neighbours):
        for one in nearby:
            known = nearest[one.idea].get(place)
            if one.idea != idea and (known is None or one.cosine > known.cosine):
                nearest[one.idea][place] = one
    half = len(texts) // 2
    halves = {
        other: sorted(places.items(), key=lambda entry: -entry[1].cosine)[:half]
        for other, places in nearest.items()
        if len(places) >= half
    }
    likeness = {other: sum(one.cosine for _, one in some) / half for other, some in halves.items()}
    closest = max(likeness, key=lambda other: (likeness[other], other), default=None)
    if closest is None or likeness[closest] < limits.paraphrase:
        return None
    share = half / len(texts)
    pairs = (
        ViewpointPair(text=texts[place], other_text=one.text, other=closest, cosine=min(one.cosine, 1.0))
        for place, one in sorted(halves[closest], key=lambda entry: entry[0])
    )
    return Resemblance(
        idea=idea,
        kind="paraphrase",
        viewpoints=len(texts),
        share=share,
        closest=closest,
        closest_share=share,
        pairs=tuple(pairs),
    )


def _nearness(other: IdeaId, matches: Sequence[Sequence[NearbyViewpoint]]) -> float:
    return sum(one.cosine for nearby in matches for one in nearby if one.idea == other)


def resemblance_in_graph(
    idea_viewpoints: IdeaViewpoints,
    index: NeighbourIndex,
    owners: Sequence[IdeaId],
    texts: Sequence[str],
    limits: PlagiarismLimits,
    allowed: NDArray[np.bool_] | None = None,
) -> Resemblance | None:
    """One idea against a graph. `owners` and `texts` tell what each row of the index is; `allowed` (rows,) leaves
    only some rows to be found, such as those of earlier ideas."""
    found = index.nearest(idea_viewpoints.vectors, NEAREST_VIEWPOINTS + len(idea_viewpoints.texts), allowed)
    return resemblance_to_neighbours(
        idea_viewpoints.idea, idea_viewpoints.texts, _nearby_viewpoints(found, owners, texts), limits
    )


def resemblances_within_batch(
    batch: Sequence[IdeaViewpoints], index: NeighbourIndex, limits: PlagiarismLimits
) -> list[Resemblance]:
    """What each idea of a batch has in common with the others of it; `index` is empty and is filled with the batch."""
    owners = [one.idea for one in batch for _ in one.texts]
    texts = [text for one in batch for text in one.texts]
    for one in batch:
        index.add(one.vectors)
    found = (resemblance_in_graph(one, index, owners, texts, limits) for one in batch)
    return [one for one in found if one is not None]


def _nearby_viewpoints(
    found: NearestViewpoints, owners: Sequence[IdeaId], texts: Sequence[str]
) -> list[list[NearbyViewpoint]]:
    return [
        [
            NearbyViewpoint(owners[row], texts[row], float(cosine))
            for row, cosine in zip(rows, cosines, strict=True)
            if row >= 0
        ]
        for rows, cosines in zip(found.rows.tolist(), found.cosines, strict=True)
    ]
