"""References in BibTeX: the entries of a `.bib` file, of an export from Zotero or Mendeley, or of a block in a text."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from assayer.literature.paper_identity import parse_arxiv_id
from assayer.models import CitedWork
from assayer.reference_lists.identifiers import arxiv_ids_in, dois_in
from assayer.text.tex import strip_tex

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_ENTRY = re.compile(r"^\s{0,8}@[A-Za-z]{3,20}\s{0,3}[{(]\s{0,3}[^\s,{}]{1,200}\s{0,3},", re.MULTILINE)
_BEGINNING = re.compile(r"^[^\S\n]*(?=@[A-Za-z]{1,40}\s{0,9}[{(])", re.MULTILINE)
_OPENING = re.compile(r"@(?P<kind>[A-Za-z]{1,40})\s{0,9}(?P<bracket>[{(])")
_KEY = re.compile(r"(?P<key>[^,={}]*+)(?:,|(?=\}))")
_BETWEEN = re.compile(r"[\s,]*(?:%[^\n]*[\s,]*)*")
_NAME = re.compile(r"(?P<name>[^,={}()\"#]{1,80}?)\s*=\s*")
_BARE = {"}": re.compile(r"[^,#}\n]*"), ")": re.compile(r"[^,#)\n]*")}
_NEXT_PART = re.compile(r"\s*#\s*")
_BRACKETS = re.compile(r"\\.|[{}\"]", re.DOTALL)
AMSREFS = re.compile(r"\\bib\*?\s*\{(?P<key>[^{}\s]{1,200})\}\s*\{(?P<type>\w{3,20})\}\s*\{")
"""Pattern for the beginning of an entry of the LaTeX package amsrefs."""
_AMSREFS_AUTHOR = re.compile(r"\b(?P<field>author|editor)\s*=\s*\{(?P<name>(?:[^{}]|\{[^{}]*\})*)\}\s*,?")
_INHERITED = re.compile(r"[,\s]+")
_MAX_PARENTS = 5
"""Maximum number of entries from which an entry takes fields, one from another."""
_NAME_PARTS = re.compile(
    r"(?P<part>family|given|prefix|suffix)\s*=\s*(?:\{(?P<braced>[^{}]*)\}|(?P<bare>[^,]*))", re.IGNORECASE
)
_AMSREFS_BOOK = re.compile(
    r"\b(?:book|conference)\s*=\s*\{(?P<inner>(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\}){1,2000})\}\s*,?"
)
_AND = re.compile(r"\s+and\s+(?![^{]*\})", re.IGNORECASE)
VENUES = (
    "journal", "journaltitle", "booktitle", "maintitle", "publisher", "school", "institution", "organization",
)  # fmt: skip
"""Fields that name the venue in which a work appeared."""
_ANGLES = re.compile(r"\{?\\text(less|greater)\b\s*(?:\{\})?\}?")
_OTHERS = ("others", "et al", "et al.")
_OWN_FIELDS = ("title", "subtitle", "author", "editor", "doi", "eprint", "url", "crossref", "xdata", "note", "abstract")
"""Fields that an entry does not take from another."""
_MAX_CHARS = 5_000_000
_SHOWN = 80


class BibtexEntries(NamedTuple):
    works: Mapping[str, CitedWork]
    """Works keyed by citation key, in file order."""
    fields: Mapping[str, Mapping[str, str]]
    """Fields of each entry as plain text, keyed by lower-case name; `entrytype` is the kind of the entry."""
    unparsed_entries: tuple[str, ...]
    """Beginnings of entries that could not be parsed."""


def has_bibtex_entry(text: str) -> bool:
    """Return whether a text contains a BibTeX entry."""
    return _ENTRY.search(text) is not None


def amsrefs_as_bibtex(text: str) -> str:
    """Convert the amsrefs entries in a text to BibTeX: the key moves inside the braces, and the authors share one
    field."""
    parts = AMSREFS.split(text)
    written = [parts[0]]
    for key, kind, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        names: dict[str, list[str]] = {}
        for match in _AMSREFS_AUTHOR.finditer(body):
            names.setdefault(match["field"], []).append(match["name"])
        listed = "".join(f"{field}={{{' and '.join(people)}}},\n" for field, people in names.items())
        book = _AMSREFS_BOOK.search(body)
        rest = _AMSREFS_BOOK.sub(_format_book, body) if book else body
        written.append(f"\n@{kind}{{{key},\n{listed}{_AMSREFS_AUTHOR.sub('', rest)}")
    return "".join(written)


def _format_book(match: re.Match[str]) -> str:
    """Return the fields of the book in which a work appeared: of its own, or of another entry that it names."""
    inner = match["inner"]
    if "=" not in inner:
        return f"crossref = {{{inner}}},"
    return re.sub(r"\btitle(?=\s*=)", "booktitle", _AMSREFS_AUTHOR.sub("", inner)).rstrip(", \n") + ","


def read_bibtex(text: str) -> BibtexEntries:
    """Read BibTeX entries. Text around them is ignored; a broken entry does not affect the others. If several entries
    have the same key, the first is kept."""
    entries: dict[str, _Entry] = {}
    unparsed_entries: list[str] = []
    for number, entry in enumerate(_entries(text[:_MAX_CHARS]), 1):
        if isinstance(entry, str):
            unparsed_entries.append(" ".join(entry.split())[:_SHOWN])
        else:
            entries.setdefault(entry.key or f"entry-{number}", entry)
    by_key = {key.casefold(): entry for key, entry in entries.items()}
    works: dict[str, CitedWork] = {}
    fields: dict[str, Mapping[str, str]] = {}
    for key, entry in entries.items():
        if entry.kind != "xdata":
            raw = _inherit(entry, by_key)
            fields[key] = {name: strip_tex(value) for name, value in raw.items()} | {"entrytype": entry.kind}
            works[key] = _work(raw, fields[key])
    return BibtexEntries(works, fields, tuple(unparsed_entries))


def _inherit(entry: "_Entry", by_key: Mapping[str, "_Entry"]) -> Mapping[str, str]:
    """Return the fields of an entry with those that it takes from the entries named in `crossref` and `xdata`. The
    title of a book becomes the `booktitle` of its chapters."""
    fields, parent = dict(entry.fields), entry
    for _ in range(_MAX_PARENTS):
        for name in filter(None, _INHERITED.split(parent.fields.get("xdata", ""))):
            fields = {**(by_key[name.casefold()].fields if name.casefold() in by_key else {}), **fields}
        above = by_key.get(parent.fields.get("crossref", "").strip().casefold())
        if above is None or above is parent:
            break
        taken = {name: value for name, value in above.fields.items() if name not in _OWN_FIELDS}
        if "title" in above.fields:
            taken.setdefault("booktitle", above.fields["title"])
        fields, parent = {**taken, **fields}, above
    return fields


class _Entry(NamedTuple):
    kind: str
    key: str
    fields: Mapping[str, str]
    """Fields as written, keyed by lower-case name; of several fields with one name, the first is kept."""


def _entries(text: str) -> Iterator[_Entry | str]:
    """Yield the entries, and the raw text of broken ones. Every entry that begins on its own line is parsed separately,
    so that an unclosed brace breaks only one entry."""
    macros: dict[str, str] = {}
    for part in _BEGINNING.split(text)[1:]:
        position = 0
        while opening := _OPENING.search(part, position):
            kind, inside = opening["kind"].lower(), opening.end()
            if kind in ("comment", "preamble"):
                position = _closed(part, inside - 1) or len(part)
                continue
            key = None if kind == "string" else _KEY.match(part, inside)
            closing = "}" if opening["bracket"] == "{" else ")"
            fields: dict[str, str] = {}
            end = _read_fields(part, key.end() if key else inside, closing, macros, fields)
            if end is None:
                yield part[opening.start() :]
                break
            position = end
            if kind == "string":
                macros |= fields
            else:
                yield _Entry(kind, key["key"].strip() if key else "", fields)


def _read_fields(
    text: str, position: int, closing: str, macros: Mapping[str, str], fields: dict[str, str]
) -> int | None:
    """Add the fields from a position on. Returns the position after the closing bracket, or None if there is none."""
    while not text.startswith(closing, position := _find_end(_BETWEEN, text, position)):
        name = _NAME.match(text, position)
        parts: list[str] = []
        end = None if name is None else _read_value(text, name.end(), closing, macros, parts)
        if name is None or end is None:
            return None
        position = end
        fields.setdefault(name["name"].casefold(), "".join(parts))
    return position + 1


def _read_value(text: str, position: int, closing: str, macros: Mapping[str, str], parts: list[str]) -> int | None:
    """Add the parts of a value, joined by `#`. Returns the position after it, or None if a part is not closed."""
    while True:
        if text.startswith(("{", '"'), position):
            end = _closed(text, position)
            if end is None:
                return None
            parts.append(text[position + 1 : end - 1])
        else:
            end = _find_end(_BARE[closing], text, position)
            bare = text[position:end].strip()
            parts.append(macros.get(bare.casefold(), bare))
        following = _NEXT_PART.match(text, end)
        if following is None:
            return end
        position = following.end()


def _find_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return where the pattern's match at the position ends; the position itself if there is no match."""
    match = pattern.match(text, position)
    return match.end() if match else position


