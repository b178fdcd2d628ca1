"""Looks for the references of an idea in the sources, and asks these whether what was found still stands."""

from collections.abc import Sequence

from assayer.errors import AssayerError
from assayer.literature.paper_identity import identifiers_by_scheme, united_identifiers, with_arxiv
from assayer.literature.retractions import gravest_retraction
from assayer.models import CitedWork, Identifiers, Paper, Retraction
from assayer.own_references.kept_words import MaskedNames, without_names
from assayer.own_references.matching import RecordMatch, best_match, without_identifiers
from assayer.ports import ReferenceSource
from assayer.run.run import Run
from assayer.run.structured_concurrency import together

__all__ = ["ReferenceLookup", "ReferenceSearch"]


class ReferenceSearch:
    """One entry, and how far the search for it has come."""

    def __init__(self, work: CitedWork, masked_names: MaskedNames) -> None:
        self.work = work
        self._masked_names = masked_names
        self.match: RecordMatch | None = None
        self.asked: dict[str, None] = {}
        self.notices: dict[str, Retraction | None] = {}
        """By the source that answered whether the record found was retracted."""

    @property
    def settled(self) -> bool:
        return self.match is not None and not self.match.differences

    @property
    def identifiers(self) -> Identifiers:
        return with_arxiv(Identifiers(doi=self.work.doi, arxiv=self.work.arxiv))

    @property
    def found_identifiers(self) -> Identifiers:
        """Of the record found, and of the entry where they do not differ. A DOI of arXiv is told by its id: it does
        not stand before a publisher's."""
        if self.match is None:
            return Identifiers()
        own = [] if self.match.differences else [self.identifiers]
        named = (identifiers_by_scheme(one) for one in (self.match.paper.identifiers, *own))
        return united_identifiers(map(Identifiers.model_validate, named))

    @property
    def retraction(self) -> Retraction | None:
        """The gravest of what the record found says and the sources' notices about it."""
        if self.match is None:
            return None
        notices = [one for one in (self.match.paper.retraction, *self.notices.values()) if one]
        return gravest_retraction(notices) if notices else None

    @property
    def words(self) -> str:
        """The title, else the whole entry, without the people who are masked in the idea; empty where that is nothing
        but an identifier."""
        if self.work.title:
            words = without_names(self.work.title, self._masked_names, fewest=2)
        else:
            words = without_names(without_identifiers(self.work.raw), self._masked_names)
        return words if len(words.split()) > 1 else ""

    def add(self, source: str, records: Sequence[Paper]) -> None:
        self.asked[source] = None
        known = [self.match.paper] if self.match else []
        self.match = best_match(self.work, [*known, *records])

    def add_notice(self, source: str, notice: Retraction | None) -> None:
        self.notices[source] = notice


class ReferenceLookup:
    """Asks the sources. One that fails costs its own answer, and the entry says so."""

    def __init__(self, sources: Sequence[ReferenceSource], run: Run) -> None:
        self._sources = sources
        self._run = run

    async def find(self, searches: Sequence[ReferenceSearch]) -> None:
        await together(self._search(source, search) for source in self._sources[:1] for search in searches)
        for source in self._sources:
            await self._resolve(source, [search for search in searches if not search.settled])
        await together(self._search_beyond(search) for search in searches if not search.settled)

    async def ask_for_retractions(self, searches: Sequence[ReferenceSearch]) -> None:
        """Each source's notices are kept as it answers: another that hangs does not cost them."""
        found = [search for search in searches if search.match]
        await together(self._ask_for_retractions(source, found) for source in self._sources)

    async def _ask_for_retractions(self, source: ReferenceSource, searches: Sequence[ReferenceSearch]) -> None:
        asked = [search for search in searches if source.knows_retractions(search.found_identifiers)]
        if not asked:
            return
        try:
            notices = await source.retractions(list({search.found_identifiers for search in asked}))
        except AssayerError as error:
            self._run.journal.record_trouble(source.name, "own_references", error)
            return
        for search in asked:
            search.add_notice(source.name, notices.get(search.found_identifiers))

    def retraction_unanswered(self, search: ReferenceSearch) -> tuple[str, ...]:
        """Sources that could have told whether the record found was retracted."""
        fitting = (one.name for one in self._sources if one.knows_retractions(search.found_identifiers))
        return tuple(name for name in fitting if name not in search.notices)

    def unanswered(self, search: ReferenceSearch) -> tuple[str, ...]:
        """Sources that could have told."""
        fitting = (
            source
            for source in self._sources
            if (source.searches and search.words) or source.resolves(search.identifiers)
        )
        return tuple(source.name for source in fitting if source.name not in search.asked)

    async def _search_beyond(self, search: ReferenceSearch) -> None:
        for source in self._sources[1:]:
            if not search.settled:
                await self._search(source, search)

    async def _search(self, source: ReferenceSource, search: ReferenceSearch) -> None:
        if not source.searches or not search.words:
            return
        try:
            search.add(source.name, await source.search(search.words))
        except AssayerError as error:
            self._run.journal.record_trouble(source.name, "own_references", error)

    async def _resolve(self, source: ReferenceSource, searches: Sequence[ReferenceSearch]) -> None:
        named = [search for search in searches if source.resolves(search.identifiers)]
        if not named:
            return
        try:
            records = await source.resolve([search.identifiers for search in named])
        except AssayerError as error:
            self._run.journal.record_trouble(source.name, "own_references", error)
            return
        for search, record in zip(named, records, strict=True):
            search.add(source.name, [record] if record else [])
