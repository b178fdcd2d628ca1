"""Look up every reference of an idea in the corpus and in remote sources, and report the outcome.

The corpus is queried first; then remote sources by identifiers, in one batch per source; then remote sources by the
words of each entry that is still missing or differs from its record. If an idea is judged blind, authors are read from
its reference list and compared with the records, but masked people are never sent to a source, and a language model
sees only passages of the masked text."""

import asyncio
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.claim_support.checking import check_support
from assayer.claim_support.task import SupportItem
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
)
from assayer.own_references.entries import read_references
from assayer.own_references.lookup import ReferenceLookup, ReferenceSearch
from assayer.own_references.matching import RecordMatch
from assayer.own_references.options import OwnReferenceOptions
from assayer.own_references.passages import CitingSentence, find_citing_passages
from assayer.ports import ReferenceSource
from assayer.reference_lists.entry_shape import is_web_page
from assayer.reference_lists.telling_title import is_title_told
from assayer.run.run import Run

_RETRACTION_SHARE = 0.25
"""Share of the time that is reserved for retraction checks."""


async def check_own_references(
    idea: Idea, sources: Sequence[ReferenceSource], llm: Llm, run: Run, options: OwnReferenceOptions
) -> OwnReferences | Absent | None:
    """Check the references of an idea; return None if it has none. `sources` are queried in order, the corpus first."""
    if not options.check:
        return Absent(reason="the check of an idea's own references is switched off.")
    references = await asyncio.to_thread(read_references, idea)
    if not references.entries:
        return None
    works = references.entries[: options.most]
    passages = await asyncio.to_thread(find_citing_passages, idea.text, references.entries)
    searches = [ReferenceSearch(work, references.masked_names) for work in works]
    lookup = ReferenceLookup(sources, run)
    await _look_up(lookup, searches, run, options.seconds)
    borne_out = await _judge_support(searches, passages, llm, run, options.passages)
    return OwnReferences(
        parser=idea.references_reader,
        entries=tuple(
            _entry(number, search, passage.text, borne_out[number], lookup, run.cutoff)
            for number, (search, passage) in enumerate(zip(searches, passages, strict=False), start=1)
        ),
        unchecked_entries=len(references.entries) - len(searches),
    )


async def _look_up(lookup: ReferenceLookup, searches: Sequence[ReferenceSearch], run: Run, seconds: float) -> None:
    """Look up references within `seconds` in total. A share of the time is reserved for retraction notices, so that a
    hanging search does not prevent them."""
    end = asyncio.get_running_loop().time() + seconds
    reason = f"time ran out after {seconds:g} s"
    try:
        async with asyncio.timeout_at(end - _RETRACTION_SHARE * seconds):
            await lookup.find(searches)
    except TimeoutError:
        unsettled = sum(not search.settled for search in searches)
        run.journal.record_dropped("look-up of the idea's own references", reason, unsettled)
    try:
        async with asyncio.timeout_at(end):
            await lookup.ask_for_retractions(searches)
    except TimeoutError:
        unanswered = sum(bool(lookup.list_unanswered_for_retraction(search)) for search in searches)
        run.journal.record_dropped("check of the idea's own references for retractions", reason, unanswered)


async def _judge_support(
    searches: Sequence[ReferenceSearch], passages: Sequence[CitingSentence], llm: Llm, run: Run, most: int
) -> dict[int, ClaimSupport | Absent]:
    """Return the support for each citing passage, keyed by its reference number, which starts at 1."""
    outcomes: dict[int, ClaimSupport | Absent] = {}
    asked: list[CitingPassage] = []
    for number, (search, passage) in enumerate(zip(searches, passages, strict=False), start=1):
        if reason := explain_not_asked(passage.text, search.match, llm):
            outcomes[number] = reason
        elif len(asked) >= most:
            outcomes[number] = Absent(reason="not checked: the idea has more citing passages than are checked.")
        elif search.match is not None:
            asked.append(CitingPassage(number, passage.marked, search.match.paper))
    return {**outcomes, **await passages_borne_out(asked, llm, run)}


