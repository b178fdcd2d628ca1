"""Works that a referee model names from memory: remove duplicates, and look them up by title in the corpus and the
literature sources.

A work that is identified is read like any other paper. The others stay marked as named from memory and do not count as
evidence."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from assayer.citing.foreign_citations import find_foreign_citations
from assayer.citing.labels import strip_citations
from assayer.evaluation_context import EvaluationContext
from assayer.literature.paper_identity import build_title_key, extract_family_name
from assayer.methods.review.options import ReviewOptions
from assayer.methods.review.schemas import PriorWork, RecalledWork
from assayer.models import CitedWork, Paper
from assayer.own_references.kept_words import keep_words
from assayer.own_references.lookup import ReferenceLookup, ReferenceSearch
from assayer.own_references.titles import compare_titles
from assayer.reports.wording import format_named_work
from assayer.run.run import Run

Answer = TypeVar("Answer", bound=BaseModel)

_TITLE_CHARS = (8, 250)
"""Minimum and maximum length, in characters, of a title that is looked up."""
_KEPT = frozenset(("quote", "query", "prior_work"))
"""Fields that are left unchanged: words from the plan, search queries, and the works themselves."""
_MIN_DISTINCTIVE_WORDS = 5
"""Minimum number of words in a title for it to be unlikely to be an ordinary phrase."""
_NAME_LABEL = re.compile(r"\[(N\d{1,2})\]")
_ADDRESSES = ("an address", "an identifier")


def clean_named_works(
    context: EvaluationContext[ReviewOptions], named_works: Sequence[PriorWork]
) -> tuple[PriorWork, ...]:
    """Return the works that a referee names, without duplicates.

    Inadmissible works are dropped and recorded in the journal: works published after the cutoff, the plan's own
    publication, and works whose title cannot be looked up."""
    journal, cutoff = context.run.journal, context.run.cutoff
    works_by_title: dict[str, PriorWork] = {}
    for work in named_works:
        title = " ".join(strip_citations(work.title).split()).strip(" .\"'“”")
        author = " ".join(extract_family_name(strip_citations(work.first_author)).split())[:40]
        if not _is_title(title) or _has_address(work.title) or _has_address(work.first_author):
            journal.record_dropped("work from memory", "its title cannot be looked up")
        elif cutoff and work.year and work.year > cutoff.year:
            journal.record_dropped("work from memory", "published after the cutoff")
        elif compare_titles(CitedWork(title=title), context.idea.own_words.title) is not None:
            journal.record_dropped("work from memory", "the idea's own paper")
        elif build_title_key(title) not in works_by_title:
            changes = {"title": title, "first_author": author, "why": strip_citations(work.why).rstrip(".")}
            works_by_title[build_title_key(title)] = work.model_copy(update=changes)
    return tuple(works_by_title.values())


def _is_title(title: str) -> bool:
    fewest, most = _TITLE_CHARS
    return fewest <= len(title) <= most and build_title_key(title) != ""


def _has_address(text: str) -> bool:
    return any(item.kind in _ADDRESSES for item in find_foreign_citations(text))


def mask_titles(
    answer: Answer,
    works: Sequence[PriorWork],
    run: Run,
    labels: Sequence[str] = (),
    named: Sequence[RecalledWork] = (),
) -> Answer:
    """Return a copy of an answer with all texts cleaned.

    Titles named from memory are replaced by "earlier work", because the report prints such titles only where it marks
    them as unverified. A named work's label in brackets, such as `[N1]`, is replaced by its author and year, marked as
    from memory. Other bracketed `labels` are removed, and each text is put on one line."""
    marks = {work.label: format_named_work(work.author, work.year) for work in named}
    titles = [_build_title_pattern(work.title) for work in works]
    label = f"(?:{'|'.join(labels)})" if labels else "(?!)"
    bracketed_labels = re.compile(rf"\s*[\[(]{label}(?:\s*[,;]\s*{label})*[\])]")

    def rewrite(value: Any) -> Any:
        if isinstance(value, str):
            value = _NAME_LABEL.sub(lambda match: marks.get(match[1], match[0]), value)
            for title in titles:
                value, count = title.subn("earlier work", value)
                run.journal.record_dropped("title in a text", "the work was named from memory", count)
            return " ".join(bracketed_labels.sub("", strip_citations(value)).split())
        if isinstance(value, dict):
            return {name: item if name in _KEPT else rewrite(item) for name, item in value.items()}
        return [rewrite(item) for item in value] if isinstance(value, list) else value

    return type(answer).model_validate(rewrite(answer.model_dump()))


def _build_title_pattern(title: str) -> re.Pattern[str]:
    """Return a pattern that matches a title in any case and with any punctuation between its words. A short title could
    be an ordinary phrase, so it is matched only in quotation marks."""
    words = re.findall(r"\w+", title)
    marks = "?" if len(words) >= _MIN_DISTINCTIVE_WORDS else ""
    pattern = r"\W+".join(words)
    return re.compile(rf"[“\"'«]{marks}\b{pattern}\b[”\"'»]{marks}", re.IGNORECASE)


class LookedUp(NamedTuple):
    """Results of looking up works named from memory."""

    records: Mapping[PriorWork, Paper]
    unanswered: frozenset[PriorWork]
    """Works without a record for which a source failed, or no source could be searched."""


async def look_up_works(context: EvaluationContext[ReviewOptions], named_works: Sequence[PriorWork]) -> LookedUp:
    """Look up works by title. If a source fails, the journal records it and the others continue. Inadmissible records
    are left out."""
    if not named_works:
        return LookedUp({}, frozenset())
    masked_names = (await asyncio.to_thread(keep_words, context.idea)).masked_names
    searches = {work: ReferenceSearch(_convert_to_cited_work(work), masked_names) for work in named_works}
    lookup = ReferenceLookup(context.backends.reference_sources, context.run)
    await lookup.find([*searches.values()])
    records = {
        work: search.match.paper
        for work, search in searches.items()
        if search.match is not None and not search.match.other_title and context.library.admits(search.match.paper)
    }
    remaining_searches = {work: search for work, search in searches.items() if work not in records}
    return LookedUp(
        records,
        frozenset(
            work
            for work, search in remaining_searches.items()
            if lookup.list_unanswered_sources(search) or not search.asked
        ),
    )


def _convert_to_cited_work(work: PriorWork) -> CitedWork:
    authors = (work.first_author,) if work.first_author else ()
    return CitedWork(title=work.title, authors=authors, year=work.year)
