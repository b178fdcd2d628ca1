"""Harvests arXiv's metadata over OAI-PMH, a window of days at a time.

A client of our own: those that exist bring their own HTTP, and addresses are fetched through our guards only.
"""

import datetime as dt
from collections.abc import Iterator
from urllib.parse import urlencode

from assayer.errors import SourceMalformed, SourceRefused
from index.ingest.ingesting import Ingest, Report
from index.ingest.intake import Intake, Source
from index.ingest.oai_pages import OaiError, read_page
from index.ingest.raw import SourceMark
from index.ingest.supply import Transport

__all__ = ["ArxivHarvest", "windows"]

_MOST_PAGES = 10_000
_BAD_TOKEN = "badResumptionToken"  # noqa: S105 - a code of the protocol
_ATTEMPTS = 3


def windows(first: dt.date, last: dt.date) -> Iterator[tuple[dt.date, dt.date]]:
    """Months, the first and the last perhaps in part; none when there is no day between."""
    while first <= last:
        after = (first.replace(day=1) + dt.timedelta(days=32)).replace(day=1)
        yield first, min(after - dt.timedelta(days=1), last)
        first = after


class ArxivHarvest:
    """Days are those of the records' datestamps, and closed: a day that is not over may still bring something."""

    def __init__(self, transport: Transport, base_url: str, subjects: str = "") -> None:
        """`subjects` is a set of the service: `cs`, `math`, `physics:hep-th`; all when empty."""
        self._transport = transport
        self._base_url = base_url
        self._set = subjects

    async def take_in(self, ingest: Ingest, first: dt.date, last: dt.date, report: Report) -> list[SourceMark]:
        """Windows that are in already are passed over. Raises SourceError."""
        sources = [self._source(*window) for window in windows(first, last)]
        missing = ingest.missing(sources)
        marks = []
        for number, source in enumerate(missing):
            report("Harvesting", number, len(missing))
            marks.append(await self._window(source, ingest))
        report("Harvesting", len(missing), len(missing))
        return marks

    def _source(self, first: dt.date, last: dt.date) -> Source:
        """A later window counts more: arXiv moves a record into the window of its last change."""
        name = f"{self._set or 'all'}/{first}--{last}"
        return Source(kind="arxiv", name=name, layer=last.toordinal(), seal="oai")

    async def _window(self, source: Source, ingest: Ingest) -> SourceMark:
        """From its beginning again when the service has forgotten where we were."""
        for _ in range(_ATTEMPTS):
            try:
                with Intake(source, ingest.root, ingest.holding.partitions) as intake:
                    await self._pages(source, intake)
            except _Forgotten:
                continue
            return intake.mark
        raise SourceRefused(
            f"arXiv's OAI-PMH service gives up the list of {source.name} again and again.", "Try again later."
        )

    async def _pages(self, source: Source, intake: Intake) -> None:
        first, last = source.name.rsplit("/", 1)[1].split("--")
        asked = {"verb": "ListRecords", "metadataPrefix": "arXiv", "from": first, "until": last}
        query = asked | ({"set": self._set} if self._set else {})
        line = 0
        for _ in range(_MOST_PAGES):
            page = read_page(await self._transport.read(f"{self._base_url}?{urlencode(query)}"))
            if isinstance(page, OaiError):
                raise _failure(page, source)
            for entry in page.entries:
                line += 1
                intake.add(line, entry.row, entry.size, entry.deleted)
            if not page.token:
                return
            query = {"verb": "ListRecords", "resumptionToken": page.token}
        raise SourceMalformed(f"The list of {source.name} at arXiv does not end.")


class _Forgotten(Exception):
    """The token that leads on counts no longer."""


def _failure(error: OaiError, source: Source) -> Exception:
    if error.code == _BAD_TOKEN:
        return _Forgotten()
    return SourceRefused(f"arXiv's OAI-PMH service refuses {source.name}: {error.code} {error.message}".strip())
