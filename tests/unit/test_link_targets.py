"""A DOI or arXiv id that stands only as the target of a link is read with the words that are linked."""

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from assayer.own_references.entries import read_references
from assayer.reference_lists.link_targets import inline_links, link_address
from tests.contract.office_files import odt, word
from tests.contract.pdf_files import assemble
from workers.documents.document_ideas import read_document_idea

DOI = "https://doi.org/10.1000/fens.1"
BODY = "We count seeds of many plants in wet meadows and compare them with those of dry ones, as others did"


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("https://doi.org/10.1000/Fens.1", DOI),
        ("http://dx.doi.org/10.1000/fens.1", DOI),
        ("https://www.doi.org/10.1000/fens.1", DOI),
        ("doi:10.1000/fens.1", DOI),
        ("https://journals.example.org/doi/full/10.1000/fens.1", DOI),
        ("https://journals.example.org/doi/10.1000/fens.1/abstract", DOI),
        ("https://journals.example.org/article/10.1000/fens.1?tab=pdf#s3", DOI),
        ("https://doi.org/10.1016%2F0304-4(94)90001-9", "https://doi.org/10.1016/0304-4%2894%2990001-9"),
        ("https://arxiv.org/abs/2101.01234v2", "https://arxiv.org/abs/2101.01234"),
        ("https://arxiv.org/pdf/2101.01234.pdf", "https://arxiv.org/abs/2101.01234"),
        ("https://fens.example/page", ""),
        ("#ref-1", ""),
        ("mailto:fen@fens.example", ""),
        ("", ""),
    ],
)
def test_target_of_a_link_is_an_identifier(target: str, address: str) -> None:
    assert link_address(target) == address


@pytest.mark.parametrize(
    ("text", "inline"),
    [
        (f"[Wet meadows][lee] and more.\n\n[lee]: {DOI}", f"[Wet meadows]({DOI}) and more.\n\n"),
        (f"[Lee][] and more.\n\n[Lee]: <{DOI}> 'A title'\n", f"[Lee]({DOI}) and more.\n\n\n"),
        (f"[Lee][l]\n\n[l]: https://fens.example\n[m]: {DOI}", f"[Lee][l]\n\n[l]: https://fens.example\n[m]: {DOI}"),
        (f"As shown [1].\n\n[1]: {DOI}", f"As shown [1].\n\n[1]: {DOI}"),
        (f'<a class="x" href="{DOI}">Wet <i>meadows</i></a> it is', f"[Wet meadows]({DOI}) it is"),
        ('<a href="https://fens.example">Fens</a>', '<a href="https://fens.example">Fens</a>'),
        (f"<{DOI}>", f"<{DOI}>"),
    ],
)
def test_links_of_markdown_become_inline(text: str, inline: str) -> None:
    assert inline_links(text) == inline


ENTRIES = (
    # words of the entry, with the linked ones between bars
    "Lee, A., & Moss, B. (2019). |Replay of wet meadows|. Journal of Fens, 4(2), 1–9.",
    "|Lee, A., & Moss, B. (2019). Replay of wet meadows. Journal of Fens, 4(2), 1–9.|",
    "Lee, A., & Moss, B. (2019). Replay of wet meadows. |Journal of Fens|, 4(2), 1–9.",
    "Lee, A., & Moss, B. (2019). Replay of wet meadows. Journal of Fens, 4(2), 1–9. |[CrossRef]|",
    "Lee, A., & Moss, B. (2019). Replay of wet meadows. Journal of Fens, 4(2), 1–9. |Link|.",
    "Lee A, Moss B. |Replay of wet meadows|. J Fens. 2019;4:1–9.",
    "A. Lee and B. Moss, “|Replay of wet meadows|,” J. Fens, vol. 4, no. 2, pp. 1–9, 2019.",
    "Lee, A., & Moss, B. (2019). Replay of wet meadows. Journal of Fens, 4(2), 1–9. |https://doi.org/10.1000/fens.1|",
)
OTHER_ENTRIES = (
    "Bell, C. (2018). Seeds of the fen. Journal of Fens, 3(1), 10–19.",
    "Cole, D. (2017). Drained soils and water. Journal of Fens, 2(1), 20–29.",
)


