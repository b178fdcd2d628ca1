"""Checks that a finished version must pass before it becomes the current one."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from assayer.errors import CorpusError
from assayer.models import PaperId
from assayer.ports import Embedder, LexicalEmbedder
from index.search.hybrid_ranking import compute_candidate_depth, rank_candidates
from index.search.hybrid_search import Query, WeighedQuery
from index.search.version_reader import VersionReader
from index.segments.row_filter import NO_FILTERS
from index.versions.manifest import Manifest
from index.versions.version_store import VersionStore

Accept: TypeAlias = Callable[[Path, Manifest], Awaitable[None]]
"""Function called with a corpus directory and a finished version in it. If it raises an exception, the version does not
become current."""

_SAMPLE_SIZE = 20
"""Number of papers that are searched for, half of them from the newest segment."""
_MAX_MISSED = 0.1
"""Maximum share of these papers that may be missing from the results. Of 25,527 real papers, each was among the first
ten results for its title."""
_AMONG = 10
"""Number of results in which a paper must appear when its title is searched for."""
_MAX_REMOVED = 0.1
"""Maximum share of papers that one update may remove. A larger removal is more likely to be caused by a broken diff."""


@dataclass(frozen=True)
class Acceptance:
    """Checks that an update removes few papers, that removed papers are gone, and that papers are found by title."""

    embedder: Embedder
    papers_before: int
    """Papers in the whole corpus before the update."""
    removed: Collection[PaperId] = ()

    async def __call__(self, directory: Path, manifest: Manifest) -> None:
        """Run all checks. Raises CorpusError if one fails."""
        self.check_size(directory, manifest.papers)
        await self.check_answers(directory, manifest)

    def check_size(self, directory: Path, papers: int) -> None:
        """Check that the update keeps most papers. This applies to the whole corpus and not to single shards, because
        one paper can be a large share of a small shard. Raises CorpusError if too many would be removed."""
        if self.papers_before - papers > _MAX_REMOVED * self.papers_before:
            raise CorpusError(
                f"The update was rejected: it would leave only {papers:,} of {self.papers_before:,} papers in "
                f"{directory}.",
                "If this is intended, update the corpus manually: assayer corpus update.",
            )

    async def check_answers(self, directory: Path, manifest: Manifest) -> None:
        """Check search results in an unsharded corpus or a single shard. Raises CorpusError if removed papers are still
        there, or if papers are not found by title."""
        reader = VersionReader.open(VersionStore(directory), manifest)
        if remaining_units := reader.find_units(self.removed):
            raise CorpusError(
                f"The corpus still contains removed papers ({len(remaining_units)}, for example "
                f"{next(iter(remaining_units))})."
            )
        await self._find(reader, manifest.lexical)

    async def _find(self, reader: VersionReader, with_lexical_weights: bool) -> None:
        units = _sample(reader)
        if not units:
            return  # a shard whose last paper was removed
        titles = [reader.get_paper(unit).title for unit in units]
        queries: Sequence[Query] = titles
        if with_lexical_weights and isinstance(self.embedder, LexicalEmbedder):
            vectors, weights = await self.embedder.embed_with_weights(titles, "query")
            queries = list(map(WeighedQuery, titles, weights))
        else:
            vectors = await self.embedder.embed(titles, "query")
        candidates = reader.find_candidates(queries, vectors, compute_candidate_depth(_AMONG), NO_FILTERS)
        missed_titles = [
            title
            for title, title_candidates in zip(titles, candidates, strict=True)
            # compared by title, because several papers can have the same title
            if title not in {reader.get_paper(unit).title for unit, _ in rank_candidates(title_candidates, _AMONG)}
        ]
        if len(missed_titles) > _MAX_MISSED * len(units):
            raise CorpusError(
                f"{len(missed_titles)} of {len(units)} papers cannot be found by their titles, for example "
                f"{missed_titles[0]!r}.",
                "Rebuild the corpus: assayer corpus build PATH.",
            )


def _sample(reader: VersionReader) -> list[int]:
    """Return the units of evenly spaced papers, half from the newest segment and half from all, without hidden
    papers."""
    if not reader.segments:
        return []
    newest = len(reader) - len(reader.segments[-1])
    spaced_units = (np.linspace(first, len(reader) - 1, _SAMPLE_SIZE // 2).astype(int) for first in (newest, 0))
    drawn_units = sorted({unit for units in spaced_units for unit in units.tolist()})
    return [unit for unit in drawn_units if reader.passes_filters(unit, NO_FILTERS)]
