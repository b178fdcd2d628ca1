"""Whether an idea repeats what others said before, or what stands beside it in the same batch.

An idea is compared viewpoint by viewpoint with its nearest viewpoints of other ideas, which an index finds; ideas
are never compared with each other one by one. A viewpoint is *taken* when one of another idea comes close enough, and
an idea resembles others when enough of its viewpoints are taken: from one other idea (a copy), or from several
together (a recombination). Nearness is a reason to look, not a proof: the pairs stand side by side for a reader.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from assayer.errors import InputError
from assayer.methods.grapheval.measures import detection
from assayer.methods.grapheval.ports import Found, Neighbours
from assayer.models import Frozen, IdeaId
from assayer.ports import Vectors

__all__ = [
    "MINILM_LIMITS",
    "NEAREST",
    "Limits",
    "Neighbour",
    "Pair",
    "Resemblance",
    "Said",
    "fit_limits",
    "resemblance",
    "resemblances_within",
    "resembling",
]

NEAREST = 10
"""Neighbours of each viewpoint that are looked at, besides its own idea's."""


class Neighbour(NamedTuple):
    """A viewpoint of another idea."""

    idea: IdeaId
    text: str
    cosine: float


class Said(NamedTuple):
    """An idea's viewpoints and their vectors, row by row."""

    idea: IdeaId
    texts: Sequence[str]
    vectors: Vectors


class Limits(Frozen):
    """From where on nearness is no accident. They hold for one embedding."""

    cosine: float = Field(gt=0, le=1)
    """A viewpoint is taken when one of another idea is this close."""
    share: float = Field(gt=0, le=1)
    """An idea resembles others when this share of its viewpoints is taken."""


MINILM_LIMITS = Limits(cosine=0.85, share=0.5)
"""For `all-MiniLM-L6-v2` and the splitter. `fit_limits` gave 0.83–0.86 and 0.50–0.60 on three random parts of 89
submissions of ICLR 2017 and ideas plagiarised from them (November 2026, docs/quality/grapheval.md). Of the viewpoints
of that conference 1 in 200 lies this close to one of another paper."""


class Pair(Frozen):
    """Two viewpoints side by side."""

    text: str
    other_text: str
    other: IdeaId
    cosine: float


class Resemblance(Frozen):
    idea: IdeaId
    kind: Literal["copy", "recombination"]
    """A copy: one other idea alone holds enough of its viewpoints."""
    viewpoints: int
    share: float
    """Of its viewpoints that are taken, from whomever."""
    closest: IdeaId
    """The idea that holds most of them."""
    closest_share: float
    pairs: tuple[Pair, ...]
    """One for each taken viewpoint, in the idea's order; with a viewpoint of `closest` where that is close enough."""


def resemblance(
    idea: IdeaId, texts: Sequence[str], neighbours: Sequence[Sequence[Neighbour]], limits: Limits
) -> Resemblance | None:
    """`texts` are the idea's viewpoints, `neighbours` what lies near each of them; its own are left out here.

    None when the idea resembles nothing.
    """
    taken: list[list[Neighbour]] = [
        sorted((one for one in near if one.idea != idea and one.cosine >= limits.cosine), key=lambda one: -one.cosine)
        for near in neighbours
    ]
    share = sum(map(bool, taken)) / len(texts) if texts else 0.0
    if share < limits.share:
        return None
    held: dict[IdeaId, set[int]] = defaultdict(set)
    for place, near in enumerate(taken):
        for one in near:
            held[one.idea].add(place)
    closest = max(held, key=lambda other: (len(held[other]), _nearness(other, taken), other))
    closest_share = len(held[closest]) / len(texts)
    pairs = []
    for text, near in zip(texts, taken, strict=True):
        if near:
            best = next((one for one in near if one.idea == closest), near[0])
            pairs.append(Pair(text=text, other_text=best.text, other=best.idea, cosine=min(best.cosine, 1.0)))
    return Resemblance(
        idea=idea,
        kind="copy" if closest_share >= limits.share else "recombination",
        viewpoints=len(texts),
        share=share,
        closest=closest,
        closest_share=closest_share,
        pairs=tuple(pairs),
    )


def _nearness(other: IdeaId, taken: Sequence[Sequence[Neighbour]]) -> float:
    return sum(one.cosine for near in taken for one in near if one.idea == other)


def resembling(
    said: Said,
    index: Neighbours,
    owners: Sequence[IdeaId],
    texts: Sequence[str],
    limits: Limits,
    allowed: NDArray[np.bool_] | None = None,
) -> Resemblance | None:
    """One idea against a graph. `owners` and `texts` tell what each row of the index is; `allowed` (rows,) leaves
    only some rows to be found, such as those of earlier ideas."""
    found = index.nearest(said.vectors, NEAREST + len(said.texts), allowed)
    return resemblance(said.idea, said.texts, _named(found, owners, texts), limits)


def resemblances_within(batch: Sequence[Said], index: Neighbours, limits: Limits) -> list[Resemblance]:
    """What each idea of a batch has in common with the others of it; `index` is empty and is filled with the batch."""
    owners = [one.idea for one in batch for _ in one.texts]
    texts = [text for one in batch for text in one.texts]
    for one in batch:
        index.add(one.vectors)
    found = (resembling(one, index, owners, texts, limits) for one in batch)
    return [one for one in found if one is not None]


def _named(found: Found, owners: Sequence[IdeaId], texts: Sequence[str]) -> list[list[Neighbour]]:
    return [
        [
            Neighbour(owners[row], texts[row], float(cosine))
            for row, cosine in zip(rows, cosines, strict=True)
            if row >= 0
        ]
        for rows, cosines in zip(found.rows.tolist(), found.cosines, strict=True)
    ]


def fit_limits(
    honest: Sequence[NDArray[np.float32]], plagiarised: Sequence[NDArray[np.float32]], false_alarms: float = 0.01
) -> Limits:
    """From cases whose truth is known; each is the cosine of every viewpoint with the nearest of another idea.

    Of the pairs of limits that flag at most `false_alarms` of the honest cases the one with the best F1, and of
    equals the middle one, farthest from either side. Raises InputError without cases of both sorts.
    """
    if not honest or not plagiarised:
        raise InputError("Limits of plagiarism are fitted on honest and plagiarised ideas: one of the two is missing.")
    truth = np.arange(len(honest) + len(plagiarised)) >= len(honest)
    best: list[tuple[float, float]] = []
    highest = -1.0
    for cosine in np.round(np.arange(0.60, 0.991, 0.01), 2):
        shares = np.array([(case >= cosine).mean() for case in (*honest, *plagiarised)])
        for share in np.round(np.arange(0.1, 1.001, 0.05), 2):
            flagged = shares >= share
            if flagged[~truth].mean() > false_alarms:
                continue
            f1 = detection(flagged, truth).f1
            if f1 > highest:
                highest, best = f1, []
            if f1 == highest:
                best.append((float(cosine), float(share)))
    if not best:
        raise InputError(
            "Too many of the honest ideas repeat each other for any limit to be fitted.",
            "Take the duplicates out first.",
        )
    centre = np.mean(best, axis=0)
    cosine, share = min(best, key=lambda pair: float(((np.array(pair) - centre) ** 2).sum()))
    return Limits(cosine=cosine, share=share)