def _closed(text: str, start: int) -> int | None:
    """Return the position after the braces or quotation marks that open at `start`; None if they are not closed."""
    quoted, depth = text[start] == '"', 0
    for mark in _BRACKETS.finditer(text, start + quoted):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if not depth and mark[0] == ('"' if quoted else "}"):
            return mark.end()
    return None


def _work(raw: Mapping[str, str], plain: Mapping[str, str]) -> CitedWork:
    year = _YEAR.search(plain.get("year", "")) or _YEAR.search(plain.get("date", ""))
    addresses = " ".join(plain.get(name, "") for name in ("url", "howpublished", "note", "journal"))
    authors = parse_bibtex_names(raw.get("author") or raw.get("editor") or "")
    title, subtitle = plain.get("title", "").rstrip("."), plain.get("subtitle", "").rstrip(".")
    if subtitle:
        title = f"{title}{'' if title[-1:] in ('?', '!', ':') else ':'} {subtitle}".strip()
    eprint = plain.get("eprint", "")
    name = _ANGLES.sub(lambda match: "<" if match[1] == "less" else ">", raw.get("doi", ""))
    identified = f"{strip_tex(name)} {addresses}".replace("\\_", "_")
    work = CitedWork(
        title=title,
        authors=authors,
        year=int(year[1]) if year else None,
        doi=next(dois_in(identified), ""),
        arxiv=parse_arxiv_id(eprint) or next(arxiv_ids_in(f"arXiv:{eprint} {addresses}"), ""),
    )
    venue = next((plain[name] for name in VENUES if plain.get(name)), "")
    unnamed = next((plain[name] for name in ("howpublished", "note", "url") if plain.get(name) and not title), "")
    return work.model_copy(update={"raw": format_work(work, venue or unnamed)})


