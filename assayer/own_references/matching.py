"""Decide whether a record is the work that an entry refers to, and list their differences.

A common identifier decides. Otherwise the titles must be the same, or the entry must contain the record's title and its
first author. If titles are only similar (a missing subtitle, a misspelt word, added words), the year must also agree.
Every sign of a different work is reported: added words, other names, another identifier."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from assayer.literature.paper_identity import (
    build_title_key,
    extract_family_name,
    map_identifiers_by_scheme,
    normalise_title,
)
from assayer.models import CitedWork, Identifiers, Paper
from assayer.own_references.names import are_comparable, is_group, is_named_in, names_may_match
from assayer.own_references.titles import (
    TELLING,
    compare_titles,
    ends_title_in_entry,
    has_more_subtitle,
    is_followed_by_name,
    is_other_title,
    may_be_before_journal,
)
from assayer.reference_lists.entry_shape import UNREADABLE, strip_mark
from assayer.reference_lists.telling_title import is_title_told

_VERSIONS, _KNOWN_VERSIONS = 1, 3
"""Maximum years between a preprint and its publication that do not count as a difference, and maximum if the DOI shows
that one of the two is a preprint."""
_PREPRINT = re.compile(
    r"10\.(?:1101|48550|2139|31234|31235|31219|31222|31223|21203|26434|20944|22541|36227|7287|12688|32942|1002/essoar)\b"
)
"""DOI of a preprint server: bioRxiv, arXiv, SSRN, PsyArXiv, OSF, Research Square, ChemRxiv and others."""
_CUT_OFF = 100
"""Number of authors at or above which a source may have truncated a record's author list."""
_MIN_REREAD = 16
"""Minimum number of letters in a title that is looked for elsewhere in an entry."""
_MAX_LISTED = 3
"""Maximum number of names listed for authors that the record lacks."""
_INITIAL = re.compile(r"\b[^\W\d_]\b")
_IDENTIFIER = re.compile(r"(?:https?://|doi:|10\.\d{4,9}/|arxiv:)\S*|\d{4}\.\d{4,5}", re.IGNORECASE)


class RecordMatch(NamedTuple):
    paper: Paper
    differences: tuple[str, ...]
    """Differences between the entry and the record, one sentence each."""
    note: str = ""
    """Deviation that does not count as a difference: a subtitle that the record lacks."""
    other_title: bool = False
    """True if the record has a different title and may be a different work."""


_Likeness = Literal["identifier", "same", "alike"]
_PREFERENCE: dict[_Likeness, int] = {"identifier": 2, "same": 1, "alike": 0}


def find_best_match(work: CitedWork, records: Sequence[Paper]) -> RecordMatch | None:
    """Return the record of the same work with the fewest differences; None if no record belongs to that work."""
    readings = ((_reread(work, paper), paper) for paper in records)
    matches = [(read, paper, likeness) for read, paper in readings if (likeness := _measure_likeness(read, paper))]
    if not matches:
        return None
    judged = [(likeness, _match_with_differences(read, paper, likeness)) for read, paper, likeness in matches]
    return min(judged, key=lambda item: (len(item[1].differences), -_PREFERENCE[item[0]]))[1]


def _reread(work: CitedWork, paper: Paper) -> CitedWork:
    """Return the entry with the record's title in place of another part of the entry that was read as the title. The
    entry must have the whole title and the year of the record, and its first author unless it begins with the title."""
    ours, theirs = build_title_key(work.title), build_title_key(paper.title)
    begins = len(theirs) >= TELLING and build_title_key(strip_mark(work.raw)).startswith(theirs)
    is_part = ours and ours in theirs and not begins
    if not paper.authors or theirs in ours or is_part or not ends_title_in_entry(work, paper.title):
        return work
    reread = work.model_copy(update={"title": paper.title, "authors": ()})
    is_same = begins or (len(theirs) >= _MIN_REREAD and is_named_in(paper.authors[0], normalise_title(work.raw)))
    return reread if is_same and _year_agrees(reread, paper) else work


