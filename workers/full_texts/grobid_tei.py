"""Convert GROBID's TEI to sections and references. The TEI is untrusted, so DTDs, entities and network access are
disabled."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lxml import etree

from assayer.errors import Unreadable
from assayer.literature.paper_identity import find_doi, parse_arxiv_id
from assayer.models import CitedWork, Section
from assayer.text.sanitise import clean_text
from assayer.text.section_titles import PaperPart, number_of, opens_part, part_of, strip_number
from workers.full_texts.parsed_paper import ParsedPaper

_UNTITLED = "Text"
_ROMAN = re.compile(r"[IVX]+")
_ROMAN_PAIR = re.compile(r"[IVX]{2,}|[VX]")
_LETTER = re.compile(r"[A-Z]")
_PARTS_BEFORE_SUBJECT: tuple[PaperPart | None, ...] = (None, "abstract", "introduction")
"""Parts after which a heading that names no standard part opens a new section. After other parts, it is a
subheading."""


class HeadedText(NamedTuple):
    """Text under one heading. Both may be empty."""

    number: str
    """The heading's number, if it is separate from the title."""
    title: str
    text: str


def group_main_sections(pieces: Iterable[HeadedText]) -> tuple[Section, ...]:
    """Return the main sections that have text, with subheadings as separate lines in the text."""
    pieces_with_headings = [_number_heading(piece) for piece in pieces]
    opens = _find_section_starts(pieces_with_headings)
    sections: list[tuple[str, list[str]]] = []
    for piece, opens_section in zip(pieces_with_headings, opens, strict=True):
        if opens_section or not sections:
            sections.append((piece.title or _UNTITLED, []))
        elif piece.title:
            sections[-1][1].append(f"{piece.number} {piece.title}".strip())
        if piece.text.strip():
            sections[-1][1].append(piece.text.strip())
    texts = ((title, "\n\n".join(parts)) for title, parts in sections)
    return tuple(Section(title=title, text=text) for title, text in texts if text)


def _number_heading(piece: HeadedText) -> HeadedText:
    """Return the heading with the number at the start of its title moved to `number`, unless that is already set."""
    title = " ".join(piece.title.split())
    number = piece.number.strip().strip(".):") or number_of(title)
    return HeadedText(number, strip_number(title), piece.text)


def _find_section_starts(pieces: Sequence[HeadedText]) -> Iterator[bool]:
    numbers = [piece.number for piece in pieces if piece.number]
    if len(numbers) >= 3:
        return _find_starts_by_number(pieces, roman=sum(bool(_ROMAN_PAIR.fullmatch(number)) for number in numbers) >= 2)
    return _find_starts_by_part(pieces)


def _find_starts_by_number(pieces: Iterable[HeadedText], *, roman: bool) -> Iterator[bool]:
    has_begun = False
    for piece in pieces:
        if piece.number:
            has_begun = True
            yield _is_main_number(piece.number, roman)
        else:
            opens = opens_part(piece.title) is not None or part_of(piece.title) == "back"
            yield bool(piece.title) and (opens or not has_begun)


def _is_main_number(number: str, roman: bool) -> bool:
    if roman:
        return _ROMAN.fullmatch(number) is not None
    return not re.search(r"[.-]", number) and (number.isdigit() or _LETTER.fullmatch(number) is not None)


def _find_starts_by_part(pieces: Iterable[HeadedText]) -> Iterator[bool]:
    current: PaperPart | None = None
    for piece in pieces:
        part = part_of(piece.title) if piece.title else None
        opens = bool(piece.title) and _is_section_start(piece.title, part, current)
        if opens:
            current = part
        yield opens


def _is_section_start(title: str, part: PaperPart | None, current_part: PaperPart | None) -> bool:
    if part is None:
        return current_part in _PARTS_BEFORE_SUBJECT
    if part != current_part:
        return True
    # Headings such as participants, procedure or data are usually subsections of the methods.
    return part != "methods" and opens_part(title) is not None


TEI_PARSER_VERSION = "3"
"""Version of this parser. A new version causes stored TEI to be parsed again."""
MAX_TEI_BYTES = 30_000_000
_MAX_REFERENCES = 5_000

_TEI = {"t": "http://www.tei-c.org/ns/1.0"}
_TYPE_DECLARATION = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_BLOCKS = ("p", "s", "list", "item", "formula", "quote", "ab", "note")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


def parse_tei(tei: bytes, source: str = "The TEI") -> ParsedPaper:
    """Parse TEI. `source` names it in errors. Raises Unreadable if the data is not TEI, is too large, declares entities
    or has no text."""
    return build_paper(read_tei(tei, source), source)


def build_paper(root: etree._Element, source: str) -> ParsedPaper:
    """Build the paper from parsed TEI. Raises Unreadable if it has no text other than an abstract."""
    sections = (*_read_abstract(root), *group_main_sections((*_read_body(root), *_read_back_matter(root))))
    if not any(section.title != "Abstract" for section in sections):
        raise Unreadable(f"{source} has no text besides an abstract.", "It may be a scan.", "no_text")
    return ParsedPaper(
        parser="grobid",
        version=next(iter(_find_attributes(root, "//t:appInfo/t:application[@ident='GROBID']/@version")), ""),
        title=_join_line(next(_find_elements(root, ".//t:fileDesc/t:titleStmt/t:title"), None)),
        sections=sections,
        references=tuple(_read_references(root)),
    )