def check(idea: Idea) -> None:
    assert len(idea.references) == 3, idea.reference_list
    work = idea.references[0]
    assert (work.doi, work.title, work.year) == ("10.1000/fens.1", "Replay of wet meadows", 2019)
    assert [author.split(",")[0].split()[-1] for author in work.authors] in (["Lee", "Moss"], ["A", "B"])
    assert [item.doi for item in idea.references[1:]] == ["", ""]
    assert idea.reference_list.count("10.1000/fens.1") == 1


def escape_xml(text: str) -> str:
    return text.replace("&", "&amp;")


def _run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{escape_xml(text)}</w:t></w:r>'


RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId9" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" '
    f'Target="{DOI}" TargetMode="External"/></Relationships>'
)
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
WORD_LINKS = {
    "relationship": (f'<w:hyperlink {R} r:id="rId9">', "</w:hyperlink>"),
    "simple field": (f"<w:fldSimple w:instr=' HYPERLINK \"{DOI}\" '>", "</w:fldSimple>"),
    "field": (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "</w:instrText></w:r>'
        f'<w:r><w:instrText>{DOI}" \\t "_blank"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>',
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>',
    ),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("kind", WORD_LINKS)
async def test_targets_of_links_in_word_are_read(entry: str, kind: str) -> None:
    before, label, after = entry.split("|")
    opening, closing = WORD_LINKS[kind]
    linked = f"{_run(before)}{opening}{_run(label)}{closing}{_run(after)}"
    plain_paragraphs = "".join(f"<w:p>{_run(text)}</w:p>" for text in OTHER_ENTRIES)
    body = f"<w:p>{_run(BODY)}</w:p><w:p>{_run('References')}</w:p><w:p>{linked}</w:p>{plain_paragraphs}"
    check(await read_document_idea(word(body, parts={"word/_rels/document.xml.rels": RELATIONS}), "a.docx"))


async def test_field_that_spans_paragraphs_is_not_a_link_after_its_end() -> None:
    """A bibliography is one field over all its entries; links are fields inside it."""
    opening, closing = WORD_LINKS["field"]
    outer = opening.replace("HYPERLINK", "ADDIN BIBLIOGRAPHY").replace(DOI, "x")
    before, label, after = ENTRIES[0].split("|")
    body = (
        f"<w:p>{_run(BODY)}</w:p><w:p>{_run('References')}</w:p><w:p>{outer}{_run(before)}{opening}{_run(label)}{closing}"
        f"{_run(after)}</w:p><w:p>{_run(OTHER_ENTRIES[0])}</w:p><w:p>{_run(OTHER_ENTRIES[1])}{closing}</w:p>"
    )
    check(await read_document_idea(word(body), "a.docx"))


async def test_targets_of_links_in_notes_of_word_are_read() -> None:
    linked = f'<w:hyperlink {R} r:id="rId9">{_run("Replay of wet meadows")}</w:hyperlink>'
    part = (
        '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:footnote w:id="2">'
        f"<w:p>{_run('Lee, A., & Moss, B. (2019). ')}{linked}"
        f"{_run('. Journal of Fens, 4(2), 1–9.')}</w:p></w:footnote></w:footnotes>"
    )
    parts = {"word/footnotes.xml": part, "word/_rels/footnotes.xml.rels": RELATIONS}
    body = f'<w:p>{_run(BODY)}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    idea = await read_document_idea(word(body, parts=parts), "a.docx")
    assert [(work.doi, work.title) for work in idea.references] == [("10.1000/fens.1", "Replay of wet meadows")]


@pytest.mark.parametrize("entry", ENTRIES)
async def test_targets_of_links_in_open_document_are_read(entry: str) -> None:
    before, label, after = map(escape_xml, entry.split("|"))
    names = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    linked = f'{before}<text:a {names} xlink:href="{DOI}">{label}</text:a>{after}'
    paragraphs = "".join(f"<text:p>{text}</text:p>" for text in (BODY, "References", linked, *OTHER_ENTRIES))
    check(await read_document_idea(odt(paragraphs), "a.odt"))


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("item", ["p", "li"])
async def test_targets_of_links_in_html_are_read(entry: str, item: str) -> None:
    before, label, after = map(escape_xml, entry.split("|"))
    linked = f'{before}<a href="{DOI}"><em>{label}</em></a>{after}'
    entries = "".join(f"<{item}>{text}</{item}>" for text in (linked, *OTHER_ENTRIES))
    page = f"<html><body><h1>On fens</h1><h2>Plan</h2><p>{BODY}</p><h2>References</h2>{entries}</body></html>"
    check(await read_document_idea(page.encode(), "a.html"))


@pytest.mark.parametrize("entry", ENTRIES)
async def test_targets_of_links_in_rich_text_are_read(entry: str) -> None:
    before, label, after = (
        "".join(item if item.isascii() else f"\\u{ord(item)}?" for item in part) for part in entry.split("|")
    )
    link = rf'{{\field{{\*\fldinst{{HYPERLINK "{DOI}"}}}}{{\fldrslt{{\ul {label}}}}}}}'
    paragraphs = "".join(rf"{text}\par " for text in OTHER_ENTRIES).replace("–", r"\u8211?")
    source = rf"{{\rtf1\ansi {BODY}\par References\par {before}{link}{after}\par {paragraphs}}}"
    check(await read_document_idea(source.encode(), "a.rtf"))


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("link", ["[{label}]({doi})", "[{label}][lee]", '<a href="{doi}">{label}</a>'])
def test_targets_of_links_in_markdown_are_read(entry: str, link: str) -> None:
    before, label, after = entry.split("|")
    if "[" in label or "doi.org" in label:
        return
    linked = f"{before}{link.format(label=label, doi=DOI)}{after}"
    entries = "\n\n".join((linked, *OTHER_ENTRIES))
    definition = f"[lee]: {DOI}" if "][lee]" in link else ""
    check(parse_idea(f"# On fens\n\n{BODY}.\n\n## References\n\n{entries}\n\n{definition}\n", "a.md"))


def test_linked_citation_in_the_text_is_a_citation_and_a_work() -> None:
    idea = parse_idea(f"{BODY} ([Lee, 2019]({DOI})).", "a.md")
    assert [work.doi for work in read_references(idea).entries] == ["10.1000/fens.1"]
    assert idea.reading is not None
    assert idea.reading.citation_marks == 1


def make_stream(text: str) -> bytes:
    data = text.encode("cp1252")
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data)


async def test_targets_of_links_in_pdf_are_read() -> None:
    lines = [BODY[:60], BODY[60:], "References", "Lee, A., & Moss, B. (2019). Replay of wet meadows. Journal of",
             "Fens, 4(2), 1-9.", *OTHER_ENTRIES]  # fmt: skip
    escaped_lines = [line.replace("–", "-").replace("(", r"\(").replace(")", r"\)") for line in lines]
    content = "\n".join(f"BT /F1 11 Tf 60 {700 - 20 * n} Td ({line}) Tj ET" for n, line in enumerate(escaped_lines))
    link = b"<< /Type /Annot /Subtype /Link /Rect [%d %d %d %d] /Border [0 0 0] /A << /S /URI /URI (%s) >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R "
        b"/Annots [6 0 R 7 0 R 8 0 R] >>",
        make_stream(content),
        link % (200, 636, 340, 650, DOI.encode()),
        link % (60, 616, 120, 630, DOI.encode()),
        link % (60, 696, 120, 710, b"https://fens.example/"),
    ]
    check(await read_document_idea(assemble(objects), "a.pdf"))
