"""Detect plagiarism: whether an idea repeats earlier ideas, or other ideas in the same batch.

Each of an idea's viewpoints is compared with the nearest viewpoints in other ideas, which an index finds; ideas are
never compared one by one. A viewpoint counts as *taken* if a viewpoint in another idea is close enough. An idea
resembles others if enough of its viewpoints are taken: from one other idea (a copy), or from several together (a
recombination). If too few are that close, the nearer half of its viewpoints may still be near the viewpoints of one
other idea: the same statements in other words (a paraphrase). Nearness alone proves nothing, so a reader sees the pairs
side by side."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from assayer.methods.grapheval.ports import NearestViewpoints, NeighbourIndex
from assayer.models import Frozen, IdeaId
from assayer.ports import Vectors

NEAREST_VIEWPOINTS = 10
"""Number of neighbours examined per viewpoint, not counting those in the same idea."""


class NearbyViewpoint(NamedTuple):
    """A viewpoint in another idea that is near a viewpoint of the idea being examined."""

    idea: IdeaId
    text: str
    cosine: float


class IdeaViewpoints(NamedTuple):
    """An idea's viewpoints and their vectors, in the same order."""

    idea: IdeaId
    texts: Sequence[str]
    vectors: Vectors


class PlagiarismLimits(Frozen):
    """Similarity thresholds at which a resemblance is reported; valid for one embedding model only."""

    cosine: float = Field(gt=0, le=1)
    """Minimum cosine similarity to a viewpoint in another idea at which a viewpoint counts as taken."""
    share: float = Field(gt=0, le=1)
    """Minimum share of taken viewpoints at which an idea counts as resembling others."""
    paraphrase: float | None = Field(default=None, gt=0, le=1)
    """Minimum mean cosine similarity for a paraphrase, over the nearer half of an idea's viewpoints and their nearest
    viewpoints in another idea. None disables the search for paraphrases."""


MINILM_LIMITS = PlagiarismLimits(cosine=0.85, share=0.5, paraphrase=0.76)
"""Limits for `all-MiniLM-L6-v2` and the splitter.

`benchmarks/quality/grapheval/plagiarism_limits.py` at commit ec3f1495 fitted cosines of 0.83–0.86 and shares of
0.50–0.60 on three random parts of 89 submissions to ICLR 2017 and ideas plagiarised from them (November 2026,
docs/evidence/grapheval.md). Of that conference's viewpoints, 1 in 200 is this close to a viewpoint in another paper.
The paraphrase limit was fitted on abstracts rewritten by their authors; it flags 1 in 200 honest abstracts."""
LIMITS_BY_EMBEDDER = {"all-MiniLM-L6-v2": MINILM_LIMITS}
"""Limits, keyed by embedding model. None are known for other models."""
_MIN_FOR_PARAPHRASE = 4
"""Minimum number of viewpoints for detecting a paraphrase. With fewer, half of them cannot tell a paraphrase from
another text on the same subject."""


class ViewpointPair(Frozen):
    """Viewpoint of the idea, and a viewpoint of another idea that may repeat it."""

    text: str
    other_text: str
    other: IdeaId
    cosine: float


class Resemblance(Frozen):
    idea: IdeaId
    kind: Literal["copy", "recombination", "paraphrase"]
    """Kind of resemblance:
    - `copy`: one other idea contains enough of the viewpoints.
    - `recombination`: the viewpoints are taken from several ideas.
    - `paraphrase`: another idea makes the same statements in other words."""
    viewpoints: int
    share: float
    """Share of the idea's viewpoints that are taken from any other idea; for a paraphrase, the share that was
    compared."""
    closest: IdeaId
    """The idea that contains most of the taken viewpoints."""
    closest_share: float
    pairs: tuple[ViewpointPair, ...]
    """One pair per taken viewpoint, in the idea's order. The other viewpoint comes from `closest` if `closest` has one
    that is close enough; otherwise it is the nearest one."""


