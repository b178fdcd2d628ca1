"""Checks that a finished version must pass before it becomes the current one."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from assayer.errors import CorpusError
from assayer.models import PaperId
from assayer.ports import Embedder, LexicalEmbedder
from index.search.hybrid_search import Query, WeighedQuery
from index.search.version_reader import VersionReader
from index.segments.row_filter import NO_FILTERS
from index.versions.manifest import Manifest
from index.versions.version_store import VersionStore

__all__ = ["Accept", "Acceptance"]

Accept: TypeAlias = Callable[[Path, Manifest], Awaitable[None]]
"""Called with a corpus directory and a finished version in it; an exception keeps the version from becoming the current
one."""

_SOUGHT = 20
"""Papers that are searched for; half of them from the newest segment."""
_MOST_MISSED = 0.1
"""Share of them that may be missed. On 25,527 real papers all were found by their titles in the first ten."""
_AMONG = 10
_MOST_LOST = 0.1
"""Share of the papers that one update may remove: a larger removal is more likely a broken diff."""


@dataclass(frozen=True)
class Acceptance:
    """Few papers were removed, none of the removed ones is found, and papers are found by their titles."""

    embedder: Embedder
    papers_before: int
    """In the whole corpus."""
    removed: Collection[PaperId] = ()

    async def __call__(self, directory: Path, manifest: Manifest) -> None:
        """Raises CorpusError."""
        self.check_size(directory, manifest.papers)
        await self.check_answers(directory, manifest)

    def check_size(self, directory: Path, papers: int) -> None:
        """Of the whole corpus: of a shard with few papers, one is soon more than a tenth. Raises CorpusError."""
        if self.papers_before - papers > _MOST_LOST * self.papers_before:
            raise CorpusError(
                f"The update would leave {papers:,} of {self.papers_before:,} papers in {directory}.",
                "If that is meant, do it by hand: assayer corpus update.",
            )

    async def check_answers(self, directory: Path, manifest: Manifest) -> None:
        """Of a corpus in one piece, or of one shard. Raises CorpusError."""
        reader = VersionReader.open(VersionStore(directory), manifest)
        if left := reader.units_of(self.removed):
            raise CorpusError(f"{len(left)} papers that were removed still answer, the first: {next(iter(left))}.")
        await self._find(reader, manifest.lexical)

    async def _find(self, reader: VersionReader, lexical: bool) -> None:
        units = _sample(reader)
        if not units:
            return  # a shard that has lost its last paper
        titles = [reader.paper(unit).title for unit in units]
        queries: Sequence[Query] = titles
        if lexical and isinstance(self.embedder, LexicalEmbedder):
            vectors, weights = await self.embedder.embed_with_weights(titles, "query")
            queries = list(map(WeighedQuery, titles, weights))
        else:
            vectors = await self.embedder.embed(titles, "query")
        answers = reader.search(queries, vectors, _AMONG, NO_FILTERS)
        missed = [
            title
            for title, hits in zip(titles, answers, strict=True)
            if title not in {hit.paper.title for hit in hits}  # many papers may be called the same
        ]
        if len(missed) > _MOST_MISSED * len(units):
            raise CorpusError(
                f"{len(missed)} of {len(units)} papers are not found by their titles, the first: {missed[0]!r}.",
                "Build the corpus again: assayer corpus build PATH.",
            )


def _sample(reader: VersionReader) -> list[int]:
    """Evenly spaced units that are not hidden, of the newest segment and of all."""
    if not reader.segments:
        return []
    newest = len(reader) - len(reader.segments[-1])
    spaced = (np.linspace(first, len(reader) - 1, _SOUGHT // 2).astype(int) for first in (newest, 0))
    drawn = sorted({unit for units in spaced for unit in units.tolist()})
    return [unit for unit in drawn if reader.passes(unit, NO_FILTERS)]
