"""Parses a list of references given as plain text or Markdown: entries by their marks, numbers or form, fields where
they show."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from assayer.literature.paper_identity import arxiv_id, doi
from assayer.models import CitedWork
from assayer.text.sanitise import clean_text

__all__ = ["parse_references"]

_MOST = 2_000
_LONGEST_LIST = 400_000
"""Characters that are looked at."""
_LONGEST = 1_500
"""Characters of an entry; what is longer was not split rightly and only its identifiers are kept."""
_MARK = re.compile(r"(?:(?<=\s)|^)(?:\[(?P<bracket>\d{1,3})\]|(?P<dot>\d{1,3})\.)\s+(?=[^\W\d_])")
_ITEM = re.compile(
    r"^ {0,3}(?:[-*+•–] +|\[\^?(?P<key>[\w+-]{1,24})\]:? +|\((?P<round>\d{1,3})\) +|(?P<number>\d{1,3})[.)] +)(?=\S)"
)
"""A line that begins an item of a list: a bullet, a number, a key in brackets, a footnote."""
_NUMBER = re.compile(r"[0-9]{1,3}")
_INDENTED = re.compile(r"(?: {2,}|\t)\S")
_LINK = re.compile(r"\[(?P<words>[^\[\]]{1,400})\]\(<?(?P<address>[^()\s<>]{1,400})>?\)")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=[^\s_])_{1,3}(?!\w)|`")
_ENTRY_END = re.compile(r"(?:[.)\]\d]|https?://\S{1,400})\s*$")
_ET_AL = re.compile(r"\bet al\b\.?[,;:]?\s+(?:\(?(?:19|20)\d\d[a-z]?\)?[.,:]?\s+)?")
_LINKED_WORDS = 3
"""A link of fewer words leads to a paper and does not name it."""
_LEAST_LINE = 30
"""Characters; a shorter line is no entry by itself."""
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
_SENTENCE_END = re.compile(r"(?<!\b[A-ZÀ-ÖØ-Þ])(?<!\bal)(?<!\bVol)(?<!\bNo)[.?!]\s+(?=[\"“(]?[^\W\d_])")
_TITLE_END = re.compile(r"[.?!](?:\s|$)")
_INITIALS = re.compile(r"[A-Z](?:\.? ?-?[A-Z]){0,3}\.?")
_SURNAME_FIRST = re.compile(r"(?:(?:and|&) )?(?:[^\W\d_][\w'’-]+ ){1,4}[A-ZÀ-ÖØ-Þ]{1,3}(?:-[A-Z])?|et al")
"""`Van der Linden ML`: a name as medical journals print it."""
_MORE_NAMES = re.compile(r"[^\W\d_][\w'’-]{1,30}(?:,| and | & )")
_AND = re.compile(r"\s*(?:,\s*(?:and|&)\s+|\s(?:and|&)\s+|;\s*|,\s+)")


class _Entry(NamedTuple):
    text: str
    number: int | None = None


class _Fields(NamedTuple):
    authors: tuple[str, ...]
    title: str


def parse_references(text: str) -> tuple[CitedWork, ...]:
    """One for each entry that can be told from its neighbours; `raw` is all of it, other fields as far as they show."""
    text = text[:_LONGEST_LIST]
    entries = _numbered(text) or _items(text) or [_Entry(one) for one in _unnumbered(text)]
    works = (_work(" ".join(one.text.split())).model_copy(update={"number": one.number}) for one in entries[:_MOST])
    return tuple(work for work in works if work.raw)


def _items(text: str) -> list[_Entry]:
    """Items of a list, each from its mark to the next one; empty unless the text begins with a mark, and each number is
    the next one. Numbers in square brackets may be any."""
    entries: list[list[str]] = []
    numbers: list[int | None] = []
    for line in text.split("\n"):
        item = _ITEM.match(line)
        number = (item["number"] or item["round"]) if item else None
        if item and (number is None or int(number) == len(entries) + 1):
            entries.append([line[item.end() :]])
            key = number or item["key"] or ""
            numbers.append(int(key) if _NUMBER.fullmatch(key) else None)
        elif entries:
            entries[-1].append(line)
        elif line.strip():
            return []
    return [_Entry("\n".join(lines), number) for lines, number in zip(entries, numbers, strict=True)]


def _numbered(text: str) -> list[_Entry]:
    """Entries from 1 on, each beginning with the next number; empty unless there are at least three."""
    for style in ("bracket", "dot"):
        cuts: list[re.Match[str]] = []
        for match in _MARK.finditer(text):
            if match[style] is not None and int(match[style]) == len(cuts) + 1:
                cuts.append(match)
        if len(cuts) >= 3:
            ends = [*(cut.start() for cut in cuts[1:]), len(text)]
            places = enumerate(zip(cuts, ends, strict=True), start=1)
            return [_Entry(text[cut.end() : end], number) for number, (cut, end) in places]
    return []


def _unnumbered(text: str) -> list[str]:
    """Paragraphs, cut where another list of authors begins; what has no year belongs to what stands before it."""
    entries: list[list[str]] = []
    complete = True  # the last entry has its year
    for paragraph in re.split(r"\n\s*\n", text):
        for piece in _pieces(paragraph):
            dated = bool(_YEAR.search(piece))
            if complete and (dated or not entries):
                entries.append([piece])
                complete = dated
            else:
                entries[-1].append(piece)
                complete = complete or dated
    return [" ".join(pieces) for pieces in (entries if complete else entries[:-1])]


def _pieces(paragraph: str) -> Iterator[str]:
    """Lines where each is an entry by itself, or where those of one entry are indented; else where names begin anew."""
    lines = [line for line in paragraph.split("\n") if line.strip()]
    indented = [bool(_INDENTED.match(line)) for line in lines]
    if len(lines) > 1 and all(map(_is_entry, lines)):
        yield from (" ".join(line.split()) for line in lines)
    elif any(indented) and not indented[0]:
        starts = [place for place, inside in enumerate(indented) if not inside]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            yield " ".join(" ".join(lines[start:end]).split())
    else:
        yield from _NAMES_FIRST.split(" ".join(paragraph.split()))


def _is_entry(line: str) -> bool:
    return len(line) >= _LEAST_LINE and bool(_YEAR.search(line)) and bool(_ENTRY_END.search(line[-500:]))


def _work(entry: str) -> CitedWork:
    linked = _LINK.search(entry)
    entry = _EMPHASIS.sub("", _LINK.sub(r"\g<words> \g<address>", entry))
    arxiv = _ARXIV.search(entry)
    fields = _fields(_ADDRESS.sub("", entry)) if len(entry) <= _LONGEST else _Fields((), "")
    if linked and len(linked["words"].split()) >= _LINKED_WORDS:
        fields = _Fields(fields.authors, _EMPHASIS.sub("", linked["words"]).strip(" .,"))
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
    """By the first way that fits."""
    ways = (_quoted, _after_year, _after_et_al, _title_before_names, _surnames_first, _second_sentence)
    return next((fields for way in ways if (fields := way(entry))), _Fields((), ""))


def _quoted(entry: str) -> _Fields | None:
    quoted = _QUOTED.search(entry)
    return _Fields(_people(entry[: quoted.start()]), quoted[1]) if quoted else None


def _after_year(entry: str) -> _Fields | None:
    dated = _AFTER_YEAR.search(entry)
    return _titled(entry[: dated.start()], entry[dated.end() :]) if dated else None


def _after_et_al(entry: str) -> _Fields | None:
    others = _ET_AL.search(entry)
    return _titled(entry[: others.start()], entry[others.end() :]) if others else None


def _second_sentence(entry: str) -> _Fields | None:
    sentences = _SENTENCE_END.split(entry, maxsplit=1)
    return _titled(sentences[0], sentences[1]) if len(sentences) > 1 else None


def _titled(names: str, rest: str) -> _Fields | None:
    """Names, and the sentence that follows them."""
    people, title = _people(names), _SENTENCE_END.split(rest, maxsplit=1)[0]
    return _Fields(people, title.rstrip(".,")) if people and 8 <= len(title) <= 300 else None


def _title_before_names(entry: str) -> _Fields | None:
    """`A title (Lee et al., 2019)`."""
    title, bracket, rest = entry.partition(" (")
    named, comma, year = rest.partition(")")[0].rpartition(" ")
    people = _people(named)
    if bracket and comma and people and 8 <= len(title) <= 300 and re.fullmatch(r"(?:19|20)\d\d[a-z]?", year):
        return _Fields(people, title.rstrip(".,"))
    return None


def _surnames_first(entry: str) -> _Fields | None:
    """`Lee A, Chen B. A title. A journal.`, where the point after the initials ends the list of authors."""
    listed, point, rest = entry.partition(". ")
    names = [name.strip() for name in listed.split(",")]
    if not point or not all(map(_SURNAME_FIRST.fullmatch, names)):
        return None
    if len(names) == 1 and _MORE_NAMES.match(rest):  # `Ann J. Lee, Bo Chen`
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
