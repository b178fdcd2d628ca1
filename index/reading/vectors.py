"""Vectors as foreign records write them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["numbers_of"]


def numbers_of(given: Any) -> NDArray[np.float32] | None:
    """None for what is no list of numbers. One that float32 cannot hold is infinite."""
    try:
        with np.errstate(over="ignore"):
            numbers = np.asarray(given, np.float32)
    except OverflowError:  # a whole number that no float can hold
        return np.array([np.inf], np.float32)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 else None