def _entry(
    number: int,
    search: ReferenceSearch,
    passage: str,
    borne_out: ClaimSupport | Absent,
    lookup: ReferenceLookup,
    cutoff: dt.date | None,
) -> OwnReference:
    match, unanswered = search.match, lookup.list_unanswered_sources(search)
    published = match.paper.publication_date if match else None
    return OwnReference(
        number=number,
        text=search.work.raw or _compose_text(search.work),
        outcome=_outcome(search, unanswered),
        differences=(*match.differences, *filter(None, [match.note])) if match else (),
        record=ReferenceRecord.model_validate(match.paper, from_attributes=True) if match else None,
        retraction=search.retraction,
        retraction_sources_unanswered=lookup.list_unanswered_for_retraction(search),
        after_cutoff=bool(cutoff and published and published > cutoff),
        sources_answered=tuple(search.asked),
        sources_unanswered=() if search.settled else unanswered,
        passage=passage,
        passage_support=borne_out,
    )


def _outcome(search: ReferenceSearch, unanswered: tuple[str, ...]) -> OwnReferenceOutcome | Absent:
    if search.match is None:
        reason = _explain_undecided(search, unanswered)
        return Absent(reason=reason) if reason else "not_found"
    if search.retraction is not None and search.retraction.kind != "concern":
        return "retracted"
    return "differs" if search.match.differences else "found"


def _explain_undecided(search: ReferenceSearch, unanswered: tuple[str, ...]) -> str:
    """Return why an entry without a record stays undecided; an empty string if it counts as not found."""
    if not search.work.title and search.identifiers == Identifiers():
        return "neither a title nor an identifier was detected in it."
    if not search.asked:
        return "none of the sources that could be queried answered."
    if search.work.title and not is_title_told(search.work):
        return "not checked: its title could not be told."
    if unanswered and len(search.asked) == 1:
        return f"it is not in the {next(iter(search.asked))}, and no other source answered."
    return "it is a web page, and the sources contain only publications." if is_web_page(search.work.raw) else ""


def _compose_text(work: CitedWork) -> str:
    parts = [", ".join(work.authors), f"({work.year})" if work.year else "", work.title, work.doi or work.arxiv]
    return ". ".join(part for part in parts if part)


_PER_CALL = 5
_MAX_ABSTRACT_CHARS = 3_000


class CitingPassage(NamedTuple):
    number: int
    """Number of the reference."""
    claim: str
    """Passage with the citation mark of this reference replaced by `[this source]`."""
    paper: Paper


def explain_not_asked(passage: str, match: RecordMatch | None, llm: Llm) -> Absent | None:
    """Return why a passage cannot be checked against an abstract; None if it can."""
    if not llm.models:
        return Absent(reason="not checked: this needs a language model.")
    if match is None:
        return Absent(reason="not checked: no record was found.")
    if match.other_title:
        return Absent(reason="not checked: the record found has a different title.")
    if not passage:
        return Absent(reason="not checked: no passage that cites it was detected.")
    return None if match.paper.abstract.strip() else Absent(reason="not checked: its record has no abstract.")


async def passages_borne_out(
    passages: Sequence[CitingPassage], llm: Llm, run: Run
) -> Mapping[int, ClaimSupport | Absent]:
    """Return the support for each passage, keyed by the number of its reference. Raises only errors that would affect
    every passage."""
    items = [
        SupportItem(
            label="",
            claim=passage.claim,
            passage=passage.paper.abstract[:_MAX_ABSTRACT_CHARS],
            title=passage.paper.title,
        )
        for passage in passages
    ]
    found = await check_support(items, llm, run, "check of a passage against an abstract", _PER_CALL)
    return {passage.number: outcome.support for passage, outcome in zip(passages, found, strict=True)}