def read_tei(tei: bytes, source: str) -> etree._Element:
    """Return the root element. Raises Unreadable if the data is not TEI, is too large or declares entities."""
    if len(tei) > MAX_TEI_BYTES:
        raise Unreadable(f"{source} is larger than {MAX_TEI_BYTES / 1e6:g} MB.", "", "too_large")
    # Always parsed as UTF-8, so that no other encoding can hide a declaration from this check.
    if _TYPE_DECLARATION.search(tei):
        raise Unreadable(f"{source} declares a document type or entities, so it is not from GROBID.", "", "markup")
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(tei, parser)
    except etree.XMLSyntaxError as error:
        raise Unreadable(f"{source} is not well-formed XML: {error.msg}.", "", "markup") from None
    if etree.QName(root).localname != "TEI":
        raise Unreadable(f"{source} is XML but not TEI: its root element is {root.tag!s:.60}.", "", "markup")
    return root


def _find_elements(element: etree._Element, path: str) -> Iterator[etree._Element]:
    yield from element.iterfind(path, _TEI)


def _find_attributes(element: etree._Element, path: str) -> list[str]:
    values = element.xpath(path, namespaces=_TEI)
    return [str(value) for value in values] if isinstance(values, list) else []


def _get_local_name(element: etree._Element) -> str:
    return etree.QName(element).localname


def _join_text(element: etree._Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


def _join_line(element: etree._Element | None) -> str:
    return "" if element is None else clean_text(_join_text(element))


def _read_abstract(root: etree._Element) -> Iterator[Section]:
    for abstract in _find_elements(root, ".//t:profileDesc/t:abstract"):
        blocks = [_join_text(block) for block in abstract.iter(f"{{{_TEI['t']}}}p", f"{{{_TEI['t']}}}head")]
        text = "\n\n".join(filter(None, blocks)) or _join_text(abstract)
        if text:
            yield Section(title="Abstract", text=text)
        return


def _read_body(root: etree._Element) -> Iterator[HeadedText]:
    for body in _find_elements(root, "./t:text/t:body"):
        yield from _read_pieces(body)


def _read_back_matter(root: etree._Element) -> Iterator[HeadedText]:
    """Yield acknowledgements, funding, statements and appendices. References are parsed separately."""
    for part in _find_elements(root, "./t:text/t:back/t:div"):
        if part.get("type") != "references":
            yield from _read_pieces(part)


def _read_pieces(parent: etree._Element) -> Iterator[HeadedText]:
    """Yield the text of an element, if it has text of its own, and of its divisions."""
    direct_text = _join_blocks(parent)
    if direct_text or any(_get_local_name(child) == "head" for child in parent):
        yield _build_piece(parent, direct_text)
    for division in _find_elements(parent, "./t:div"):
        yield from _read_pieces(division)


def _build_piece(division: etree._Element, text: str) -> HeadedText:
    head = next(_find_elements(division, "./t:head"), None)
    return HeadedText("" if head is None else head.get("n", ""), _join_line(head), text)


def _join_blocks(division: etree._Element) -> str:
    """Return the paragraphs, formulas and lists directly inside the division, without figures and tables."""
    blocks = (_join_text(child) for child in division if _get_local_name(child) in _BLOCKS)
    return "\n\n".join(filter(None, blocks))


def _read_references(root: etree._Element) -> Iterator[CitedWork]:
    yield from (work for entry in _find_entries(root) if (work := _parse_work(entry)) != CitedWork())


def _find_entries(root: etree._Element) -> list[etree._Element]:
    return list(_find_elements(root, "./t:text/t:back//t:listBibl/t:biblStruct"))[:_MAX_REFERENCES]


def read_works_by_id(root: etree._Element) -> dict[str, CitedWork]:
    """Return cited works, keyed by the ids by which the text refers to them, such as `b12`."""
    return {name: _parse_work(entry) for entry in _find_entries(root) if (name := entry.get(_XML_ID))}


def _parse_work(entry: etree._Element) -> CitedWork:
    title = next(_find_elements(entry, "./t:analytic/t:title[@level='a']"), None)
    if title is None or not _join_text(title):
        title = next(_find_elements(entry, "./t:monogr/t:title"), None)
    authors = [*_find_elements(entry, "./t:analytic/t:author/t:persName")] or [
        *_find_elements(entry, "./t:monogr/t:author/t:persName")
    ]
    raw = next(_find_elements(entry, "./t:note[@type='raw_reference']"), None)
    return CitedWork(
        title=_join_line(title),
        authors=tuple(filter(None, map(_format_person, authors))),
        year=_find_year(entry),
        doi=next(filter(None, map(find_doi, _find_identifiers(entry, "DOI"))), ""),
        arxiv=next(filter(None, map(parse_arxiv_id, _find_identifiers(entry, "arXiv"))), ""),
        raw=_join_line(raw),
    )


def _format_person(person: etree._Element) -> str:
    parts = [
        _join_text(part) for part in _find_elements(person, "*") if _get_local_name(part) in ("forename", "surname")
    ]
    return clean_text(" ".join(filter(None, parts)))


def _find_year(entry: etree._Element) -> int | None:
    texts = (f"{date.get('when', '')} {_join_text(date)}" for date in _find_elements(entry, ".//t:imprint/t:date"))
    match = _YEAR.search(" ".join(texts))
    return int(match[0]) if match else None


def _find_identifiers(entry: etree._Element, kind: str) -> Iterable[str]:
    return (
        _join_text(item)
        for item in _find_elements(entry, ".//t:idno")
        if item.get("type", "").casefold() == kind.casefold()
    )
