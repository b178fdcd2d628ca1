"""Looks for every reference of an idea in the corpus and in the remote sources, and tells what became of it.

The corpus is asked first, then remote sources by identifiers, all in one batch a source, then by the words of each
entry that is still missing or that differs from the record found. Of an idea that is judged blind, authors are read as
the list gives them and compared with the records; no source is asked for people who are masked, and a language model is
shown no more than passages of the masked text.
"""

import asyncio
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.errors import AssayerError
from assayer.literature.paper_identity import with_arxiv
from assayer.llm import Llm
from assayer.models import (
    Absent,
    CitedWork,
    ClaimSupport,
    Idea,
    Identifiers,
    OwnReference,
    OwnReferenceOutcome,
    OwnReferences,
    Paper,
    ReferenceRecord,
    Retraction,
)
from assayer.own_references.borne_out import CitingPassage, not_asked, passages_borne_out
from assayer.own_references.entries import IdeaReferences, read_references
from assayer.own_references.kept_words import MaskedNames, without_names
from assayer.own_references.matching import RecordMatch, best_match, without_identifiers
from assayer.own_references.options import OwnReferenceOptions
from assayer.own_references.passages import passages_citing
from assayer.ports import ReferenceSource
from assayer.run.run import Run
from assayer.run.structured_concurrency import together

__all__ = ["check_own_references"]


async def check_own_references(
    idea: Idea, sources: Sequence[ReferenceSource], llm: Llm, run: Run, options: OwnReferenceOptions
) -> OwnReferences | Absent | None:
    """None where the idea gives no references. `sources` in the order in which they are asked, the corpus first."""
    if not options.check:
        return Absent(reason="the check of an idea's own references is switched off.")
    references = await asyncio.to_thread(read_references, idea)
    if not references.entries:
        return None
    works = references.entries[: options.most]
    passages = await asyncio.to_thread(passages_citing, references.body, references.entries)
    searches = [_Search(work, references.masked_names) for work in works]
    lookup = _Lookup(sources, run)
    try:
        async with asyncio.timeout(options.seconds):
            await lookup.find(searches)
            notices = await lookup.retractions(searches)
    except TimeoutError:
        notices = {}
        reason = f"time ran out after {options.seconds:g} s"
        run.journal.record_dropped(
            "look-up of the idea's own references", reason, sum(not search.settled for search in searches)
        )
    borne_out = await _borne_out(searches, passages, llm, run, options.passages)
    return _told(references, searches, passages, notices, borne_out, lookup, run.cutoff)


class _Search:
    """One entry, and how far the search for it has come."""

    def __init__(self, work: CitedWork, masked_names: MaskedNames) -> None:
        self.work = work
        self._masked_names = masked_names
        self.match: RecordMatch | None = None
        self.asked: dict[str, None] = {}

    @property
    def settled(self) -> bool:
        return self.match is not None and not self.match.differences

    @property
    def identifiers(self) -> Identifiers:
        return with_arxiv(Identifiers(doi=self.work.doi, arxiv=self.work.arxiv))

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


class _Lookup:
    """Asks the sources. One that fails costs its own answer, and the entry says so."""

    def __init__(self, sources: Sequence[ReferenceSource], run: Run) -> None:
        self._sources = sources
        self._run = run

    async def find(self, searches: Sequence[_Search]) -> None:
        await together(self._search(source, search) for source in self._sources[:1] for search in searches)
        for source in self._sources:
            await self._resolve(source, [search for search in searches if not search.settled])
        await together(self._search_beyond(search) for search in searches if not search.settled)

    async def retractions(self, searches: Sequence[_Search]) -> dict[str, Retraction]:
        """The gravest notice by the id of each record found. The entry's own identifiers help where it has none."""
        found = {one.match.paper.id: _identifiers(one, one.match) for one in searches if one.match}
        asked = list({names for names in found.values() if names != Identifiers()})
        notices = dict[Identifiers, Retraction]()
        for told in await together(self._retractions(source, asked) for source in self._sources):
            for names, notice in told.items():
                notices[names] = min(notices.get(names, notice), notice, key=lambda one: _GRAVITY.index(one.kind))
        return {one: notices[names] for one, names in found.items() if names in notices}

    async def _retractions(
        self, source: ReferenceSource, papers: Sequence[Identifiers]
    ) -> Mapping[Identifiers, Retraction]:
        try:
            return await source.retractions(papers) if papers else {}
        except AssayerError as error:
            self._run.journal.record_trouble(source.name, "own_references", error)
            return {}

    def unanswered(self, search: _Search) -> tuple[str, ...]:
        """Sources that could have told."""
        fitting = (
            source
            for source in self._sources
            if (source.searches and search.words) or source.resolves(search.identifiers)
        )
        return tuple(source.name for source in fitting if source.name not in search.asked)

    async def _search_beyond(self, search: _Search) -> None:
        for source in self._sources[1:]:
            if not search.settled:
                await self._search(source, search)

    async def _search(self, source: ReferenceSource, search: _Search) -> None:
        if not source.searches or not search.words:
            return
        try:
            search.add(source.name, await source.search(search.words))
        except AssayerError as error:
            self._run.journal.record_trouble(source.name, "own_references", error)

    async def _resolve(self, source: ReferenceSource, searches: Sequence[_Search]) -> None:
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


