"""Lines that pages, appendices and footnotes put into or below a reference list are no part of its entries."""

import pytest

from assayer.ideas.parsing import idea_of_document, parse_idea
from assayer.models import Document
from assayer.reference_lists.entry_parser import parse_references
from workers.documents.pdf_layout import PdfLayout, detect_layout
from workers.documents.pdf_lines import PdfLine, TextStyle

BODY = TextStyle("Serif", 10, bold=False, italic=False, upright=True)
SMALL = BODY._replace(size=8)
HEAD = TextStyle("Serif-Bold", 14, bold=True, italic=False, upright=True)
TITLE = "Sorting mail by hand in villages"
PROSE = "Post offices sort letters by hand where machines cannot read them."
ENTRIES = [
    "Crow, G. (2017). Letters that arrive on Sundays. Harbour Press.",
    "Fox, E. (2018). Reading addresses at speed. Post Studies, 3(2), 1-9.",
    "Lee, A. (2019). Which stamps do sorters count first? Post Studies, 4(1), 3-8.",
    "Moor, D. (2020). A census of postcards in mountain villages. Harbour Press.",
]
APPENDICES = ["Ek A: Sorular", "Liite 1: Kysymykset", "Dodatek A: Pytania"]


def lay_out(first: list[PdfLine], second: list[PdfLine]) -> PdfLayout:
    title = PdfLine(0, HEAD._replace(size=18), True, TITLE, 72)
    above = [PdfLine(0, HEAD, True, "1 Introduction", 72), *[PdfLine(0, BODY, True, PROSE, 72)] * 14]
    return detect_layout([title, *above, *first, *second])


def set_lines(page: int, texts: list[str], style: TextStyle = BODY) -> list[PdfLine]:
    return [PdfLine(page, style, True, text, 72) for text in texts]


def list_entries(layout: PdfLayout) -> list[str]:
    document = Document(sections=layout.sections, notes=layout.notes)
    return [work.raw for work in idea_of_document(document, "a.pdf").references]


def test_head_that_repeats_the_title_once_is_no_entry() -> None:
    first = [*set_lines(0, ["References"], HEAD), *set_lines(0, ENTRIES[:2])]
    layout = lay_out(first, [*set_lines(1, [f"{TITLE} Letters 12 (2026)"], SMALL), *set_lines(1, ENTRIES[2:])])
    assert list_entries(layout) == ENTRIES
    assert layout.heads == (f"{TITLE} Letters # (#)",)


def test_heads_of_two_pages_are_no_entries() -> None:
    feet = [set_lines(page, [f"12/1/26, 9:14 AM A page to print {page}"], SMALL) for page in (0, 1)]
    first = [*set_lines(0, ["References"], HEAD), *set_lines(0, ENTRIES[:2]), *feet[0]]
    assert list_entries(lay_out(first, [*set_lines(1, ENTRIES[2:]), *feet[1]])) == ENTRIES


@pytest.mark.parametrize("appendix", APPENDICES)
def test_heading_in_the_style_of_the_title_of_a_list_ends_it(appendix: str) -> None:
    first = [*set_lines(0, ["References"], HEAD), *set_lines(0, ENTRIES)]
    layout = lay_out(first, [*set_lines(0, [appendix], HEAD), *set_lines(0, ["1. How many letters do you sort?"])])
    assert list_entries(layout) == ENTRIES
    assert layout.sections[-1].title == appendix


def test_heading_in_that_style_above_entries_is_a_part_of_the_list() -> None:
    first = [*set_lines(0, ["References"], HEAD), *set_lines(0, ENTRIES[:2])]
    assert list_entries(lay_out(first, [*set_lines(0, ["Prasa"], HEAD), *set_lines(0, ENTRIES[2:])])) == ENTRIES


