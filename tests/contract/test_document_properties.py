"""Authors in the properties of a file and in its headers and footers: no part of the text, masked in it, and read."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.models import Idea
from orchestrator.access.roles import MemberId
from orchestrator.reviewing.conflict_search import ConflictSearch, ReviewerDetails
from tests.contract.office_files import odt, word
from tests.contract.pdf_files import pdf
from workers.documents.document_ideas import read_document_idea

BODY = "We rehearse what the next round of training would overwrite, as bees do in a garden. " * 3
SENTENCES = (BODY, f"The hives were kept by Dvorakova and by Ilse Zwqx in the spring. {BODY}")
_CORE = '<p:cp xmlns:p="x" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>Tereza Dvorakova</dc:creator></p:cp>'
_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_ODF = "urn:oasis:names:tc:opendocument:xmlns"


def _build_word() -> bytes:
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in ("Rehearsal in gardens", *SENTENCES))
    head = f"<w:hdr {_W}><w:p><w:r><w:t>I. Zwqx: Rehearsal in gardens</w:t></w:r></w:p></w:hdr>"
    return word(body, parts={"docProps/core.xml": _CORE, "word/header1.xml": head})


def _open_document() -> bytes:
    body = "".join(f"<text:p>{text}</text:p>" for text in ("Rehearsal in gardens", *SENTENCES))
    names = f'xmlns:o="{_ODF}:office:1.0" xmlns:style="{_ODF}:style:1.0" xmlns:text="{_ODF}:text:1.0"'
    head = "<style:footer><text:p>I. Zwqx: Rehearsal in gardens</text:p></style:footer>"
    meta = (
        f'<o:m {names} xmlns:meta="{_ODF}:meta:1.0"><meta:initial-creator>Tereza Dvorakova</meta:initial-creator></o:m>'
    )
    return odt(body, parts={"styles.xml": f"<o:s {names}>{head}</o:s>", "meta.xml": meta})


def _build_pdf_with_author() -> bytes:
    lines = [("F1", 10.0, line) for text in SENTENCES for line in text.replace(". ", ".\n").splitlines()]
    pages = [[("F1", 8.0, "I. Zwqx: Rehearsal"), ("F2", 16.0, "Rehearsal in gardens"), *lines] for _ in range(3)]
    return pdf(*pages, info=b"/Author (Tereza Dvorakova)")


def _build_html() -> bytes:
    head = "<title>Rehearsal in gardens</title><meta name='Author' content='Tereza Dvorakova'>"
    head += "<meta name='creator' content='I. Zwqx'><meta property='article:author' content='Tereza Dvorakova'>"
    return f"<html><head>{head}</head><body>{''.join(f'<p>{text}</p>' for text in SENTENCES)}</body></html>".encode()


def _build_rtf() -> bytes:
    text = "\\par ".join(("Rehearsal in gardens", *SENTENCES))
    return f"{{\\rtf1\\ansi{{\\info{{\\author Tereza Dvorakova; I. Zwqx}}}}{text}}}".encode()


FILES = {
    "a.docx": _build_word,
    "a.odt": _open_document,
    "a.pdf": _build_pdf_with_author,
    "a.html": _build_html,
    "a.rtf": _build_rtf,
}


async def _read(name: str) -> Idea:
    return await read_document_idea(FILES[name](), name)


@pytest.mark.parametrize("name", FILES)
async def test_author_properties_and_heads_are_not_text_and_are_masked_in_it(name: str) -> None:
    idea = await _read(name)
    assert "I. Zwqx" not in idea.text
    assert "Tereza" not in idea.text
    assert "Dvorakova" in idea.text
    assert idea.reading is not None
    assert "author of the file" in idea.reading.front_matter
    masked = blind_idea(idea)
    for word_left in ("Dvorakova", "Zwqx"):
        assert word_left not in masked.text
    assert masked.people_fields == ()
    assert masked.blinding is not None
    assert any("Tereza Dvorakova" in item.text for item in masked.blinding.masked)


@pytest.mark.parametrize("name", FILES)
async def test_conflict_with_the_author_is_found_before_and_after_masking(name: str) -> None:
    search = ConflictSearch([ReviewerDetails(MemberId("mb_1"), "Tereza Dvorakova", "")])
    idea = await _read(name)
    assert [item.source for item in search.find_conflicts(idea.title, idea.text, idea.people_fields)] == ["name"]
    masked = blind_idea(idea)
    record = [item.text for item in masked.blinding.masked] if masked.blinding else []
    assert [item.source for item in search.find_conflicts(masked.title, masked.text, record)] == ["name"]
    assert list(search.find_conflicts(masked.title, masked.text)) == []


@pytest.mark.parametrize("creator", ["Microsoft Office User", "python-docx", "Administrator", "user", ""])
async def test_author_property_that_is_not_a_person_masks_nothing(creator: str) -> None:
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in ("Rehearsal in gardens", BODY))
    core = _CORE.replace("Tereza Dvorakova", creator)
    idea = await read_document_idea(word(body, parts={"docProps/core.xml": core}), "a.docx")
    assert blind_idea(idea).text == idea.text


async def test_author_and_footer_of_rtf_are_masked() -> None:
    rtf = (
        r"{\rtf1\ansi\ansicpg1252{\info{\author Ada Zw\'fcqx}}"
        r"{\headerr\pard\plain {\b Rehearsal in gardens}\par}{\footer\pard Bo Kwyx, page {\field{\fldrslt 1}}\par}"
        rf"\pard {BODY}\par}}"
    )
    idea = await read_document_idea(rtf.encode("latin-1"), "a.rtf")
    assert idea.people_fields == ("Ada Zwüqx", "Rehearsal in gardens; Bo Kwyx, page 1")
