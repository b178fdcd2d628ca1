"""Read the ideas passed to a command: files, folders, or published works by arXiv id, DOI or URL."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.settings import Settings

if TYPE_CHECKING:
    from workers.documents.idea_reader import IdeasRead


async def read_idea_inputs(paths: Sequence[Path], settings: Settings, today: dt.date | None = None) -> "IdeasRead":
    """Read the ideas in the inputs; also return the inputs that could not be read."""
    from cluster.works_as_ideas import open_works
    from workers.documents.idea_reader import read_ideas
    from workers.full_texts.bibliography import open_bibliography

    latest = today or dt.datetime.now(dt.UTC).date()
    async with open_bibliography(settings.grobid) as bibliography, open_works(settings, bibliography) as works:
        return await read_ideas(paths, latest_cutoff=latest, bibliography=bibliography, work_reader=works)
