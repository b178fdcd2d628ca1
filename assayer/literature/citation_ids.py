"""Fallback for sources that return citations only as full paper records."""

from collections.abc import Sequence

from assayer.models import PaperId, Window
from assayer.ports import CitationIds, Literature
from assayer.run.concurrency import gather_all


async def collect_citation_ids(
    literature: Literature, papers: Sequence[PaperId], limit: int, window: Window
) -> dict[PaperId, CitationIds]:
    """Return the ids of cited and citing papers, taken from the records that `references` and `citing` return. Raises
    LiteratureError if the source fails."""
    cited, citing = await gather_all(
        [literature.references(papers, limit, window), literature.citing(papers, limit, window)]
    )
    known = [item for item in papers if item in cited or item in citing]
    return {
        item: CitationIds([paper.id for paper in cited.get(item, ())], [paper.id for paper in citing.get(item, ())])
        for item in known
    }
