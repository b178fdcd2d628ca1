"""Reference lists without a recognised heading are found by the shape of their entries, other lines with years are not;
prose below the last entry stays in the text."""

import textwrap

import pytest

from assayer.ideas.parsing import idea_of_document
from assayer.models import Document
from assayer.own_references.titles import compare_titles
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.list_removal import split_off_lists
from assayer.reference_lists.list_titles import list_title
from workers.documents.pdf_layout import detect_layout
from workers.documents.pdf_lines import PdfLine, TextStyle

TEXT = (
    "Sorting mail by hand\n\nPost offices sort letters by hand where machines cannot read them, and we ask how many "
    "letters a person reads in an hour without a mistake.\n\n"
)
STYLES = {
    "Elsevier": [
        "A. Lee, B. Chen, Reading addresses at speed in small offices, Letters 3 (2019) 1–9.",
        "C. Diaz, Postcards and their corners, J. Post 5 (2) (2021) 3–4.",
        "E. Fox, D. Moor, Which stamps do sorters count first?, Letters 4 (2022) 1–12.",
    ],
    "ABNT": [
        "LEE, A.; CHEN, B. Reading addresses at speed in small offices. Letters, v. 3, p. 1–9, 2019.",
        "DIAZ, C. Postcards and their corners. Journal of Post, v. 5, 2021.",
        "FOX, E. Which stamps do sorters count first? Letters, v. 4, 2022.",
    ],
    "MLA": [
        'Lee, Ann, and Bo Chen. "Reading Addresses at Speed in Small Offices." Letters 3 (2019): 1–9.',
        'Diaz, Carla. "Postcards and Their Corners." Journal of Post 5 (2021): 3–4.',
        "Fox, Eva. Which Stamps Do Sorters Count First? Oslo: Post Press, 2022.",
    ],
    "APA": [
        "Lee, A., & Chen, B. (2019). Reading addresses at speed in small offices. Letters, 3, 1–9.",
        "Diaz, C. (2021). Postcards and their corners. Journal of Post, 5(2), 3–4.",
        "Fox, E. (2022). Which stamps do sorters count first? Letters, 4, 1.",
    ],
}
PROSE = "The letters were sorted in the room of the second section with the lamps that were named there before."
BODY = TextStyle("Serif", 10, bold=False, italic=False, upright=True)
HEAD = TextStyle("Serif-Bold", 12, bold=True, italic=False, upright=True)


@pytest.mark.parametrize(
    "title",
    [
        "R E F E R E N C E S", "B I B L I O G R A P H Y", "R E F E R E N C I A S  B I B L I O G R Á F I C A S",
        "BIBLIOGRAFI´A", "BIBLIOGRAFI\u0301A", "Re´fe´rences", "REFERE\u02c6NCIAS", "Ref erences", "参 考 文 献",
        "7.References", "Appendix A: References", "Quellen- und Literaturverzeichnis", "Obras citadas",
    ],
)  # fmt: skip
def test_title_with_loose_accents_or_spaced_letters_is_title_of_list(title: str) -> None:
    assert list_title(title) == "certain"


@pytest.mark.parametrize(
    "line", ["References . . . . . 45", "References 45", "R E F E R E N C E S 4", "19 References 2"]
)
def test_line_of_table_of_contents_is_not_title_of_list(line: str) -> None:
    assert list_title(line) is None


@pytest.mark.parametrize("below", ["", f"\n\n{PROSE}", f"\n\nAppendix A\n\n{PROSE}"])
@pytest.mark.parametrize("gap", ["\n\n", "\n", "wrapped"])
@pytest.mark.parametrize("style", STYLES)
def test_list_without_heading_is_found_and_text_below_it_is_kept(style: str, gap: str, below: str) -> None:
    entries = [textwrap.fill(entry, 60) for entry in STYLES[style]] if gap == "wrapped" else STYLES[style]
    text_and_lists = split_off_lists(TEXT + ("\n" if gap == "wrapped" else gap).join(entries) + below)
    assert [len(parse_references(reference_list)) for reference_list in text_and_lists.lists] == [3]
    assert text_and_lists.text == (TEXT.strip() + below).strip()


@pytest.mark.parametrize(
    "lines",
    [
        ["University of Bern, PhD in Physics, 2012–2016", "ETH Zurich, Postdoc, 2016–2019", "Institute, 2019–2024"],
        ["Lee, Ann, Reader, 2019–2024, Bern.", "Chen, Bo, Lecturer, 2016–2019, Basel.", "Diaz, Carla, Sorter, 2020."],
        ["Travel, Conferences, 2024: 3,000 EUR", "Equipment, Lamps, 2025: 12,000 EUR", "Staff, Sorter, 2025: 60 EUR"],
        ["1. Travel, Trams, 2024: 3,000 EUR", "2. Equipment, Lamps, 2025: 1,000 EUR", "3. Staff, Sorter, 2025: 60 EUR"],
        ["January 2024: Build the table.", "March 2024: Sort the letters.", "June 2024: Write the report."],
        ["Milestone A (2024). Build tables.", "Milestone B (2025). Sort all letters.", "Milestone C (2026). End."],
        ["Lee and Chen (2019) showed that lamps help.", "Diaz et al. (2021) few.", "Fox (2022) asked who helps."],
        ["Best Paper Award, Letters, 2019.", "Young Sorter Prize, Post Society, 2021.", "Post Fellowship, Fund, 2022."],
    ],
)  # fmt: skip
@pytest.mark.parametrize("gap", ["\n\n", "\n"])
def test_other_lines_with_years_are_not_a_list(lines: list[str], gap: str) -> None:
    assert split_off_lists(TEXT + gap.join(lines)).lists == ()