def _measure_likeness(work: CitedWork, paper: Paper) -> _Likeness | None:
    if _find_shared_schemes(work, paper):
        return "identifier"
    titles = compare_titles(work, paper.title)
    if titles is None:
        return None
    author, year = _shares_author(work, paper), _year_agrees(work, paper)
    if titles == "same" and build_title_key(work.title) == build_title_key(paper.title):
        # Different works often share a short title: `Deep learning`.
        distinctive = len(build_title_key(paper.title)) >= TELLING
        unnamed = not work.authors and not paper.authors and year is None
        return "same" if distinctive or author or (author is None and year) or unnamed else None
    # Names in two scripts cannot be compared, so the year must confirm a long title.
    stands = (
        titles != "alike" and year and len(build_title_key(paper.title)) >= TELLING and _are_in_two_scripts(work, paper)
    )
    if not author and not stands:
        return None
    if titles == "same":
        return "same"
    return "alike" if year is not False else None


def _find_shared_schemes(work: CitedWork, paper: Paper) -> set[str]:
    """Return the schemes of the identifiers that the entry and the record share."""
    ours, theirs = _collect_identifiers(work), map_identifiers_by_scheme(paper.identifiers)
    return {scheme for scheme, value in ours.items() if theirs.get(scheme) == value}


def _collect_identifiers(work: CitedWork) -> dict[str, str]:
    return map_identifiers_by_scheme(Identifiers(doi=work.doi, arxiv=work.arxiv))


def _shares_author(work: CitedWork, paper: Paper) -> bool | None:
    """Return whether the entry names the record's first author, or the record the entry's; None if the entry or the
    record names no authors."""
    if not paper.authors or _are_in_two_scripts(work, paper):
        return None
    if work.authors:
        if any(names_may_match(work.authors[0], author) for author in paper.authors):
            return True
    elif not work.raw or not _remove_title(work):
        return None
    if is_named_in(paper.authors[0], _remove_title(work)):
        return True
    return False if work.authors else None


def _are_in_two_scripts(work: CitedWork, paper: Paper) -> bool:
    """Return whether the first author of the entry and that of the record are written in different scripts."""
    return bool(work.authors and paper.authors) and not are_comparable(work.authors[0], paper.authors[0])


def _remove_title(work: CitedWork) -> str:
    """Return the entry without its title."""
    return work.raw.replace(work.title, " ", 1) if work.title else work.raw


def remove_identifiers(entry: str) -> str:
    """Return the entry without addresses, DOIs and arXiv ids."""
    return _IDENTIFIER.sub(" ", entry)


def _year_agrees(work: CitedWork, paper: Paper) -> bool | None:
    if work.year is None or paper.publication_date is None:
        return None
    year = paper.publication_date.year
    stated = re.findall(r"\b(?:1[5-9]|20)\d\d(?=[a-z]?\b)", remove_identifiers(_remove_title(work)))
    versions = _KNOWN_VERSIONS if _are_versions(work.doi, paper.identifiers.doi) else _VERSIONS
    return abs(work.year - year) <= versions or str(year) in stated


def _are_versions(ours: str, theirs: str) -> bool:
    """Return whether one of two DOIs is that of a preprint, and the other that of a publication."""
    return bool(ours and theirs) and bool(_PREPRINT.match(ours)) != bool(_PREPRINT.match(theirs))


def _match_with_differences(work: CitedWork, paper: Paper, likeness: _Likeness) -> RecordMatch:
    title = _title_difference(work, paper, likeness)
    found = [
        title,
        _describe_name_differences(work, paper),
        _years_differ(work, paper),
        *_identifiers_differ(work, paper),
    ]
    note = f"The record has no such subtitle: “{paper.title}”." if has_more_subtitle(work, paper.title) else ""
    return RecordMatch(paper, tuple(filter(None, found)), note, other_title=bool(title))


