"""Forward passes of fixed shapes. The number of rows depends only on the width, and the width only on the text's
length.

The result for a text is therefore identical to the last bit whatever else is in its batch, so that a resumed evaluation
gets the same search results as the interrupted one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_ROWS = 8
"""The number of rows in a pass is a multiple of this. Otherwise, a row's position could change the last bits of its
result. On two cores, passes of 8 rows take as little time per text as passes of 64."""


class TokenizedText(NamedTuple):
    """Tokenised text: arrays of equal length, keyed by the names of the model's inputs."""

    inputs: Mapping[str, NDArray[np.int32]]

    @property
    def length(self) -> int:
        return len(self.inputs["input_ids"])


class BatchShapes(NamedTuple):
    step: int
    """Padded widths are multiples of this number of tokens."""
    widest: int
    tokens: int
    """Maximum number of tokens in one pass; a pass has at least `_ROWS` rows, even if these have more tokens."""

    def width(self, tokenized_text: TokenizedText) -> int:
        return min(-(-tokenized_text.length // self.step) * self.step, self.widest)

    def rows(self, width: int) -> int:
        return max(_ROWS, self.tokens // width // _ROWS * _ROWS)


class PaddedModel:
    """Base class for every `workers.batching.micro_batcher.BatchModel` that is a transformer."""

    _batch_shapes: BatchShapes

    def shape(self, tokenized_text: TokenizedText) -> int:
        return self._batch_shapes.width(tokenized_text)

    def size(self, tokenized_text: TokenizedText) -> int:
        return 1

    def capacity(self, shape: int) -> int:
        return self._batch_shapes.rows(shape)


def tokenized_texts(encoded: Any) -> list[TokenizedText]:
    """Split a tokenizer's output into one `TokenizedText` per text."""
    rows = range(len(encoded["input_ids"]))
    return [TokenizedText({key: np.asarray(encoded[key][row], np.int32) for key in encoded}) for row in rows]


def pad_batch(some: Sequence[TokenizedText], rows: int, width: int, padding: int) -> dict[str, NDArray[np.int64]]:
    """Return a batch padded to `width` columns, and to the full number of rows by repeating the first row."""
    all_rows = [*some, *[some[0]] * (rows - len(some))]
    features = {}
    for key in some[0].inputs:
        values = np.full((rows, width), padding if key == "input_ids" else 0, np.int64)
        for row, item in enumerate(all_rows):
            values[row, : item.length] = item.inputs[key]
        features[key] = values
    return features