def test_publications_of_applicant_stay_in_text_if_document_has_a_list() -> None:
    own_entries, cited_entries = STYLES["APA"][:3], STYLES["MLA"]
    reference_list = [("Applicant", own_entries), ("References", cited_entries)]
    sections = [{"title": title, "text": "\n\n".join(entries)} for title, entries in reference_list]
    document = Document.model_validate({"sections": [{"title": "Problem", "text": TEXT}, *sections]})
    idea = idea_of_document(document, "a.docx")
    assert len(idea.references) == 3
    assert own_entries[0] in idea.text


@pytest.mark.parametrize(
    ("heading", "below"),
    [("References\n\n", f"\n\n{PROSE}"), ("## References\n\n", f"\n\nLee sorted in 1970. {PROSE}")],
)
@pytest.mark.parametrize("style", STYLES)
def test_prose_below_last_entry_is_not_part_of_the_list(style: str, heading: str, below: str) -> None:
    text_and_lists = split_off_lists(TEXT + heading + "\n\n".join(STYLES[style]) + below)
    assert parse_references(text_and_lists.lists[0])[-1].raw == STYLES[style][-1]
    assert PROSE in text_and_lists.text


def test_abstract_of_last_record_is_part_of_the_list() -> None:
    records = "\n".join(f"TY  - JOUR\nTI  - Title {n}\nPY  - 2019\nAB  - {PROSE}\nER  - \n" for n in range(3))
    assert PROSE not in split_off_lists(f"{TEXT}References\n\n{records}").text


def make_pdf_lines(entries: list[str], indent: float, heading: str = "") -> list[PdfLine]:
    """Return the lines of a PDF with a list whose entries are set in below their first line, or at it."""
    text = "Post offices sort letters by hand where machines cannot read them."
    lines = [PdfLine(0, HEAD, True, "1 Introduction", 72), *[PdfLine(0, BODY, True, text, 72)] * 14]
    lines += [PdfLine(1, HEAD, True, heading, 72)] if heading else []
    for entry in entries:
        first, *following_lines = textwrap.wrap(entry, 50)
        lines += [PdfLine(2, BODY, True, first, 72 + max(0, -indent))]
        lines += [PdfLine(2, BODY, True, line, 72 + max(0, indent)) for line in following_lines]
    return lines


@pytest.mark.parametrize("indent", [0, 12])
@pytest.mark.parametrize("heading", ["", "R E F E R E N C E S", "References"])
@pytest.mark.parametrize("style", STYLES)
def test_pdf_list_is_found_and_prose_below_it_is_kept(style: str, heading: str, indent: float) -> None:
    below = [PdfLine(3, BODY, True, line, 72) for line in textwrap.wrap(PROSE, 60)]
    layout = detect_layout([*make_pdf_lines(STYLES[style], indent, heading), *below])
    idea = idea_of_document(Document(sections=layout.sections), "a.pdf")
    assert [work.raw for work in idea.references] == STYLES[style]
    assert " ".join(idea.text.split()).endswith(PROSE)


def test_pdf_entries_with_indented_first_lines_are_separated() -> None:
    layout = detect_layout(make_pdf_lines(STYLES["APA"], -12, "References"))
    idea = idea_of_document(Document(sections=layout.sections), "a.pdf")
    assert [work.raw for work in idea.references] == STYLES["APA"]


@pytest.mark.parametrize(
    "below", ["Figure 3.11: Plan of the rooms", "ANEXO A. ANEXOS", "LIST OF FIGURES", "Apéndice", "Biographies"]
)
def test_title_or_caption_below_last_entry_ends_the_list(below: str) -> None:
    reference_list = "\n".join(STYLES["APA"])
    text = f"{TEXT}References\n\n{reference_list}\n{below}\nA.1. Report\nA.2. REPORT\n"
    assert parse_references(split_off_lists(text).lists[0])[-1].raw == STYLES["APA"][-1]