def test_footnotes_below_the_beginning_of_a_list_are_no_part_of_it() -> None:
    marked = set_lines(0, [f"{PROSE}1"])
    note = set_lines(0, ["1 Dan Hill, “Night trains,” Post Studies 9 (2016): 1–4, https://doi.org/10.1000/9."], SMALL)
    first = [*marked, *set_lines(0, ["References"], HEAD), *set_lines(0, ENTRIES[:2]), *note]
    entries = list_entries(lay_out(first, set_lines(1, ENTRIES[2:])))
    assert [entry for entry in entries if entry in ENTRIES] == ENTRIES
    assert len(entries) == len(ENTRIES) + 1


def read_text(listed: str) -> list[str]:
    idea = parse_idea(f"{TITLE}\n\nProblem\n\n{PROSE * 3}\n\nReferences\n\n{listed}", "idea.txt")
    return [work.raw for work in idea.references]


def test_page_number_and_head_inside_an_entry_keep_its_indentation() -> None:
    lines = [
        "Crow, Gil. Letters that arrive on Sundays. Harbour",
        "    Press, 2017.",
        "",
        "Fox, Eva. “Reading addresses at speed in the offices of",
        "",
        "                    7",
        f"\f{TITLE}    Letters 12",
        "",
        "    Nara.” Post Studies, vol. 3, 2018, p.",
        "    375.",
        "",
        "Lee, Ann. Which stamps do sorters count first? Harbour",
        "    Press, 2019.",
    ]
    assert read_text("\n".join(lines)) == [
        "Crow, Gil. Letters that arrive on Sundays. Harbour Press, 2017.",
        "Fox, Eva. “Reading addresses at speed in the offices of Nara.” Post Studies, vol. 3, 2018, p. 375.",
        "Lee, Ann. Which stamps do sorters count first? Harbour Press, 2019.",
    ]


def test_short_line_alone_below_a_list_in_a_script_without_capitals_ends_it() -> None:
    entries = [f"[{n}] 佐藤花子：郵便番号を読む速さ{n}，郵便学会誌，Vol.{n}，pp.1-9（201{n}）．" for n in range(1, 4)]
    assert len(read_text("\n".join(entries) + f"\n\n付録B 質問票\n\n{PROSE}")) == 3
    assert "付録" not in read_text("\n".join(entries) + f"\n\n付録B 質問票\n\n{PROSE}")[-1]


@pytest.mark.parametrize("below", ["© 2026 Mail Lab. Imprint. Privacy.", "Anexo B: preguntas"])
def test_line_below_an_address_at_the_end_of_a_list_is_no_entry(below: str) -> None:
    entries = [*ENTRIES, "Nobel, F. (2021). Stamps of the north. https://mail.test/files/stamps_north.pdf"]
    assert read_text("\n\n".join([*entries, below])) == entries


def test_publisher_or_journal_before_a_date_begins_no_entry() -> None:
    entries = [
        "HILL, A. Sorting networks for parcels. In: 2018 Conference on Mail, Oslo, Norway, June 18-22, 2018. Mail "
        "Society Press, 2018: 8697-8710.",
        "MOOR, B., 2013. Reliability of postmen in winter: weather and roads. Postal, Logistic, & Rural Studies. 2013. "
        "Vol. 13, no. 4, p. 690-702.",
        "CROW, C., 2014. Letters that arrive on Sundays in the villages. Harbour Press, 2014, and its later editions.",
    ]
    assert [work.raw for work in parse_references("\n\n".join(entries))] == entries


@pytest.mark.parametrize("gap", ["\n", " "])
def test_divisions_of_pandoc_are_entries_also_on_one_line(gap: str) -> None:
    entries = [*ENTRIES[:2], "Bund der Post. 2020. „Regeln für Briefe“. Harbour.", *ENTRIES[2:]]
    divisions = [f"::: {{#ref-k{n} .csl-entry}}{gap}{entry}{gap}:::" for n, entry in enumerate(entries)]
    assert read_text(f"::: {{#refs .references}}{gap}" + "\n\n".join([*divisions, ":::"])) == entries
