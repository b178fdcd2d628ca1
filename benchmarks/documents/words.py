"""Words of a file, and those that are missing from its reading."""

import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pypdfium2
from lxml import etree, html

from assayer.models import Idea
from assayer.text.decoding import decode_text
from workers.documents.pdf_accents import compose_accents

_WORD = re.compile(r"[^\W\d_]{3,}")
_XML_PARTS = re.compile(
    r"word/(?:document|footnotes|endnotes)\.xml|content\.xml|xl/(?:sharedStrings|worksheets/\w+)\.xml"
)
_BLOCKS = {"p", "tab", "br", "h", "si", "c", "tc"}


def find_missing_words(path: Path, idea: Idea) -> tuple[int, tuple[str, ...]]:
    """Return the number of words of a file, and the words missing from the idea, repeated as often as they are
    missing."""
    expected_words, found_words = count_file_words(path), count_reading_words(idea)
    missing_counts = expected_words - found_words
    # PDFs break words at line ends, so a word that is part of a longer one is not considered missing.
    text = "".join(found_words)
    return expected_words.total(), tuple(
        word for word in missing_counts.elements() if found_words[word] == 0 and word not in text
    )


def count_file_words(path: Path) -> Counter[str]:
    """Return the words of a document, extracted without the product's readers; empty for unsupported formats such as
    TeX."""
    data, suffix = path.read_bytes(), path.suffix.lower()
    if suffix == ".pdf":
        text = "\n".join(_read_pages(pypdfium2.PdfDocument(data)))
    elif suffix in (".docx", ".odt", ".xlsx"):
        with zipfile.ZipFile(path) as package:
            parts = [package.read(name) for name in package.namelist() if _XML_PARTS.fullmatch(name)]
        text = "\n".join(map(_read_xml, parts))
    elif suffix in (".html", ".htm"):
        tree: Any = html.fromstring(data, parser=html.HTMLParser(encoding="utf-8"))
        for element in tree.xpath("//script|//style|//head|//nav|//svg|//math"):
            element.drop_tree()
        text = tree.text_content()
    elif suffix in (".txt", ".md", ".csv", ".tsv", ".json", ".jsonl"):
        text = decode_text(data, str(path))
    else:
        text = ""
    return count_words(text)


def _read_pages(document: pypdfium2.PdfDocument) -> Iterator[str]:
    """Yield the text of the pages that can be read: those of a damaged file may be missing."""
    for number in range(len(document)):
        with suppress(pypdfium2.PdfiumError):
            yield document[number].get_textpage().get_text_bounded()


def _read_xml(part: bytes) -> str:
    pieces: list[str] = []
    for element in etree.fromstring(part, etree.XMLParser(resolve_entities=False, huge_tree=True)).iter():
        name = etree.QName(element).localname if isinstance(element.tag, str) else ""
        pieces += "\n" if name in _BLOCKS else ""
        is_text = name in ("t", "v") or "opendocument" in (element.nsmap.get(element.prefix) or "")
        pieces += [element.text or "" if is_text else "", element.tail or "" if is_text else ""]
    return "".join(pieces)


def count_reading_words(idea: Idea) -> Counter[str]:
    """Return the words of an idea with its title, list, front matter, flagged hidden text, and what was left out."""
    works = [" ".join((work.title, *work.authors, work.raw)) for work in idea.references]
    reading = idea.reading.model_dump_json() if idea.reading else ""
    flag_excerpts = (flag.excerpt for flag in idea.flags)
    return count_words("\n".join((idea.title, idea.text, idea.reference_list, reading, *flag_excerpts, *works)))


def count_words(text: str) -> Counter[str]:
    normalised = unicodedata.normalize("NFKC", compose_accents(text).replace("\u00ad", "").replace("\ufffe", ""))
    return Counter(match[0].casefold() for match in _WORD.finditer(normalised))