def format_work(work: CitedWork, venue: str) -> str:
    """Return a work as a reference entry for human readers."""
    identifier = f"doi:{work.doi}" if work.doi else f"arXiv:{work.arxiv}" if work.arxiv else ""
    parts = ("; ".join(work.authors), work.title, venue, str(work.year or ""), identifier)
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def parse_bibtex_names(field: str) -> tuple[str, ...]:
    """Return the names of an `author` field, each with the family name last as in running text."""
    names = (strip_tex(_join_name_parts(name)) for name in _AND.split(" ".join(field.split())))
    return tuple(_put_given_name_first(name) for name in names if name and name.casefold() not in _OTHERS)


def _join_name_parts(name: str) -> str:
    """Turn `given=Ann, family=Lee`, as biblatex also accepts, into `Lee, Ann`; other names are unchanged."""
    parts = {match["part"].lower(): match["braced"] or match["bare"] or "" for match in _NAME_PARTS.finditer(name)}
    if "family" not in parts:
        return name
    family = f"{parts.get('prefix', '')} {parts['family'].strip()}".strip()
    return ", ".join(filter(None, (family, parts.get("suffix", "").strip(), parts.get("given", "").strip())))


def _put_given_name_first(name: str) -> str:
    """Turn `Family, Given` and `Family, Jr, Given` into `Given Family`."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 1 or not parts[-1]:
        return name
    return " ".join((parts[-1], *parts[:-1]))
