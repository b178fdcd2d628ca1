"""What a walk along citations tells of a submission without a language model: how near and how dense its subject is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.scicompanion.walk import Found, WalkOptions, walk
from assayer.models import Window
from assayer.ports import Literature
from benchmarks.quality.venue_scores.submissions import RatedSubmission

__all__ = ["RETRIEVAL", "retrieval_features"]

RETRIEVAL = "retrieval features, ridge"
_NEAREST = 10


async def retrieval_features(
    submissions: Sequence[RatedSubmission], literature: Literature, options: WalkOptions
) -> NDArray[np.float64]:
    """(n, 7), of papers published before the submission's year: how many were found, cosines of the nearest and of ten,
    score of the tenth, years since the nearest ten and their spread, how many were reached along citations. Raises
    LiteratureError."""
    rows = []
    for one in submissions:
        found = await walk([one.text], literature, Window.until(one.known_until), options)
        nearest = await literature.similarity(one.text, [paper.paper.id for paper in found[:_NEAREST]])
        rows.append(_row(found, sorted(nearest.values(), reverse=True), one.year))
    return np.array(rows, np.float64)


def _row(found: Sequence[Found], cosines: Sequence[float], year: int) -> list[float]:
    if not found:
        return [0.0] * 7
    ages = [year - one.paper.publication_date.year for one in found[:_NEAREST] if one.paper.publication_date]
    reached = sum(all(step.from_paper is not None for step in one.why) for one in found)
    return [
        float(len(found)),
        max(cosines, default=0.0),
        float(np.mean(cosines)) if cosines else 0.0,
        found[:_NEAREST][-1].score,
        float(np.mean(ages)) if ages else 0.0,
        float(np.std(ages)) if ages else 0.0,
        reached / len(found),
    ]