def _title_difference(work: CitedWork, paper: Paper, likeness: _Likeness) -> str:
    if likeness == "identifier" and is_title_told(work) and is_other_title(work, paper.title):
        name = f"arXiv id {work.arxiv}" if "doi" not in _find_shared_schemes(work, paper) else f"DOI {work.doi}"
        return f"The {name} belongs to a work with a different title: “{paper.title}”."
    if compare_titles(work, paper.title) != "alike" or UNREADABLE.search(work.title):
        return ""
    if not work.title and is_followed_by_name(work, paper):
        return ""
    if not is_title_told(work) and may_be_before_journal(work, paper.title) and _year_agrees(work, paper) is not False:
        return ""  # the end of the title cannot be told from a journal after it
    if not work.title:
        return f"The entry continues after the record's title: “{paper.title}”."
    return f"The entry's title is “{work.title}”, the record's “{paper.title}”."


def _describe_name_differences(work: CitedWork, paper: Paper) -> str:
    """Return how the authors differ, or an empty string. The first authors are compared; then authors missing from the
    record are listed, unless the record is known to be incomplete."""
    named, known = _choose_compared_authors(work.authors), _choose_compared_authors(paper.authors)
    if not named or not known or not are_comparable(named[0], known[0]) or is_group(named[0]) != is_group(known[0]):
        return ""
    if len(named) > 1 and _is_rest_of_entry_above(named) and names_may_match(named[1], known[0]):
        named = named[1:]
    if not names_may_match(named[0], known[0]):
        return f"The entry names {named[0]} first, the record {known[0]}."
    if len(known) >= _CUT_OFF or any(map(_is_placeholder, paper.authors)):
        return ""
    people = (item for item in named[1:] if len(build_title_key(extract_family_name(item))) > 1)  # skip stray initials
    missing = [
        person
        for person in people
        if all(are_comparable(person, it) and not names_may_match(person, it) for it in known)
    ]
    others = f" and {len(missing) - _MAX_LISTED} more" if len(missing) > _MAX_LISTED else ""
    return f"The entry names {', '.join(missing[:_MAX_LISTED])}{others}, but the record does not." if missing else ""


def _is_rest_of_entry_above(named: Sequence[str]) -> bool:
    """Return whether the first of the names is not in the form of the others: a journal at the end of the previous
    entry, as in `Rail Letters, Tilman, D.`"""
    words = named[0].split()
    return len(words) > 1 and all(len(word) > 2 for word in words) and all(_INITIAL.search(name) for name in named[1:])


def _choose_compared_authors(authors: Sequence[str]) -> list[str]:
    """Return the people among the authors, or the organisations if there are no people. For the same work, some records
    name a collaboration first, others last or not at all."""
    named = [author for author in authors if not _is_placeholder(author)]
    return [author for author in named if not is_group(author)] or named


def _is_placeholder(author: str) -> bool:
    """Return whether an author entry is a placeholder for further authors."""
    return build_title_key(author) in ("", "al", "etal", "other", "others", "andothers", "colleagues")


def _years_differ(work: CitedWork, paper: Paper) -> str:
    if paper.publication_date is None or _year_agrees(work, paper) is not False:
        return ""
    return f"The entry is dated {work.year}, the record {paper.publication_date.year}."


def _identifiers_differ(work: CitedWork, paper: Paper) -> list[str]:
    """Return the differences in DOI and arXiv id, for the kinds of identifier that the record has. A preprint and its
    publication are allowed to have different identifiers."""
    ours, theirs = _collect_identifiers(work), map_identifiers_by_scheme(paper.identifiers)
    return [
        f"The entry gives the {name} {ours[scheme]}, the record {theirs[scheme]}."
        for scheme, name in (("doi", "DOI"), ("arxiv", "arXiv id"))
        if scheme in ours
        and scheme in theirs
        and build_title_key(ours[scheme]) != build_title_key(theirs[scheme])  # a hyphen at a line end may be lost
        and not (scheme == "doi" and _are_versions(ours[scheme], theirs[scheme]))
        and not _is_cut(ours[scheme].casefold(), theirs[scheme].casefold())
    ]


def _is_cut(ours: str, theirs: str) -> bool:
    """Return whether an identifier is the beginning of another: a DOI may be cut at a line end, and a PDF may lack its
    underscore."""
    return theirs.startswith(ours) and (ours.endswith("-") or theirs[len(ours) : len(ours) + 1] in tuple("._:("))
