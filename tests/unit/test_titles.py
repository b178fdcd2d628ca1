"""The title of a proposal comes from where its format, or its form, puts it."""

from pathlib import Path

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.ideas.titles import find_title_heading
from assayer.models import Idea
from assayer.text.headings import find_headings
from tests.contract.office_files import odt, word
from workers.documents.document_ideas import read_document_idea
from workers.documents.idea_reader import read_ideas

TITLE = "Rewetting fens for rare birds"
BODY = "We count seeds of many plants in wet meadows and compare them with those of dry ones, as others did in spring."
SECTIONS = ["Problem", "Method"]


def check(idea: Idea, sections: list[str] | None = None) -> None:
    assert idea.title == TITLE
    assert [section.title for section in idea.sections] == (sections or SECTIONS)


MARKDOWN = f"## Problem\n\n{BODY}\n\n## Method\n\n{BODY}\n"
ORG = f"* Problem\n{BODY}\n** Sites\n{BODY}\n* Method\n{BODY}\n"
RST = f"Problem\n-------\n\n{BODY}\n\nSites\n~~~~~\n\n{BODY}\n\nMethod\n------\n\n{BODY}\n"
ASCIIDOC = f"== Problem\n\n{BODY}\n\n=== Sites\n\n{BODY}\n\n== Method\n\n{BODY}\n"

