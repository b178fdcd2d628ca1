"""What the federation asks of the local corpus beyond the Literature port."""

import datetime as dt
from collections.abc import Sequence
from typing import Protocol

from assayer.ports import Literature, Vectors

__all__ = ["LocalCorpus"]


class LocalCorpus(Literature, Protocol):
    """It also tells how it measures, so that papers from elsewhere are measured alike."""

    def newest(self, before: dt.date | None) -> dt.date | None:
        """Day of the newest paper that counts; None when none is dated."""
        ...

    async def meanings(self, texts: Sequence[str]) -> Vectors:
        """What papers and passages are held against: one unit vector a text."""
        ...

    async def embed(self, titled: Sequence[tuple[str, str]]) -> Vectors:
        """Vectors of texts (abstracts or passages) under their papers' titles."""
        ...
