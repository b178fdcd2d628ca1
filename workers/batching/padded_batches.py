"""Forward passes of a fixed shape: the same number of rows whatever was asked, and a width that depends on the text's
own length alone.

So a text gets the same answer, to the last bit, whoever asks beside it, and a resumed evaluation sees the same search
results as the one that was interrupted.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["BatchShapes", "TokenizedText", "pad_batch", "tokenized_texts"]

_ROWS = 8
"""In a group: with fewer, or with a broken one, a row's place in the pass may change the last bits of its answer. On
two cores, 8 rows run as fast per text as 64."""


class TokenizedText(NamedTuple):
    """A text as a model reads it: arrays of its length, by the name of the model's input."""

    inputs: Mapping[str, NDArray[np.int32]]

    @property
    def length(self) -> int:
        return len(self.inputs["input_ids"])


class BatchShapes(NamedTuple):
    step: int
    """Padded widths are its multiples."""
    widest: int
    tokens: int
    """Of one pass, as near as whole groups of rows come to it; a group at least."""

    def width(self, one: TokenizedText) -> int:
        return min(-(-one.length // self.step) * self.step, self.widest)

    def rows(self, width: int) -> int:
        return max(_ROWS, self.tokens // width // _ROWS * _ROWS)


def tokenized_texts(encoded: Any) -> list[TokenizedText]:
    """What a tokenizer made of some texts."""
    rows = range(len(encoded["input_ids"]))
    return [TokenizedText({key: np.asarray(encoded[key][row], np.int32) for key in encoded}) for row in rows]


def pad_batch(some: Sequence[TokenizedText], rows: int, width: int, padding: int) -> dict[str, NDArray[np.int64]]:
    """To `width` columns, and to the full number of rows by repeating the first one."""
    filled = [*some, *[some[0]] * (rows - len(some))]
    features = {}
    for key in some[0].inputs:
        values = np.full((rows, width), padding if key == "input_ids" else 0, np.int64)
        for row, one in enumerate(filled):
            values[row, : one.length] = one.inputs[key]
        features[key] = values
    return features
