"""Records of papers as they were when a report cited them."""

import hashlib
from collections.abc import Sequence

from assayer.models import Paper, PaperId
from orchestrator.store.database import Database
from orchestrator.store.documents import document, plain, read

__all__ = ["KEEP_PAPERS", "PgPapers", "columns"]

KEEP_PAPERS = """
    INSERT INTO papers (digest, id, source, record)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::jsonb[])
    ON CONFLICT (digest) DO NOTHING
"""

_LATEST = """
    SELECT DISTINCT ON (id) id, record FROM papers WHERE id = ANY($1) ORDER BY id, first_seen DESC, digest
"""


class PgPapers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, papers: Sequence[Paper]) -> None:
        """A changed record is kept beside the older ones of the same paper."""
        await self._database.execute(KEEP_PAPERS, *columns(papers))

    async def get(self, ids: Sequence[PaperId]) -> dict[PaperId, Paper]:
        """The latest record of each known id; unknown ids are missing from the answer."""
        rows = await self._database.fetch(_LATEST, [plain(one) for one in ids])
        return {PaperId(row["id"]): read(Paper, row["record"], f"Paper {row['id']}") for row in rows}


def columns(papers: Sequence[Paper]) -> tuple[list[str], list[str], list[str], list[str]]:
    """Digests, ids, sources and records. Sorted, so that two writers never wait for each other in a circle."""
    keyed: dict[str, tuple[Paper, str]] = {}
    for paper in papers:
        record = document(paper)
        keyed[hashlib.sha256(record.encode()).hexdigest()] = (paper, record)
    digests = sorted(keyed)
    kept = [keyed[digest] for digest in digests]
    return (
        digests,
        [plain(paper.id) for paper, _ in kept],
        [plain(paper.source) for paper, _ in kept],
        [record for _, record in kept],
    )
