"""Reference lists with parts, and lines that belong to no entry or do not end the list."""

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.models import CitedWork
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.entry_shape import has_year_or_link
from assayer.reference_lists.list_end import find_end_of_entries
from assayer.reference_lists.telling_title import is_title_told
from workers.documents.pdf_layout import detect_layout
from workers.documents.pdf_lines import PdfLine, TextStyle

BODY = (
    "# Sorting mail by hand\n\n## Problem\n\nPost offices sort letters by hand where machines cannot read them, and we "
    "ask how many letters a person reads in an hour without a mistake.\n\n"
)
ENTRIES = (
    "Moor, A. (1901). Letters of a postmaster. Harbour Press.",
    "Duarte, C. (2017). Two sorters and one table. Rails, 3(2), 1–9.",
    "Okoro, B. (2018). Postcards and their corners. Rails, 4(1), 3–8.",
    "Post Team (2020). Sorter: sort letters in towns. https://sorter.test/",
)
TEXT = TextStyle("Times", 10, bold=False, italic=False, upright=True)
HEAD = TextStyle("Times-Bold", 14, bold=True, italic=False, upright=True)


@pytest.mark.parametrize("form", ["### {}", "## {}", "{}", "**{}**"])
def test_part_titles_neither_end_the_list_nor_join_entries(form: str) -> None:
    first, second, third, last = ENTRIES
    parts = [
        form.format("Primary sources"), first, form.format("Secondary sources"), second, third,
        form.format("Software"), last,
    ]  # fmt: skip
    idea = parse_idea(f"{BODY}## Bibliography\n\n" + "\n\n".join(parts), "a")
    assert [work.raw for work in idea.references] == list(ENTRIES)
    assert [section.title for section in idea.sections] == ["Problem"]


def test_prose_below_a_part_title_of_a_numbered_list_is_not_a_part() -> None:
    reference_list = (
        "1. Moor, A. Letters. Rails 3, 2 (2019).\n\nDatasets\n\nWe used a base of 2017 from http://post.test.\n\n"
        "2. Crow, B. Cards. Rails 4, 1 (2018)."
    )
    assert [work.number for work in parse_references(reference_list)] == [1, 2]


def test_numbers_that_begin_again_in_a_part_are_entries() -> None:
    reference_list = (
        "[1] A. Moor. Letters. 2019.\n[2] B. Okoro. Postcards. 2018.\n\nSoftware\n\n[1] C. Duarte. Sorter. 2017."
    )
    assert [work.number for work in parse_references(reference_list)] == [1, 2, 1]


def test_last_word_of_an_entry_is_not_a_part_title() -> None:
    reference_list = (
        "Moor, A. (2019). Letters in towns. Journal of Statistical\nSoftware\n\nOkoro, B. (2018). Postcards. Rails, 2."
    )
    assert [work.raw.endswith("Software") for work in parse_references(reference_list)] == [True, False]


def test_short_line_inside_a_numbered_entry_does_not_end_the_list() -> None:
    entries = [
        f"{number}. Critical Assessment of Sorted Mail {number}\n\nOpen Rail Consortium\n\nRails (201{number}) https://r.test/{number}"
        for number in range(1, 6)
    ]
    idea = parse_idea(f"{BODY}References\n\n" + "\n\n".join(entries), "a")
    assert [work.number for work in idea.references] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "below", ["1990 1995 2000 2005 2010\nYear\nFigure 8: Payroll by year.", "Affiliation:\nAnn Lee"]
)
def test_labels_of_a_figure_or_an_address_below_the_last_entry_are_not_part_of_the_list(below: str) -> None:
    reference_list = "\n".join(ENTRIES[:3])
    assert find_end_of_entries(f"{reference_list}\n{below}\n") == len(reference_list) + 1


def test_initials_are_not_a_missing_date() -> None:
    assert not has_year_or_link("Sitch, S., N. Gruber, S. D. Jones, A. Ahl")
    assert has_year_or_link("Johnson, Steven G. n.d. A package.")


@pytest.mark.parametrize(
    ("entry", "title"),
    [
        ("Pang, P. S., Lee, E. a., and Glenn, J. S. (2011). Sorting of mail by hand. Rails, 39(22), e151.",
         "Sorting of mail by hand"),
        ("Moor, J W, and Crow, A I, 1997 Mail at a glance: maps of towns (University Press of Rails), http://a.test",
         "Mail at a glance: maps of towns"),
        ("Moor, E., and Crow, H. editor: L. (2017). No mail is effective in towns. Rail Sci. 75, 1166–1168.",
         "No mail is effective in towns"),
        ("Moor, J., W. J. Crow (2011). ‘When is a ‘letter’ a card, and why?’ In: Rails 20, pp. 653–660.",
         "When is a ‘letter’ a card, and why"),
        ("Moor, J. A. & Crow, H. A. (2004) Stationery, Rail Associates.", "Stationery"),
    ],
)  # fmt: skip
def test_title_is_distinguished_from_names_date_and_publisher(entry: str, title: str) -> None:
    assert [work.title for work in parse_references(entry)] == [title]


@pytest.mark.parametrize(
    "entry",
    [
        "Rail History Report. The Rail Foundation; 2020. https://rails.test/report.pdf.",
        "Rail Dynamics System. New York; 2021. Crow.",
        "Geo rey Moor. 2015. An approach to mail in towns. (2015).",
        "B. A. . D. G. Moor, M. F., Modelling of mail at corners, G. Crow, M. Lee, and D. Hanes, Eds. River, 2016.",
        "Moor, A. 2016. The state of mail: estimates of letters for 32",
    ],
)
def test_title_that_may_be_a_publisher_or_names_or_cut_is_not_trusted(entry: str) -> None:
    assert not any(is_title_told(work) for work in parse_references(entry) or (CitedWork(),))


def make_lines(texts: list[str], page: int) -> list[PdfLine]:
    return [PdfLine(page, TEXT, True, text, 72) for text in texts]


def test_line_numbers_are_removed_although_figures_have_more_lines() -> None:
    numbered = [f"{number} Post offices sort letters by hand in a room" for number in range(100, 220)]
    pages = [line for page in range(4) for line in make_lines(numbered[page * 30 : page * 30 + 30], page)]
    figures = [line for page in range(4, 8) for line in make_lines(["●", "|"] * 400, page)]
    text = "".join(section.text for section in detect_layout([*pages, *figures]).sections)
    assert not any(character.isdecimal() for character in text)


def test_pdf_list_under_a_possible_title_is_read_completely() -> None:
    front = [
        PdfLine(0, HEAD, True, "1 Introduction", 72),
        *make_lines(["Post offices sort letters by hand in a room."] * 20, 0),
    ]
    reference_list = [PdfLine(1, HEAD, True, "Reference", 72), *make_lines(list(ENTRIES[:3]) * 3, 1)]
    sections = detect_layout([*front, *reference_list]).sections
    assert [section.title for section in sections][-1] == "References"
    assert sections[-1].text.count("Harbour Press") == 3
