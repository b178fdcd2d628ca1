"""Read an article in JATS, the XML of PubMed Central and many journals: title, text, and works cited.

Runs in the sandboxed process. Nothing is fetched, and a document that declares entities is refused."""

from collections.abc import Iterator

from lxml import etree

from assayer.models import CitedWork
from assayer.reference_lists.bibtex import format_work
from assayer.reference_lists.entry_parser import parse_references
from assayer.text.raised_text import Script, join_scripts
from workers.sandbox.mathml_text import format_mathml
from workers.sandbox.office_package import find_children, get_local_name
from workers.sandbox.office_text import BODY, OfficeParagraphs
from workers.sandbox.refusal import Refused

_MAX_DEPTH = 60
_UNREAD_ELEMENTS = frozenset(("tex-math", "object-id", "graphic", "media", "alternatives", "label", "processing-meta"))
_PARAGRAPH_ELEMENTS = frozenset(
    ("p", "disp-formula", "caption", "title", "def", "term", "verse-line", "preformat", "code")
)
_SCRIPTS: dict[str, Script] = {"sup": "^", "sub": "_"}
_AUTHOR_NAMES = ".//{*}person-group[@person-group-type='author']//{*}name"


def read_jats(data: bytes, most_characters: int) -> tuple[OfficeParagraphs, list[CitedWork]]:
    """Return an article's text and the works that it cites. Raises Refused if it cannot be read."""
    root = _parse(data)
    article = root if get_local_name(root) == "article" else next(root.iter("{*}article"), None)
    if article is None:
        raise Refused("other_xml")
    text = OfficeParagraphs(most_characters)
    meta = article.find("{*}front/{*}article-meta")
    if meta is not None:
        text.title = _join_words(meta.find(".//{*}article-title"))
        authors = "; ".join(_format_person(name) for name in meta.iterfind(".//{*}contrib/{*}name"))
        text.front_matter += [("authors", authors)] if authors else []
        for abstract in find_children(meta, "abstract"):
            _add_heading(text, 1, _join_words(abstract.find("{*}title")) or "Abstract")
            _add_blocks(text, abstract, 1)
    for part in (article.find("{*}body"), article.find("{*}back")):
        if part is not None:
            _add_blocks(text, part, 0)
    if not text.paragraphs:
        raise Refused("no_text")
    return text, [work for ref in article.iterfind(".//{*}ref-list//{*}ref") if (work := _parse_work(ref)).raw]


def _parse(data: bytes) -> etree._Element:
    if b"<!ENTITY" in data:
        raise Refused("entities")
    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Refused("damaged") from error


def _add_blocks(text: OfficeParagraphs, parent: etree._Element, depth: int) -> None:
    """Add the sections, paragraphs, tables and captions inside an element. Footnotes follow the text."""
    if depth > _MAX_DEPTH:
        raise Refused("nested")
    for child in parent.iterchildren("*"):
        name = get_local_name(child)
        if name in ("sec", "ack", "app"):
            _add_heading(
                text, depth + 1, _join_words(child.find("{*}title")) or ("Acknowledgements" if name == "ack" else "")
            )
            _add_blocks(text, child, depth + 1)
        elif name == "table":
            text.tables += 1
            for row in child.iter("{*}tr"):
                for cell in text.add_row(row.iterchildren("*")):
                    text.add(_join_words(cell))
                text.end_paragraph()
        elif name == "fn":
            if note := " ".join(
                _join_words(item) for item in child.iterchildren("*") if get_local_name(item) != "label"
            ):
                text.notes.append((str(len(text.notes) + 1), note))
        elif name == "title" and get_local_name(parent) in ("sec", "ack", "app", "abstract"):
            continue
        elif name in _PARAGRAPH_ELEMENTS:
            text.add(_join_words(child))
            text.end_paragraph(BODY, "- " if get_local_name(parent) == "list-item" else "")
        elif name != "ref-list" and name not in _UNREAD_ELEMENTS:
            _add_blocks(text, child, depth + 1 if name == "sec" else depth)


def _add_heading(text: OfficeParagraphs, level: int, title: str) -> None:
    if title:
        text.add(title)
        text.end_paragraph(level)


def _join_words(element: etree._Element | None) -> str:
    return "" if element is None else " ".join(join_scripts(_split_text(element, "")).split())


def _split_text(element: etree._Element, script: Script) -> Iterator[tuple[str, Script]]:
    """Yield an element's text in pieces, each with its position, with formulas on one line and without parts that
    repeat others or hold no text."""
    yield element.text or "", script
    for child in element.iterchildren("*"):
        name = get_local_name(child)
        if name == "math":
            yield format_mathml(child), ""
        elif name == "alternatives":
            alternative = next(
                (item for item in child.iterchildren("*") if get_local_name(item) not in _UNREAD_ELEMENTS), None
            )
            if alternative is not None:
                yield (
                    format_mathml(alternative) if get_local_name(alternative) == "math" else _join_words(alternative),
                    "",
                )
        elif name not in _UNREAD_ELEMENTS:
            yield from _split_text(child, _SCRIPTS.get(name, script))
            yield " " if name in _PARAGRAPH_ELEMENTS else "", ""
        yield child.tail or "", script


def _format_person(name: etree._Element) -> str:
    return " ".join(filter(None, (_join_words(name.find("{*}given-names")), _join_words(name.find("{*}surname")))))


def _parse_work(ref: etree._Element) -> CitedWork:
    """Convert an entry to a work, from its fields or from its printed text."""
    citation = next((item for item in ref.iter("{*}element-citation", "{*}mixed-citation", "{*}nlm-citation")), ref)
    title = _join_words(citation.find(".//{*}article-title")) or _join_words(citation.find(".//{*}source"))
    people = citation.findall(_AUTHOR_NAMES) or citation.findall(".//{*}name") or citation.findall(".//{*}string-name")
    year = _join_words(citation.find(".//{*}year"))[:4]
    work = CitedWork(
        title=title.rstrip("."),
        authors=tuple(filter(None, map(_format_person, people)))
        or tuple(map(_join_words, citation.findall(".//{*}collab"))),
        year=int(year) if year.isdecimal() else None,
        doi=_join_words(citation.find(".//{*}pub-id[@pub-id-type='doi']")).lower(),
    )
    citation_text = _join_words(citation) if get_local_name(citation) == "mixed-citation" else ""
    if citation_text and not (work.title and work.authors):
        return next(iter(parse_references(citation_text)), CitedWork(raw=citation_text))
    return work.model_copy(
        update={
            "raw": citation_text or (format_work(work, _join_words(citation.find(".//{*}source"))) if title else "")
        }
    )