async def _borne_out(
    searches: Sequence[_Search], passages: Sequence[str], llm: Llm, run: Run, most: int
) -> dict[int, ClaimSupport | Absent]:
    """By the number of the reference, from 1."""
    outcomes: dict[int, ClaimSupport | Absent] = {}
    asked: list[CitingPassage] = []
    for number, (search, passage) in enumerate(zip(searches, passages, strict=False), start=1):
        paper = search.match.paper if search.match else None
        if reason := not_asked(passage, paper, llm):
            outcomes[number] = reason
        elif len(asked) >= most:
            outcomes[number] = Absent(reason="not checked: there are more passages than are checked of one idea.")
        elif paper is not None:
            asked.append(CitingPassage(number, passage, paper))
    return {**outcomes, **await passages_borne_out(asked, llm, run)}


_GRAVITY = ("retracted", "withdrawn", "concern")


def _identifiers(search: _Search, match: RecordMatch) -> Identifiers:
    """Of the record, else of the entry."""
    if match.paper.identifiers != Identifiers() or match.differences:
        return match.paper.identifiers
    return search.identifiers


class _Verdict(NamedTuple):
    outcome: OwnReferenceOutcome | Absent
    retraction: Retraction | None = None


def _told(
    references: IdeaReferences,
    searches: Sequence[_Search],
    passages: Sequence[str],
    notices: dict[str, Retraction],
    borne_out: Mapping[int, ClaimSupport | Absent],
    lookup: _Lookup,
    cutoff: dt.date | None,
) -> OwnReferences:
    return OwnReferences(
        read_by=references.read_by,
        entries=tuple(
            _entry(number, search, passage, notices, lookup.unanswered(search), cutoff).model_copy(
                update={"borne_out": borne_out[number]}
            )
            for number, (search, passage) in enumerate(zip(searches, passages, strict=False), start=1)
        ),
        beyond=len(references.entries) - len(searches),
    )


def _entry(
    number: int,
    search: _Search,
    passage: str,
    notices: dict[str, Retraction],
    unanswered: tuple[str, ...],
    cutoff: dt.date | None,
) -> OwnReference:
    match = search.match
    verdict = _verdict(search, match, notices, unanswered)
    published = match.paper.publication_date if match else None
    return OwnReference(
        number=number,
        text=search.work.raw or _composed(search.work),
        outcome=verdict.outcome,
        differences=match.differences if match else (),
        record=_record(match.paper) if match else None,
        retraction=verdict.retraction,
        after_cutoff=bool(cutoff and published and published > cutoff),
        asked=tuple(search.asked),
        unanswered=() if search.settled else unanswered,
        passage=passage,
    )


def _verdict(
    search: _Search, match: RecordMatch | None, notices: dict[str, Retraction], unanswered: tuple[str, ...]
) -> _Verdict:
    if match is not None:
        retraction = notices.get(match.paper.id, match.paper.retraction)
        if retraction is not None and retraction.kind != "concern":
            return _Verdict("retracted", retraction)
        return _Verdict("differs" if match.differences else "found", retraction)
    if not search.work.title and search.identifiers == Identifiers():
        return _Verdict(Absent(reason="neither a title nor an identifier could be read from it."))
    if not search.asked:
        return _Verdict(Absent(reason="no source that could be asked for it answered."))
    if unanswered and len(search.asked) == 1:
        return _Verdict(Absent(reason=f"it is not in the {next(iter(search.asked))}, and no other source answered."))
    return _Verdict("not_found")


def _record(paper: Paper) -> ReferenceRecord:
    return ReferenceRecord(
        id=paper.id,
        title=paper.title,
        authors=paper.authors,
        publication_date=paper.publication_date,
        venue=paper.venue,
        url=paper.url,
        source=paper.source,
    )


def _composed(work: CitedWork) -> str:
    parts = [", ".join(work.authors), f"({work.year})" if work.year else "", work.title, work.doi or work.arxiv]
    return ". ".join(part for part in parts if part)
