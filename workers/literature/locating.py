"""Locators of free copies as one evaluation uses them: what they do not answer stands in its journal."""

from dataclasses import dataclass

from assayer.errors import SourceError
from assayer.models import Identifiers
from assayer.run import Run
from workers.remote.call import Ask
from workers.sources.source import LocatesPdfs

__all__ = ["Locator"]


@dataclass(frozen=True)
class Locator:
    """Implements LocatesPdfs."""

    source: LocatesPdfs
    run: Run

    @property
    def name(self) -> str:
        return self.source.name

    async def pdf_urls(self, paper: Identifiers, ask: Ask) -> tuple[str, ...]:
        try:
            urls = await self.source.pdf_urls(paper, ask)
        except SourceError as error:
            self.run.journal.trouble(self.name, "open_access", error)
            raise
        self.run.journal.use(self.name, "open_access", results=len(urls))
        return urls
