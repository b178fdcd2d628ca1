"""Look up the references of an idea in the sources, and ask the sources whether the works found were retracted."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from assayer.errors import AssayerError
from assayer.literature.paper_identity import add_arxiv_id, map_identifiers_by_scheme, merge_identifiers
from assayer.literature.retractions import choose_most_serious_retraction
from assayer.models import CitedWork, Identifiers, Paper, Retraction
from assayer.own_references.kept_words import MaskedNames, remove_names
from assayer.own_references.matching import RecordMatch, find_best_match, remove_identifiers
from assayer.ports import ReferenceSource
from assayer.reference_lists.telling_title import is_title_told
from assayer.run.concurrency import gather_all
from assayer.run.run import Run
from assayer.text.scripts import count_unspaced_letters

_MIN_UNSPACED_LETTERS = 4
"""Minimum number of letters for a title in a script without spaces to be searched; this is about two words in other
scripts."""


class ReferenceSearch:
    """Entry of the reference list, and the state of the search for it."""

    def __init__(self, work: CitedWork, masked_names: MaskedNames) -> None:
        self.work = work
        self._masked_names = masked_names
        self.match: RecordMatch | None = None
        self.asked: dict[str, None] = {}
        self.notices: dict[str, Retraction | None] = {}
        """Retraction notices, keyed by the source that answered; None if the source knows of no retraction."""

    @property
    def settled(self) -> bool:
        return self.match is not None and not self.match.differences

    @property
    def identifiers(self) -> Identifiers:
        return add_arxiv_id(Identifiers(doi=self.work.doi, arxiv=self.work.arxiv))

    @property
    def found_identifiers(self) -> Identifiers:
        """Identifiers of the record found, and of the entry if the two agree. An arXiv DOI is represented by its arXiv
        id, so that it does not take precedence over a publisher's DOI."""
        if self.match is None:
            return Identifiers()
        own = [] if self.match.differences else [self.identifiers]
        named = (map_identifiers_by_scheme(item) for item in (self.match.paper.identifiers, *own))
        return merge_identifiers(map(Identifiers.model_validate, named))

    @property
    def retraction(self) -> Retraction | None:
        """Most serious notice from the record found and from the sources' retraction notices; None if there is none."""
        if self.match is None:
            return None
        notices = [notice for notice in (self.match.paper.retraction, *self.notices.values()) if notice]
        return choose_most_serious_retraction(notices) if notices else None

    @property
    def words(self) -> str:
        """Search words: the title, or the whole entry if the title could not be told, without the names masked in the
        idea. Empty if only an identifier remains."""
        if not is_title_told(self.work) and self.work.raw:
            return self.all_words
        return self._keep_searchable(remove_names(self.work.title, self._masked_names, min_words=2))

    @property
    def all_words(self) -> str:
        """Words of the whole entry, without identifiers and masked names."""
        return self._keep_searchable(remove_names(remove_identifiers(self.work.raw), self._masked_names))

    @staticmethod
    def _keep_searchable(words: str) -> str:
        return words if len(words.split()) > 1 or count_unspaced_letters(words) >= _MIN_UNSPACED_LETTERS else ""

    def add(self, source: str, records: Sequence[Paper]) -> None:
        self.asked[source] = None
        known = [self.match.paper] if self.match else []
        self.match = find_best_match(self.work, [*known, *records])


class ReferenceLookup:
    """Lookup of references in the sources. If a source fails, only its own answer is lost, and the journal records the
    failure."""

    def __init__(self, sources: Sequence[ReferenceSource], run: Run) -> None:
        self._sources = sources
        self._run = run

    async def find(self, searches: Sequence[ReferenceSearch]) -> None:
        await gather_all(self._search(source, search) for source in self._sources[:1] for search in searches)
        for source in self._sources:
            await self._resolve(source, [search for search in searches if not search.settled])
        await gather_all(self._search_beyond(search) for search in searches if not search.settled)
        await gather_all(self._search_whole(search) for search in searches if search.match is None)

    async def ask_for_retractions(self, searches: Sequence[ReferenceSearch]) -> None:
        """Fetch retraction notices. The notices of each source are stored as soon as it answers, so that they are not
        lost if another source hangs."""
        found = [search for search in searches if search.match]
        await gather_all(self._ask_for_retractions(source, found) for source in self._sources)

    async def _ask_for_retractions(self, source: ReferenceSource, searches: Sequence[ReferenceSearch]) -> None:
        asked = [search for search in searches if source.can_check_retraction(search.found_identifiers)]
        if not asked:
            return
        with self._record_failure(source):
            notices = await source.retractions(list({search.found_identifiers for search in asked}))
            for search in asked:
                search.notices[source.name] = notices.get(search.found_identifiers)

    @contextmanager
    def _record_failure(self, source: ReferenceSource) -> Iterator[None]:
        """Record a failure of the source and continue."""
        try:
            yield
        except AssayerError as error:
            self._run.journal.record_source_failure(source.name, "own_references", error)

    def list_unanswered_for_retraction(self, search: ReferenceSearch) -> tuple[str, ...]:
        """Return the sources that could report a retraction of the matched record but gave no answer."""
        fitting = (source.name for source in self._sources if source.can_check_retraction(search.found_identifiers))
        return tuple(name for name in fitting if name not in search.notices)

    def list_unanswered_sources(self, search: ReferenceSearch) -> tuple[str, ...]:
        """Return the sources that could search for or resolve the reference but gave no answer."""
        fitting = (
            source
            for source in self._sources
            if (source.searches and search.words) or source.can_resolve(search.identifiers)
        )
        return tuple(source.name for source in fitting if source.name not in search.asked)

    async def _search_beyond(self, search: ReferenceSearch) -> None:
        for source in self._sources[1:]:
            if not search.settled:
                await self._search(source, search)

    async def _search_whole(self, search: ReferenceSearch) -> None:
        """Search the first source, the corpus, for the whole entry: its title may have been misread."""
        for source in self._sources[:1]:
            if search.words and search.all_words != search.words:
                await self._search(source, search, search.all_words)

    async def _search(self, source: ReferenceSource, search: ReferenceSearch, words: str = "") -> None:
        words = words or search.words
        if source.searches and words:
            with self._record_failure(source):
                search.add(source.name, await source.search(words))

    async def _resolve(self, source: ReferenceSource, searches: Sequence[ReferenceSearch]) -> None:
        named = [search for search in searches if source.can_resolve(search.identifiers)]
        if not named:
            return
        with self._record_failure(source):
            records = await source.resolve([search.identifiers for search in named])
            for search, record in zip(named, records, strict=True):
                search.add(source.name, [record] if record else [])