def find_resemblance_to_neighbours(
    idea: IdeaId, texts: Sequence[str], neighbours: Sequence[Sequence[NearbyViewpoint]], limits: PlagiarismLimits
) -> Resemblance | None:
    """Return the idea's resemblance to another idea, or None. `texts` are the idea's viewpoints, and `neighbours` the
    viewpoints near each of them; the idea's own viewpoints among them are ignored."""
    matches: list[list[NearbyViewpoint]] = [
        sorted(
            (item for item in nearby if item.idea != idea and item.cosine >= limits.cosine),
            key=lambda item: -item.cosine,
        )
        for nearby in neighbours
    ]
    share = sum(map(bool, matches)) / len(texts) if texts else 0.0
    if share < limits.share:
        return _find_paraphrase(idea, texts, neighbours, limits)
    places_by_idea: dict[IdeaId, set[int]] = defaultdict(set)
    for index, nearby in enumerate(matches):
        for item in nearby:
            places_by_idea[item.idea].add(index)
    closest = max(
        places_by_idea,
        key=lambda other_idea: (len(places_by_idea[other_idea]), _measure_nearness(other_idea, matches), other_idea),
    )
    closest_share = len(places_by_idea[closest]) / len(texts)
    pairs = []
    for text, nearby in zip(texts, matches, strict=True):
        if nearby:
            best = next((item for item in nearby if item.idea == closest), nearby[0])
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


def _find_paraphrase(
    idea: IdeaId, texts: Sequence[str], neighbours: Sequence[Sequence[NearbyViewpoint]], limits: PlagiarismLimits
) -> Resemblance | None:
    if limits.paraphrase is None or len(texts) < _MIN_FOR_PARAPHRASE:
        return None
    nearest_by_idea: dict[IdeaId, dict[int, NearbyViewpoint]] = defaultdict(dict)
    for index, nearby in enumerate(neighbours):
        for item in nearby:
            best_so_far = nearest_by_idea[item.idea].get(index)
            if item.idea != idea and (best_so_far is None or item.cosine > best_so_far.cosine):
                nearest_by_idea[item.idea][index] = item
    half_count = len(texts) // 2
    halves = {
        other_idea: sorted(places.items(), key=lambda entry: -entry[1].cosine)[:half_count]
        for other_idea, places in nearest_by_idea.items()
        if len(places) >= half_count
    }
    mean_cosines = {
        other_idea: sum(item.cosine for _, item in nearer) / half_count for other_idea, nearer in halves.items()
    }
    closest = max(mean_cosines, key=lambda other_idea: (mean_cosines[other_idea], other_idea), default=None)
    if closest is None or mean_cosines[closest] < limits.paraphrase:
        return None
    share = half_count / len(texts)
    pairs = (
        ViewpointPair(text=texts[index], other_text=item.text, other=closest, cosine=min(item.cosine, 1.0))
        for index, item in sorted(halves[closest], key=lambda entry: entry[0])
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


def _measure_nearness(other_idea: IdeaId, matches: Sequence[Sequence[NearbyViewpoint]]) -> float:
    return sum(item.cosine for nearby in matches for item in nearby if item.idea == other_idea)


def find_resemblance_in_graph(
    idea_viewpoints: IdeaViewpoints,
    index: NeighbourIndex,
    owners: Sequence[IdeaId],
    texts: Sequence[str],
    limits: PlagiarismLimits,
    allowed: NDArray[np.bool_] | None = None,
) -> Resemblance | None:
    """Return an idea's resemblance to the ideas in a graph, or None. `owners` and `texts` describe each row in the
    index; `allowed`, shape (rows,), restricts the search to some rows, such as those of earlier ideas."""
    neighbours = index.find_nearest(idea_viewpoints.vectors, NEAREST_VIEWPOINTS + len(idea_viewpoints.texts), allowed)
    return find_resemblance_to_neighbours(
        idea_viewpoints.idea, idea_viewpoints.texts, _collect_nearby_viewpoints(neighbours, owners, texts), limits
    )


def find_resemblances_within_batch(
    batch: Sequence[IdeaViewpoints], index: NeighbourIndex, limits: PlagiarismLimits
) -> list[Resemblance]:
    """Return the resemblances between the ideas in a batch. `index` must be empty; it is filled with the batch."""
    owners = [item.idea for item in batch for _ in item.texts]
    texts = [text for item in batch for text in item.texts]
    for item in batch:
        index.add(item.vectors)
    resemblances = (find_resemblance_in_graph(item, index, owners, texts, limits) for item in batch)
    return [item for item in resemblances if item is not None]


def _collect_nearby_viewpoints(
    neighbours: NearestViewpoints, owners: Sequence[IdeaId], texts: Sequence[str]
) -> list[list[NearbyViewpoint]]:
    return [
        [
            NearbyViewpoint(owners[row], texts[row], float(cosine))
            for row, cosine in zip(rows, cosines, strict=True)
            if row >= 0
        ]
        for rows, cosines in zip(neighbours.rows.tolist(), neighbours.cosines, strict=True)
    ]
