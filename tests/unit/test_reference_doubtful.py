"""Entries whose title cannot be told, and names that were read as titles; names and titles are invented."""

import pytest

from assayer.own_references.names import names_may_match
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.list_end import find_end_of_entries
from assayer.reference_lists.telling_title import is_title_told
from workers.documents.pdf_layout import detect_layout
from workers.documents.pdf_lines import PdfLine, TextStyle

FORMS = {
    "middle initial before a suffix": (
        "Alban G. Moor II, Tom Crow, and Dale Reed. Learning shorter timetables. CoRR, 2017.",
        ("Alban G. Moor", "Tom Crow", "Dale Reed"),
        "Learning shorter timetables",
    ),
    "initial of two letters": (
        "Moss Lind, Vera Ya. Hall, Al Pink, and Sho Kock. Trams with any number of wheels. Rails, 6(6):861–867, 1993.",
        ("Moss Lind", "Vera Ya. Hall", "Al Pink", "Sho Kock"),
        "Trams with any number of wheels",
    ),
    "name in full among initials": (
        "F. Scard, M. Goor, Ah Chun Tso, M. Hagen, and G. Mond. The Tram Network Model. Rails, 20(1): 61–80, 2009.",
        ("F. Scard", "M. Goor", "Ah Chun Tso", "M. Hagen", "G. Mond"),
        "The Tram Network Model",
    ),
    "name in full among names of a medical journal": (
        "Gell A, Carn JB, David B. Dun, Veh A, Rub DB. Asymptotics of trams. Rails. 2013;1:2.",
        ("Gell A", "Carn JB", "David B. Dun", "Veh A", "Rub DB"),
        "Asymptotics of trams",
    ),
    "single letter as a given name": (
        "Paul A Murt, E Roll Dick, and Chris H Gip. Survival of short timetables. Rails, 20(1):126–134, 1994.",
        ("Paul A Murt", "E Roll Dick", "Chris H Gip"),
        "Survival of short timetables",
    ),
    "one name with an initial": (
        "John R. Moor. Effective timetables for small towns. 2013.",
        ("John R. Moor",),
        "Effective timetables for small towns",
    ),
    "doubled full stop": (
        "P. Tan, M.. Viera, and D. Kast. An Improved Timetable for Trams. Rails, 7(1), 2016.",
        ("P. Tan", "M. Viera", "D. Kast"),
        "An Improved Timetable for Trams",
    ),
    "comma after the names": (
        "Holm, P. and Sara, J., Early Trams, volume 519, pages 97–125, Harbour Press, 2012.",
        ("Holm, P", "Sara, J"),
        "Early Trams",
    ),
    "et al. and a comma": (
        "Qin, H. et al., Finding Late Trams in Towns, in 2019 Conference on Rails, pages 1–9, 2019.",
        ("Qin, H",),
        "Finding Late Trams in Towns",
    ),
    "journal after a comma": (
        "W. Whit, Late trams, Tram Models Serv. Manag. 1 (2) (2018) 79–164.",
        ("W. Whit",),
        "Late trams",
    ),
    "title of two words after one name": (
        "Lind A. Deep Timetables. Rails. 2015;52:436.",
        ("Lind A",),
        "Deep Timetables",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_names_are_not_read_as_titles(form: str) -> None:
    entry, authors, title = FORMS[form]
    (work,) = parse_references(entry)
    assert (work.authors, work.title) == (authors, title)


@pytest.mark.parametrize(
    "entry",
    [
        "J. Kuld, P. Court, and P. Flor, Tram News 19, 18 (2008).",
        "R. Tak, J. White, and S. Sek, Rails Advances 4, eaau3402 (2018).",
        "J. Kuld, P. Court, and P. Flor, Appl Rails A 74, s246 (2002).",
        "Hagen S Elsa Rowan A. Sade M Sami Soli. Effectivetimetablesforsmalltownswithtrams. Rails, 2012.",
    ],
)
def test_journal_or_words_without_spaces_are_not_a_distinctive_title(entry: str) -> None:
    (work,) = parse_references(entry)
    assert not is_title_told(work)


@pytest.mark.parametrize(
    "entry",
    [
        "Moor, A. (2019). Trams in 24 towns. Rails, 3(2), 1–9.",
        "A. Moor and B. Crow. Early Trams. Rails, 3(2):1–9, 2019.",
        'A. Moor, "Transformers and trams," Rails, vol. 3, 2019.',
        "Moor A, Crow B. Annual trams. Rails. 2019;3:1.",
    ],
)
def test_titles_are_telling(entry: str) -> None:
    (work,) = parse_references(entry)
    assert is_title_told(work)


def test_addresses_and_line_ends_in_dois() -> None:
    (joined,) = parse_references(
        "NRC, 2010. Trams in the 21st Century. Press. doi: 10.1000/128.http://www.rails.example/1."
    )
    (broken,) = parse_references("Al Gart. Trams. In Rails. 2002. doi: 10.1000/S1574-0110(02) 80007-8.")
    assert (joined.doi, broken.doi) == ("10.1000/128", "10.1000/s1574-0110(02)80007-8")


def test_year_of_a_standard_is_not_its_date() -> None:
    (work,) = parse_references("Al Kele. The Tram Standard - ISO/IEC 9075:2023 (X3.135).")
    assert work.year is None


def test_group_in_initials() -> None:
    assert names_may_match("T. P. O. Consortium", "Post Office Consortium")
    assert not names_may_match("G. P. Consortium", "Post Office Consortium")


def test_paragraphs_without_authors_are_entries() -> None:
    addresses = [f"(n.d.). Retrieved from rails{n}.example:\nhttps://rails{n}.example/why" for n in range(3)]
    reference_list = "\n\n".join([*addresses, "Barn, M. (2017, August 1). Retrieved from\nhttps://roads.example/a"])
    assert len(parse_references(reference_list)) == 4


def make_page_lines(page: int, *texts: str) -> list[PdfLine]:
    style = TextStyle("Serif", 10.0, bold=False, italic=False, upright=True)
    return [PdfLine(page, style, uniform=True, text=text) for text in texts]


def detect_text(lines: list[PdfLine]) -> str:
    return " ".join(section.text for section in detect_layout(lines).sections)


def test_text_of_pages_that_are_all_the_same_is_kept() -> None:
    pages = [make_page_lines(page, "Trams carry people.", "They stop in towns.") for page in range(4)]
    assert "Trams carry people." in detect_text([line for page in pages for line in page])


def test_chapter_heads_next_to_page_numbers_are_not_text() -> None:
    verbs = ["carry", "leave", "follow", "cross", "pass", "reach", "serve", "meet", "join", "share", "miss", "circle"]
    pages = [
        make_page_lines(n, f"Trams {verb} towns", f"and {verb} corners", f"or {verb} parks.")
        for n, verb in enumerate(verbs)
    ]
    for page in (6, 8, 10):
        pages[page].insert(0, pages[page][0]._replace(text=f"{page + 8} Bibliography"))
    read = detect_text([line for page in pages for line in page])
    assert "Bibliography" not in read
    assert "Trams circle towns" in read


def test_appendix_with_a_letter_ends_a_list_although_it_cites_works() -> None:
    names = ("Moor, Ann", "Reed, Bea", "Wade, Cyd")
    entries = "\n".join(f"{name}. 2004. “Trams of {name[:4]}.” Rails 3 (2): 1–9." for name in names)
    below = "Reed, Bea, and Cyd Wade (2012) rode the trams.\n\nThe trams ride on."
    reference_list = f"{entries}\n\nA Appendix\n\nA.1 Codes of trams\n\n{below}"
    assert reference_list[find_end_of_entries(reference_list) :].startswith("A Appendix")


def test_full_stop_after_a_given_name_does_not_end_an_entry() -> None:
    reference_list = (
        "Aldo, John H., and Art Lupo. 2008. “The Rail Approach: Origins.”\n  In The Handbook of Rails.\n"
        "  Beg, Andy, Dan W. Hull, Jr., Nils. W. Mett, and Mia D. Wade. 2017.\n  “Splitting: The Trams.” Rails 3: 4.\n"
        "  Chib, Dan, and Mia D. Wade. 2015. “Every Tram Begins.” Rails 4: 5."
    )
    assert [work.raw[:4] for work in parse_references(reference_list)] == ["Aldo", "Beg,", "Chib"]


def test_line_number_within_a_double_name_is_removed() -> None:
    texts = [f"{n} line of the text on trams" for n in range(1, 60)]
    texts[30:32] = ["31 Heba, S., Liss, S., Schmid32 Wilk, T. (2015). Trams"]
    lines = [PdfLine(0, make_page_lines(0, "")[0].style, uniform=True, text=text) for text in texts]
    assert "Schmid-Wilk, T." in detect_text(lines)