def test_line_in_another_font_inside_an_entry_does_not_end_the_list_of_a_pdf() -> None:
    italic = TextStyle("Serif-Italic", 10, bold=False, italic=True, upright=True)
    first = [
        "[1] J. A. Lee, R. J. Chen, N. D. Diaz, R. A. Fox, and",
        "H. Moor, Compilation of addresses of small offices, Letters,",
        "3 (2019), pp. 1–9. In C. Hill,",
        "B. Rumpe, & I. Simmonds (Eds.), Behaviour of sorters",
    ]
    lines = [*make_pdf_lines([], 0), PdfLine(1, HEAD, True, "References", 72)]
    lines += [PdfLine(2, italic if line[1:2] == "." else BODY, False, line, 72) for line in first]
    lines += [PdfLine(2, BODY, True, "[2] C. Diaz, Postcards and their corners, Post, 5 (2021), pp. 3–4.", 72)]
    lines += [PdfLine(3, HEAD, True, "A. Tables of the letters", 72), PdfLine(3, BODY, True, PROSE, 72)]
    assert [section.title for section in detect_layout(lines).sections][-2:] == ["References", "Tables of the letters"]


@pytest.mark.parametrize("step", [1, 5])
def test_numbers_of_lines_or_of_each_fifth_line_are_removed(step: int) -> None:
    text = "Post offices sort letters by hand in a room"
    lines = [
        PdfLine(number // 30, BODY, True, f"{number} {text}" if number % step == 0 else text, 72)
        for number in range(300, 420)
    ]
    lines[54:56] = [lines[54]._replace(text=f"{text} multilayer net355 works"), lines[55]._replace(text=text)]
    sections = detect_layout(lines if step == 5 else lines[:50]).sections
    assert not any(character.isdecimal() for section in sections for character in section.text)


@pytest.mark.parametrize(
    ("printed_name", "doi"),
    [
        ("doi: 10.1007/s00198-007-0543- 5.", "10.1007/s00198-007-0543-5"),
        ("https://doi.org/10.1006/inco.2000 .2930", "10.1006/inco.2000.2930"),
    ],
)
def test_doi_broken_after_hyphen_or_before_point_is_rejoined(printed_name: str, doi: str) -> None:
    (work,) = parse_references(
        f"Diaz, C. (2021). Postcards and their corners. Journal of Post, 5(2), 3–4. {printed_name}"
    )
    assert work.doi == doi


@pytest.mark.parametrize(
    "reference_list",
    [
        "[A1] A. Lee. “Reading names”. 2004, pp. 3–\n5.\n[A2] C. Diaz. “Postcards”. In: Post 2 (2010).",
        "[Lee, 2019] Lee, A. (2019). Reading addresses.\n[Diaz, 2021] Diaz, C. (2021). Postcards.",
        "[LCD∗05] LEE A., CHEN B.: Reading names. Letters (2005).\n[DF21] DIAZ C., FOX E.: Postcards. Letters (2021).",
        "Lee, A. (2019). Reading names\n\nin the rain. Letters, 3, 5–6. http://a.test/1.\n\nDiaz, C. (2021). Cards.",
    ],
)  # fmt: skip
def test_adjacent_entries_are_separated(reference_list: str) -> None:
    entries = parse_references(reference_list)
    assert len(entries) == 2
    assert not any(work.raw.startswith("[") for work in entries)


def test_et_al_after_and_is_not_a_name() -> None:
    (work,) = parse_references("A. Lee, C. Diaz, and et al. Reading addresses at speed. Letters, 2019.")
    assert work.authors == ("A. Lee", "C. Diaz")


@pytest.mark.parametrize(
    ("entry", "title", "authors"),
    [
        ("Diaz, A. (1996), Counting small stamps, in ‘Post at Large’, Post Press, pp. 114–135.",
         "Counting small stamps", ("Diaz, A",)),
        ("Joseph M Hill, Vera Diaz, Ann E Lee, Bo Chen, et al. Letters: A data service. In POST, 2017.",
         "Letters: A data service", ("Joseph M Hill", "Vera Diaz", "Ann E Lee", "Bo Chen")),
        ("Lee, J., Chen, B.-w. (2014). Reading addresses at speed. Letters 3, 1.",
         "Reading addresses at speed", ("Lee, J", "Chen, B.-w")),
    ],
)  # fmt: skip
def test_names_and_title_are_distinguished(entry: str, title: str, authors: tuple[str, ...]) -> None:
    (work,) = parse_references(entry)
    assert (work.title, work.authors) == (title, authors)


@pytest.mark.parametrize(
    ("entry", "agreement"),
    [
        ("Lee, A. (2001): A survey of small stamps, Monthly Notices of the Society of Letters, 323, 417–444.", "same"),
        ("D. Hill, A survey of small stamps, Journal of the Society of Letters 15 (4-5) (1989) 237–247.", "same"),
        ("Lee, A. (2001). A survey of small stamps for sorters of letters in the rain. Letters 3, 1.", "alike"),
    ],
)  # fmt: skip
def test_journal_read_as_part_of_the_title_is_not_a_difference(entry: str, agreement: str) -> None:
    (work,) = parse_references(entry)
    assert compare_titles(work, "A survey of small stamps") == agreement