TEXTS = {
    "org.org": f"#+TITLE: {TITLE}\n#+AUTHOR: Jane Roe\n#+OPTIONS: toc:nil\n\n{ORG}",
    "org-lower.txt": f"#+title: {TITLE}\n\n{ORG}",
    "org-late.org": f"# -*- mode: org -*-\n\n#+STARTUP: overview\n#+TITLE: {TITLE}\n{ORG}",
    "org-split.org": f"#+TITLE: Rewetting fens\n#+TITLE: for rare birds\n\n{ORG}",
    "org-drawer.org": f":PROPERTIES:\n:ID: 12\n:END:\n#+title: {TITLE}\n\n{ORG.replace('* Meth', '* TODO Meth')}",
    "org-heading.org": f"* {TITLE}\n{ORG.replace('* ', '** ').replace('*** ', '*** ')}",
    "rst-over.rst": f"{'=' * 32}\n{TITLE}\n{'=' * 32}\n\n:Author: Jane Roe\n:Date: 2026-01-01\n\n{RST}",
    "rst-under.rst": f"{TITLE}\n{'=' * 32}\n\n{RST}",
    "rst-hash.txt": f"{'#' * 32}\n {TITLE}\n{'#' * 32}\n\n{RST}",
    "rst-stars.rst": f"{'*' * 32}\n{TITLE}\n{'*' * 32}\n\n.. contents::\n\n{RST.replace('~', '^')}",
    "rst-comment.rst": f".. A comment that nobody prints.\n\n{TITLE}\n{'~' * 32}\n\n{RST.replace('~~~~~', '+++++')}",
    "asciidoc.adoc": f"= {TITLE}\nJane Roe <jane@fens.example>\nv1.0, 2026-01-01\n:toc:\n:keywords: fens\n\n{ASCIIDOC}",
    "asciidoc.asciidoc": f"// a comment\n= {TITLE}\n\n{ASCIIDOC}",
    "asciidoc.txt": f"= {TITLE}\n:author: Jane Roe\n\n{ASCIIDOC}",
    "generic-first.md": f"# Research Proposal\n\n# {TITLE}\n\n{MARKDOWN}",
    "generic-parent.md": f"# Project proposal\n\n## {TITLE}\n\n{MARKDOWN.replace('## ', '### ')}",
    "form-line.md": f"# Application form 2026\n\nApplicant: Jane Roe\n\nProject title: {TITLE}\n\n{MARKDOWN}",
    "form-bold.txt": f"Small grants 2026\n\n**Title of the project:** {TITLE}\n\n{MARKDOWN}",
    "form-below.txt": f"APPLICATION FORM\n\nTitle of proposal\n{TITLE}\n\n{MARKDOWN}",
    "form-table.md": f"# Call 2026\n\n| Applicant | Jane Roe |\n|---|---|\n| Project title | {TITLE} |\n\n{MARKDOWN}",
    "form-numbered.txt": f"Form B\n\n1. Applicant: Jane Roe\n2. Proposal title (max. 99 signs): {TITLE}\n\n{MARKDOWN}",
    "form-short.txt": f"Form B\n\nShort title: Rebirds\nFull title: {TITLE}\n\n{MARKDOWN}",
    "form-person.txt": f"Form B\n\nTitle: Dr.\nName: Jane Roe\nProject title: {TITLE}\n\n{MARKDOWN}",
    "form-german.txt": f"Antrag 2026\n\nTitel des Vorhabens: {TITLE}\n\n{MARKDOWN}",
    "form-french.txt": f"Dossier\n\nIntitulé du projet : {TITLE}\n\n{MARKDOWN}",
    "form-spanish.txt": f"Solicitud\n\nTítulo del proyecto: {TITLE}\n\n{MARKDOWN}",
    "acronym.txt": f"Form B\n\nAcronym: FENS\nTitle: {TITLE}\nDuration: 36 months\n\n{MARKDOWN}",
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
async def test_title_of_a_text_is_found(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(TEXTS[name])
    ideas, rejected = await read_ideas([tmp_path / name])
    assert not rejected
    idea = ideas[0]
    assert idea.title == TITLE
    titles = [section.title for section in idea.sections if section.title not in ("Overview", "Application form 2026")]
    assert [title for title in titles if title != TITLE] == SECTIONS
    for words in ("#+", ":toc:", ":END:", ".. ", "mode: org", "a comment"):
        assert words not in idea.text


def test_later_line_with_a_label_is_not_the_title() -> None:
    idea = parse_idea(f"# {TITLE}\n\n{MARKDOWN}\n\n## Track record\n\nProject title: Sheep of the north\n", "a.md")
    assert idea.title == TITLE


def test_list_with_stars_is_not_a_list_of_headings_of_org() -> None:
    idea = parse_idea(f"# {TITLE}\n\n## Problem\n\n* wet soils\n* dry soils\n\n{BODY}\n\n## Method\n\n{BODY}", "a.md")
    check(idea)


HTML = f"<h2>Problem</h2><p>{BODY}</p><h2>Method</h2><p>{BODY}</p>"
H1 = HTML.replace("h2", "h1")
PAGES = {
    "h1": f"<title>Fen Lab</title></head><body><h1>{TITLE}</h1>{HTML}",
    "h1 and site": f"<title>{TITLE} | Fen Lab</title></head><body><h1>{TITLE}</h1>{HTML}",
    "sections as h1": f"<title>{TITLE}</title></head><body>{H1}",
    "sections as h1 and site": f"<title>{TITLE} – Fen Lab</title></head><body><p>Draft</p>{H1}",
    "word": f"<title>Untitled</title></head><body><p class=MsoTitle>{TITLE}</p>{H1}",
    "google": f'<title>Document</title></head><body><p class="c1 title"><span>{TITLE}</span></p>{H1}',
    "meta": f'<title>Fens</title><meta name="citation_title" content="{TITLE}"></head><body>{H1}',
    "open graph": f'<title>x</title><meta property="og:title" content="{TITLE}"></head><body>{H1}',
    "dublin core": f'<title>x</title><meta name="DC.title" content="{TITLE}"></head><body>{H1}',
    "no head": f"</head><body><h1>{TITLE}</h1>{H1}",
    "form": "<title>Form</title></head><body><table><tr><th>Applicant<td>Jane Roe<tr><th>Project title"
    f"<td>{TITLE}</table>{HTML}",
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
async def test_title_of_a_page_is_found(name: str) -> None:
    idea = await read_document_idea(f"<!doctype html><html><head>{PAGES[name]}</body></html>".encode(), "a.html")
    assert idea.title == TITLE
    assert [section.title for section in idea.sections if section.title != "Overview"] == SECTIONS


STYLES = "".join(
    f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
    for key, name in (("H1", "heading 1"), ("T", "Title"), ("S", "Subtitle"), ("PT", "Paper Title"), ("DT", "Titel"))
)


def render_paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def render_table(*rows: tuple[str, ...]) -> str:
    cells = ("".join(f"<w:tc>{render_paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


WORD_SECTIONS = "".join(render_paragraph(title, "H1") + render_paragraph(BODY) for title in SECTIONS)
CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title></cp:coreProperties>'
)
WORD = {
    "title style": render_paragraph(TITLE, "T"),
    "custom title style": render_paragraph(TITLE, "PT"),
    "german title style": render_paragraph(TITLE, "DT"),
    "title in two paragraphs": render_paragraph("Rewetting fens", "T") + render_paragraph("for rare birds", "T"),
    "form": render_table(("Applicant", "Jane Roe"), ("Project title", TITLE), ("Duration", "36 months")),
    "form under its name": render_paragraph("Application form 2026", "T")
    + render_table(("Title of the proposal:", TITLE)),
    "form with rows for labels": render_table(("Project title",), (TITLE,), ("Duration",), ("36 months",)),
    "form with numbers": render_table(("1.", "Applicant", "Jane Roe"), ("2.", "Title of project", TITLE)),
    "form with short title": render_table(("Short title", "Rebirds"), ("Full title", TITLE)),
    "form with a person's title": render_table(("Title", "Prof."), ("Name", "Jane Roe"), ("Title of project", TITLE)),
    "content control": "<w:sdt><w:sdtPr><w:alias w:val='Title'/><w:dataBinding "
    f"w:xpath='/ns1:coreProperties[1]/ns0:title[1]'/></w:sdtPr><w:sdtContent>{render_paragraph(TITLE)}</w:sdtContent></w:sdt>",
    "first line": render_paragraph(TITLE),
}  # fmt: skip


@pytest.mark.parametrize("name", WORD)
async def test_title_of_a_word_document_is_found(name: str) -> None:
    idea = await read_document_idea(word(WORD[name] + WORD_SECTIONS, STYLES), "a.docx")
    assert idea.title == TITLE
    assert [section.title for section in idea.sections if section.title != "Overview"] == SECTIONS


async def test_title_in_the_properties_of_a_file_is_used_if_the_text_has_none() -> None:
    core = {"docProps/core.xml": CORE.format(TITLE)}
    check(await read_document_idea(word(WORD_SECTIONS, STYLES, core), "a.docx"))
    meta = (
        '<o:document-meta xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><o:meta><dc:title>{TITLE}</dc:title></o:meta></o:document-meta>'
    )
    check(await read_document_idea(odt(ODT_SECTIONS, parts={"meta.xml": meta}), "a.odt"))


@pytest.mark.parametrize("file_name", ["Microsoft Word - form.docx", "Untitled", "Document1", "template.dotx", "Form"])
async def test_file_name_in_document_properties_is_not_a_title(file_name: str) -> None:
    core = {"docProps/core.xml": CORE.format(file_name)}
    idea = await read_document_idea(word(WORD_SECTIONS, STYLES, core), "a.docx")
    assert file_name not in idea.title


ODT_SECTIONS = "".join(f'<text:h text:outline-level="1">{title}</text:h><text:p>{BODY}</text:p>' for title in SECTIONS)
ODT_ROWS = "".join(
    f"<table:table-row><table:table-cell><text:p>{label}</text:p></table:table-cell><table:table-cell><text:p>{value}"
    "</text:p></table:table-cell></table:table-row>"
    for label, value in (("Applicant", "Jane Roe"), ("Project title", TITLE))
)
ODT = {
    "title field": f"<text:p><text:title>{TITLE}</text:title></text:p>",
    "title field in a heading": f'<text:h text:outline-level="1"><text:title>{TITLE}</text:title></text:h>',
    "title style": f'<text:p text:style-name="Title">{TITLE}</text:p>',
    "form": f"<table:table>{ODT_ROWS}</table:table>",
}


@pytest.mark.parametrize("name", ODT)
async def test_title_of_an_open_document_is_found(name: str) -> None:
    styles = '<style:style style:name="Title" style:family="paragraph"/>'
    idea = await read_document_idea(odt(ODT[name] + ODT_SECTIONS, styles), "a.odt")
    assert idea.title == TITLE
    assert [section.title for section in idea.sections if section.title != "Overview"] == SECTIONS


async def test_picture_description_in_open_document_is_not_text() -> None:
    frame = (
        '<draw:frame><svg:title xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0">A picture'
        "</svg:title></draw:frame>"
    )
    idea = await read_document_idea(odt(f"<text:p>{frame}{BODY}</text:p>"), "a.odt")
    assert "A picture" not in idea.text


def test_title_is_found_below_a_hundred_thousand_generic_headings() -> None:
    """The longest accepted text of such headings took 22 s, because each skipped heading copied the text."""
    text = "# Proposal\n" * 100_000 + f"# {TITLE}\n\n{BODY}\n"
    title = find_title_heading(text, find_headings(text))
    assert title is not None
    assert title.title == TITLE
