"""How the papers of all shards together fit the whole."""

from collections.abc import Sequence

from assayer.ports import Embedder, Vectors
from index.building.calibration import measure_fit
from index.building.writing import Embedding, silent
from index.filters import EVERYTHING
from index.fit import FitCalibration
from index.searching.reader import Reader
from index.segments.dense import Nearest
from index.shards.merging import key_of, merged_nearest

__all__ = ["measure_fit_over"]


async def measure_fit_over(
    readers: Sequence[Reader], embedder: Embedder, before: FitCalibration | None
) -> FitCalibration | None:
    """As `measure_fit`, of readers of one shard each."""

    def search(asked: Vectors, limit: int) -> list[Nearest]:
        each = [reader.nearest(asked, limit, EVERYTHING) for reader in readers]
        return [merged_nearest(found, limit) for found in zip(*each, strict=True)]

    queries = Embedding(embedder, silent).queries
    return await measure_fit(readers, search, lambda place: key_of(*place), queries, before)
