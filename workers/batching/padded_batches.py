"""Forward passes of fixed shapes. The number of rows depends only on the width, and the width only on the text's
length.

The result for a text is therefore identical to the last bit whatever else is in its batch, so that a resumed evaluation
gets the same search results as the interrupted one."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_ROW_MULTIPLE = 8
"""The number of rows in a pass is a multiple of this. Otherwise, a row's position could change the last bits of its
result. On two cores, passes of 8 rows take as little time per text as passes of 64."""


class TokenizedText(NamedTuple):
    """Tokenised text: arrays of equal length, keyed by the names of the model's inputs."""

    inputs: Mapping[str, NDArray[np.int32]]

    @property
    def length(self) -> int:
        return len(self.inputs["input_ids"])


class BatchShapes(NamedTuple):
    width_step: int
    """Padded widths are multiples of this number of tokens."""
    max_width: int
    max_tokens: int
    """Maximum number of tokens in one pass. A pass has at least `_ROW_MULTIPLE` rows, even if they have more."""

    def pad_width(self, tokenized_text: TokenizedText) -> int:
        return min(-(-tokenized_text.length // self.width_step) * self.width_step, self.max_width)

    def count_rows(self, width: int) -> int:
        return max(_ROW_MULTIPLE, self.max_tokens // width // _ROW_MULTIPLE * _ROW_MULTIPLE)


class PaddedModel:
    """Base class for every `workers.batching.micro_batcher.BatchModel` that is a transformer."""

    _batch_shapes: BatchShapes

    def get_shape(self, tokenized_text: TokenizedText) -> int:
        return self._batch_shapes.pad_width(tokenized_text)

    def get_size(self, tokenized_text: TokenizedText) -> int:
        return 1

    def get_capacity(self, shape: int) -> int:
        return self._batch_shapes.count_rows(shape)


def split_tokenized_texts(encoded: Any) -> list[TokenizedText]:
    """Split a tokenizer's output into one `TokenizedText` per text."""
    rows = range(len(encoded["input_ids"]))
    return [TokenizedText({key: np.asarray(encoded[key][row], np.int32) for key in encoded}) for row in rows]


def pad_batch(
    tokenized_texts: Sequence[TokenizedText], row_count: int, width: int, padding: int
) -> dict[str, NDArray[np.int64]]:
    """Return a batch padded to `width` columns, and to the full number of rows by repeating the first row."""
    padded_texts = [*tokenized_texts, *[tokenized_texts[0]] * (row_count - len(tokenized_texts))]
    features = {}
    for key in tokenized_texts[0].inputs:
        values = np.full((row_count, width), padding if key == "input_ids" else 0, np.int64)
        for row_number, tokenized_text in enumerate(padded_texts):
            values[row_number, : tokenized_text.length] = tokenized_text.inputs[key]
        features[key] = values
    return features
