"""Services of full texts over one store, and the papers that the simulated hosts have."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from assayer.models import Identifiers, Paper, PaperId
from cluster.clock import SystemClock
from simulator.outside.library import Entry, Library
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE
from workers.fetching import FetchingSettings
from workers.fetching.downloader import Downloader
from workers.full_texts import FullTextSettings, GrobidSettings, HostSettings
from workers.full_texts.acquisition import FullTextAcquisition
from workers.full_texts.document_store import open_document_store
from workers.full_texts.service import FullTextService
from workers.outbound.claims import Claims
from workers.outbound.store import SharedState

GROBIDS = ("grobid_1", "grobid_2", "grobid_3")
LIBRARY = Library(SAMPLE)


class Bench:
    """Opens services over one store."""

    def __init__(self, world: OutsideWorld, store: Path) -> None:
        self.world = world
        self.store = store
        self.hosts = HostSettings(
            arxiv=world.url("files/arxiv"),
            arxiv_spacing_seconds=0.0,
            acl=world.url("files/acl"),
            pmc=world.url("files/pmc"),
            openreview=world.url("files/openreview"),
        )

    def open(
        self,
        *,
        with_grobid: bool = True,
        shared_state: SharedState | None = None,
        claims: Claims | None = None,
        **changes: Any,
    ) -> AbstractAsyncContextManager[FullTextService]:
        return self._open(
            with_grobid, shared_state, claims, FullTextSettings.model_validate({"hosts": self.hosts, **changes})
        )

    @asynccontextmanager
    async def _open(
        self, with_grobid: bool, shared_state: SharedState | None, claims: Claims | None, settings: FullTextSettings
    ) -> AsyncIterator[FullTextService]:
        urls = tuple(self.world.url(name.replace("_", "-")) for name in GROBIDS) if with_grobid else ()
        pool = GrobidSettings(urls=urls, busy_seconds=0.01, recover_seconds=0.05, outage_seconds=0.2)
        fetching_settings = FetchingSettings(allow=("127.0.0.0/8",), connections_per_host=16)
        clock = SystemClock()
        async with (
            Downloader(fetching_settings, clock) as downloads,
            open_document_store(settings, pool, str(self.store), downloads, clock, shared_state, claims) as documents,
            FullTextService(FullTextAcquisition(documents, settings), settings) as service,
        ):
            yield service

    def build_paper(self, entry: Entry) -> Paper:
        return Paper(
            id=PaperId(entry.record.id),
            title=entry.record.title,
            abstract=entry.record.abstract,
            source="semantic_scholar",
            identifiers=Identifiers(doi=entry.doi, arxiv=entry.arxiv, acl=entry.acl),
            pdf_urls=(self.world.url(entry.pdf_path[1:]),) if entry.free_pdf else (),
        )

    def list_papers(self) -> list[Paper]:
        """Return the papers of which at least one copy exists somewhere."""
        return [self.build_paper(entry) for entry in LIBRARY.entries if entry.arxiv or entry.acl or entry.free_pdf]

    def build_hostile_paper(self, kind: str) -> Paper:
        url = self.world.url(f"files/hostile/{kind}.pdf")
        return Paper(id=PaperId(kind), title=f"A {kind} of a paper", abstract="", source="x", pdf_urls=(url,))
