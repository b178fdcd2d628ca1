"""The texts that a segment's papers and passages are embedded and indexed as."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.segments.layout import ABSTRACT, PassagePlace, paper_text, passage_text
from index.segments.store import PaperStore

__all__ = ["Text", "paper_texts", "passage_texts"]


class Text(NamedTuple):
    text: str
    record: Mapping[str, Any]
    """The columns of its paper."""


def paper_texts(store: PaperStore) -> Iterator[Text]:
    for record in store.records():
        yield Text(paper_text(record["title"], record["abstract"]), record)


def passage_texts(store: PaperStore, places: NDArray[np.int32]) -> Iterator[Text]:
    """`places` with columns as in PassagePlace, sorted by paper: of a paper's passages the record is read once."""
    row, record = -1, {}
    for columns in places.tolist():
        spot = PassagePlace(*columns)
        if spot.paper != row:
            row, record = spot.paper, store.searched(spot.paper)
        text = record["abstract"] if spot.section == ABSTRACT else record["sections"][spot.section]["text"]
        yield Text(passage_text(record["title"], text, spot), record)
