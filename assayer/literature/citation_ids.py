"""Citations by ids where a source has them as records only."""

from collections.abc import Sequence

from assayer.models import PaperId, Window
from assayer.ports import CitationIds, Literature
from assayer.run.structured_concurrency import together

__all__ = ["citation_ids_of"]


async def citation_ids_of(
    literature: Literature, papers: Sequence[PaperId], limit: int, window: Window
) -> dict[PaperId, CitationIds]:
    """By two questions to the port, for its method `citations`. Raises LiteratureError."""
    cited, citing = await together(
        [literature.references(papers, limit, window), literature.citing(papers, limit, window)]
    )
    known = [one for one in papers if one in cited or one in citing]
    return {
        one: CitationIds([paper.id for paper in cited.get(one, ())], [paper.id for paper in citing.get(one, ())])
        for one in known
    }
