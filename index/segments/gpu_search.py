"""Exact search on a GPU: multiplying all vectors there is faster than probing an index, whatever the filters leave."""

import numpy as np
from numpy.typing import NDArray

from assayer.errors import ConfigurationError
from assayer.ports import Vectors
from index.segments.approximate_index import Candidates

__all__ = ["CPU", "GpuVectors"]

CPU = "cpu"
"""The default device: indexes are searched on the CPU, and no vectors are moved."""

_FETCHED = 4
"""Candidates for each result, to make up for products in half precision."""


class GpuVectors:
    """Vectors in the memory of a torch device, two bytes a number."""

    def __init__(self, vectors: Vectors, device: str) -> None:
        """Raises ConfigurationError when there is no such device, or not enough memory on it."""
        try:
            import torch
        except ImportError:
            raise ConfigurationError(
                "Search on a graphics processor needs torch, which is not installed.",
                "Install it with: pip install 'assayer[local]', or set ASSAYER_CORPUS__DEVICE=cpu.",
            ) from None
        self._torch = torch
        try:
            self._vectors = torch.from_numpy(np.array(vectors, np.float16)).to(device)
        except (RuntimeError, AssertionError) as error:
            raise ConfigurationError(
                f"The corpus's vectors ({vectors.nbytes / 1e9:.1f} GB) cannot be put on the device {device!r}: "
                f"{str(error).splitlines()[0]}.",
                "Set ASSAYER_CORPUS__DEVICE=cpu, or spread the corpus over shards.",
            ) from None

    def candidates(self, queries: Vectors, limit: int, rows: int, mask: NDArray[np.bool_] | None = None) -> Candidates:
        """Of the first rows that the mask allows; -1 where there are fewer."""
        torch, own = self._torch, self._vectors[:rows]
        with torch.inference_mode():
            scores = torch.from_numpy(np.array(queries, np.float16)).to(own.device) @ own.T
            if mask is not None:
                scores.masked_fill_(~torch.from_numpy(np.array(mask[:rows])).to(own.device), -torch.inf)
            best = scores.topk(min(rows, limit * _FETCHED), dim=1)
            found = torch.where(torch.isinf(best.values), -1, best.indices)
        return np.asarray(found.cpu().numpy())
