"""A list of references as plain text, taken apart: entries by their numbers or their form, fields where they show."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from assayer.identity import arxiv_id, doi
from assayer.models import CitedWork
from assayer.sanitise import clean_text

__all__ = ["read_references"]

_MOST = 2_000
_LONGEST_LIST = 400_000
"""Characters that are looked at."""
_LONGEST = 1_500
"""Characters of an entry; what is longer was not split rightly and only its identifiers are kept."""
_MARK = re.compile(r"(?:(?<=\s)|^)(?:\[(?P<bracket>\d{1,3})\]|(?P<dot>\d{1,3})\.)\s+(?=[^\W\d_])")
_PERSON = r"[^\W\d_][\w'’-]{0,30}\.?(?: (?!and\b)[^\W\d_][\w'’-]{0,30}\.?){0,3}"
_NAMES_FIRST = re.compile(
    rf"(?<=[.\d])\s+(?=(?:{_PERSON}(?:, and |, | and )){{1,30}}+{_PERSON}\. (?:19|20)\d\d[a-z]?\.)"
    r"|(?<=[.\d])\s+(?=[A-Z][\w'’-]{1,30},? (?:[A-Z]\.[ -]?){1,4}[,&;(])"
)
"""Where `Ann Lee, Bo Chen, and Cy Diaz. 2019.` or `Lee, A., Chen, B. (2019)` begins an entry."""
_YEAR = re.compile(
    r"\((?P<a>(?:19|20)\d\d)[a-z]?\)"
    r"|[.,;] (?P<b>(?:19|20)\d\d)[a-z]?(?=[.,;:)]|$)"
    r"|\b(?P<c>(?:19|20)\d\d)\b(?!\.\d{4})"
)
_ARXIV = re.compile(
    r"(?:arxiv[:.\s]*(?:preprint\s*)?(?:arxiv:)?|arxiv\.org/(?:abs|pdf)/)(\d{4}\.\d{4,5}|[a-z-]+/\d{7})", re.IGNORECASE
)
_ADDRESS = re.compile(r"(?:https?://|doi:\s*|arxiv:)\S+", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“](.{8,}?)[,.?!]?[\"”]")
_AFTER_YEAR = re.compile(r"(?:\((?:19|20)\d\d[a-z]?\)\.?|\. (?:19|20)\d\d[a-z]?\.)\s+")
_SENTENCE_END = re.compile(r"(?<![A-Z])(?<!\bal)(?<!\bVol)(?<!\bNo)[.?!]\s+(?=[\"“(]?[^\W\d_])")
_TITLE_END = re.compile(r"[.?!](?:\s|$)")
_INITIALS = re.compile(r"[A-Z](?:\.? ?-?[A-Z]){0,3}\.?")
_SURNAME_FIRST = re.compile(r"(?:(?:and|&) )?(?:[^\W\d_][\w'’-]+ ){1,4}[A-ZÀ-ÖØ-Þ]{1,3}(?:-[A-Z])?|et al")
"""`Van der Linden ML`: a name as medical journals print it."""
_AND = re.compile(r"\s*(?:,\s*(?:and|&)\s+|\s(?:and|&)\s+|;\s*|,\s+)")


class _Fields(NamedTuple):
    authors: tuple[str, ...]
    title: str


def read_references(text: str) -> tuple[CitedWork, ...]:
    """One for each entry that can be told from its neighbours; `raw` is all of it, other fields as far as they show."""
    text = text[:_LONGEST_LIST]
    entries = _numbered(text) or _unnumbered(text)
    works = (_work(" ".join(entry.split())) for entry in entries[:_MOST])
    return tuple(work for work in works if work.raw)


def _numbered(text: str) -> list[str]:
    """Entries from 1 on, each beginning with the next number; empty unless there are at least three."""
    for style in ("bracket", "dot"):
        cuts: list[re.Match[str]] = []
        for match in _MARK.finditer(text):
            if match[style] is not None and int(match[style]) == len(cuts) + 1:
                cuts.append(match)
        if len(cuts) >= 3:
            ends = [*(cut.start() for cut in cuts[1:]), len(text)]
            return [text[cut.end() : end] for cut, end in zip(cuts, ends, strict=True)]
    return []


def _unnumbered(text: str) -> list[str]:
    """Paragraphs, cut where another list of authors begins; what has no year belongs to what stands before it."""
    entries: list[list[str]] = []
    complete = True  # the last entry has its year
    for paragraph in re.split(r"\n\s*\n", text):
        for piece in _NAMES_FIRST.split(" ".join(paragraph.split())):
            dated = bool(_YEAR.search(piece))
            if complete and (dated or not entries):
                entries.append([piece])
                complete = dated
            else:
                entries[-1].append(piece)
                complete = complete or dated
    return [" ".join(pieces) for pieces in (entries if complete else entries[:-1])]


def _work(entry: str) -> CitedWork:
    arxiv = _ARXIV.search(entry)
    fields = _fields(_ADDRESS.sub("", entry)) if len(entry) <= _LONGEST else _Fields((), "")
    return CitedWork(
        title=clean_text(fields.title),
        authors=tuple(map(clean_text, fields.authors)),
        year=_year(entry),
        doi=doi(entry),
        arxiv=arxiv_id(arxiv[1]) if arxiv else "",
        raw=clean_text(entry[:_LONGEST]),
    )


def _year(entry: str) -> int | None:
    """The one in brackets or between points, else the last; never one in an address or an arXiv id."""
    found = list(_YEAR.finditer(_ARXIV.sub("", _ADDRESS.sub("", entry))))
    for kind in ("a", "b", "c"):
        years = [match[kind] for match in found if match[kind]]
        if years:
            return int(years[-1] if kind == "c" else years[0])
    return None


def _fields(entry: str) -> _Fields:
    if quoted := _QUOTED.search(entry):
        return _Fields(_people(entry[: quoted.start()]), quoted[1])
    if dated := _AFTER_YEAR.search(entry):
        title = _SENTENCE_END.split(entry[dated.end() :], maxsplit=1)[0]
        if 8 <= len(title) <= 300 and _people(entry[: dated.start()]):
            return _Fields(_people(entry[: dated.start()]), title.rstrip("."))
    if authored := _surnames_first(entry):
        return authored
    sentences = _SENTENCE_END.split(entry, maxsplit=2)
    if len(sentences) >= 2 and 8 <= len(sentences[1]) <= 300 and _people(sentences[0]):
        return _Fields(_people(sentences[0]), sentences[1].rstrip("."))
    return _Fields((), "")


def _surnames_first(entry: str) -> _Fields | None:
    """`Lee A, Chen B. A title. A journal.`, where the point after the initials ends the list of authors."""
    listed, point, rest = entry.partition(". ")
    names = [name.strip() for name in listed.split(",")]
    if not point or not all(map(_SURNAME_FIRST.fullmatch, names)):
        return None
    title = _TITLE_END.split(rest, maxsplit=1)[0]
    people = tuple(re.sub(r"^(?:and|&) ", "", name) for name in names if name != "et al")
    return _Fields(people, title) if len(title) >= 8 else None


def _people(text: str) -> tuple[str, ...]:
    """Names as they are printed; none when the text does not look like a list of names."""
    text = re.sub(r"\bet al\b\.?|\(?\beds?\b\.?\)?", "", text).strip(" .,;")
    if not text or len(text) > 600 or re.search(r"\d", text):
        return ()
    names = list(_joined(part.strip(" .,") for part in _AND.split(text)))
    return tuple(names) if all(len(name.split()) <= 6 for name in names) else ()


def _joined(parts: Iterator[str]) -> Iterator[str]:
    """`Lee` and the initials that follow it are one name."""
    name = ""
    for part in parts:
        if name and _INITIALS.fullmatch(part):
            yield f"{name}, {part}"
            name = ""
            continue
        if name:
            yield name
        name = part
    if name:
        yield name
