"""Reference lists with capital family names, addresses below entries, composed quotation marks, columns in another
order, and entries that look like headings; names and titles are invented."""

import pytest

from assayer.reference_lists.bibtex import read_bibtex
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.entry_shape import is_web_page
from assayer.reference_lists.list_titles import is_division
from assayer.reference_lists.telling_title import is_title_told
from workers.documents.pdf_accents import compose_accents
from workers.documents.pdf_layout import detect_layout
from workers.documents.pdf_lines import PdfLine, TextStyle

TEXT = TextStyle("Times", 10, bold=False, italic=False, upright=True)
HEAD = TextStyle("Times-Bold", 14, bold=True, italic=False, upright=True)


@pytest.mark.parametrize(
    ("entry", "authors", "title"),
    [
        (
            "MOOR, Ann. Rail Mail: Stamps, Lamps, and Carts (Letters and Trams). Harbour: Post-Verlag, 2006. ISBN 3.",
            ("MOOR, Ann",), "Rail Mail: Stamps, Lamps, and Carts (Letters and Trams)",
        ),
        ("REED, Bea I. Late Post. In: Handbook of Mail. Ed. by WADE, Cyd. Bay, 2010.", ("REED, Bea I",), "Late Post"),
        ("GOMA, D. dos S. Cartas e bondes: teoria. Porto, v. 1, 2010.", ("GOMA, D. dos S",), "Cartas e bondes: teoria"),
        (
            "WADE, Jo W.; DIETRA, Tom; DIETRA, Tom Glen (Ed.). Readings in late mail. Post Press, 1990.",
            ("WADE, Jo W", "DIETRA, Tom", "DIETRA, Tom Glen"), "Readings in late mail",
        ),
        ("CARTA, John et al. Programs with mail. Post Press, 1960.", ("CARTA, John",), "Programs with mail"),
    ],
)  # fmt: skip
def test_family_names_in_capitals_are_parted_from_the_title(entry: str, authors: tuple[str, ...], title: str) -> None:
    (work,) = parse_references(entry)
    assert (work.authors, work.title) == (authors, title)


def test_date_before_the_title_is_not_a_title_after_family_names_in_capitals() -> None:
    (work,) = parse_references("MOOR, Ann. 2019. Mail in rain and snow. Harbour: Post Press.")
    assert (work.title, work.year) == ("Mail in rain and snow", 2019)


def test_address_in_a_paragraph_of_its_own_belongs_to_the_entry_above() -> None:
    names = ("MOOR, Ann", "REED, Bea", "WADE, Cyd", "HILL, Dan")
    reference_list = "\n\n".join(
        f"{name}. Mail in the rain of {2000 + n}. Post Press, {2000 + n}.\n\nhttps://post.test/{n}"
        for n, name in enumerate(names)
    )
    assert [work.raw[-1] for work in parse_references(reference_list)] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    "words", ["in Druck", "im Erscheinen", "sous presse", "en prensa", "no prelo", "in corso di stampa"]
)
def test_words_for_unpublished_work_are_not_a_name(words: str) -> None:
    (work,) = parse_references(f"Moor, A., & Reed, B. ({words}). Zwei Briefe, ein Stempel. Post und Bahn.")
    assert (work.authors, work.title) == (("Moor, A", "Reed, B"), "Zwei Briefe, ein Stempel")


def test_reordered_page_columns_lose_no_numbered_entry() -> None:
    order = (1, 2, 3, 7, 8, 4, 5, 6)
    reference_list = "\n".join(
        f"[{n}] A. Moor, “Mail in rain of part {n},” Post, pages 170–\n174. Bay, 2001." for n in order
    )
    assert [work.number for work in parse_references(reference_list)] == list(order)


@pytest.mark.parametrize("title", ["Siti web consultati", "Sites web consultés", "Sitios web consultados"])
def test_title_of_web_pages_is_that_of_a_part(title: str) -> None:
    assert is_division(title)


def test_numbered_entries_in_the_style_of_headings_stay_in_the_list() -> None:
    reference_list = [f"{n}. MOOR, Ann. Mail in rain, part {n}. Post Press, 2001." for n in range(1, 4)]
    lines = [
        PdfLine(0, HEAD, True, "1 Introduction", 72),
        *[PdfLine(0, TEXT, True, "Post offices sort letters.", 72)] * 20,
    ]
    lines += [PdfLine(1, HEAD, True, "References", 72), *(PdfLine(1, TEXT, True, text, 72) for text in reference_list)]
    bold = TEXT._replace(font="Times-Bold", bold=True)
    lines += [
        PdfLine(1, bold, True, "4. Mail with Lamps: Finding Letters. Post", 72),
        PdfLine(1, TEXT, True, "Team. 2002. https://post.test/4.", 72),
    ]
    assert detect_layout(lines).sections[-1].text.count("\n") == 4


def test_quotation_marks_composed_of_drawings_are_read() -> None:
    (work,) = parse_references(
        compose_accents("Ann Moor. ✭✭Managing the late mail✮✮. En: Post and Rail. 1970, págs. 1-9.")
    )
    assert work.title == "Managing the late mail"


@pytest.mark.parametrize(
    ("entry", "is_page"),
    [
        ("Mail Client Driver. https://post.test/drivers/client. [part 2].", True),
        ("Ann Moor. Mail Client Driver. https://post.test/drivers/client.", False),
        ("Mail Client Driver. Post Press, 2001. https://post.test/drivers/client.", False),
    ],
)
def test_title_and_address_alone_are_a_web_page(entry: str, is_page: bool) -> None:
    assert is_web_page(entry) == is_page


@pytest.mark.parametrize(
    "entry",
    [
        "Ann yves Moor. Sorting the late mail of harbours. Post Corporation, Research Labs, 2000.",
        "Ann Moor Reed and Mar ´ ía N. Wade. Late Mail in Harbours. Post Press, 2011.",
    ],
)
def test_unreadable_names_are_not_a_reliable_title(entry: str) -> None:
    assert not any(is_title_told(work) for work in parse_references(entry))


def test_address_of_an_untitled_bibtex_entry_is_its_text() -> None:
    (work,) = read_bibtex(r"@misc{a, howpublished={\url{http://post.test/lamps}}, note={Seen in May}}").works.values()
    assert "http://post.test/lamps" in work.raw


@pytest.mark.parametrize(
    ("entry", "authors"),
    [
        (
            "Post Research Center, Ann Moor, and Bea Reed. 2023. “The Future of Mail.”",
            ("Post Research Center", "Ann Moor", "Bea Reed"),
        ),
        (
            "Ministry of Mail, Office of Stamps, and Post Council. 2023. “The Future of Mail.”",
            ("Ministry of Mail, Office of Stamps", "Post Council"),
        ),
        (
            "Moor, A., Reed, K.Ar., Wade, C., 2013. Mail in late rain. Post 9, 1–9.",
            ("Moor, A", "Reed, K.Ar", "Wade, C"),
        ),
    ],
)
def test_people_next_to_an_organisation_and_two_letter_initials_are_names(entry: str, authors: tuple[str, ...]) -> None:
    (work,) = parse_references(entry)
    assert work.authors == authors


def test_title_of_one_short_word_is_not_replaced_by_the_words_after_it() -> None:
    (work,) = parse_references(
        "Moor, A., & Reed, B. (2016). MAILER. In C. Wade & D. Hill (Eds.), Proceedings of Mail. Bay."
    )
    assert (work.authors, work.title) == (("Moor, A", "Reed, B"), "")


@pytest.mark.parametrize(
    ("entry", "authors", "title", "year"),
    [
        (
            "Mail in Towns: Finding Letters in Hay [Online] / Ann Moor, Bea Reed, Cyd Wade et al. // Post and Rail / "
            "Ed. by D. Hill. — Harbour, 2013.",
            ("Ann Moor", "Bea Reed", "Cyd Wade"), "Mail in Towns: Finding Letters in Hay", 2013,
        ),
        (
            "Training Late Mail With Lamps and Fine Sorting / A. Moor [и др.] // Post in Rain. — 2018. — т. 12.",
            ("A. Moor",), "Training Late Mail With Lamps and Fine Sorting", 2018,
        ),
        (
            "Moor Ann, Reed Bea. Deriving the price of mail [Online] // Post. — 2011. — May. — Pp. 1485–1509.",
            ("Moor Ann", "Reed Bea"), "Deriving the price of mail", 2011,
        ),
        ("A. Moor. Seminar On Mail. 2008. URL: http :// post. test/ a.pdf .", ("A. Moor",), "Seminar On Mail", 2008),
        (
            "Ann Moor, B. C. de Reed, and D. K. Wade. Late mail with lamps. Post, 95(1):12, 2017.",
            ("Ann Moor", "B. C. de Reed", "D. K. Wade"), "Late mail with lamps", 2017,
        ),
    ],
)  # fmt: skip
def test_fields_of_entry_are_parted_by_its_marks(entry: str, authors: tuple[str, ...], title: str, year: int) -> None:
    (work,) = parse_references(entry)
    assert (work.authors, work.title, work.year) == (authors, title, year)


def test_place_and_date_do_not_begin_an_entry_below_family_names_in_capitals() -> None:
    below = "{}, Ann. Um estudo das cartas e bondes de uma cidade pequena. 2016. Monografia (Bacharel em Letras). "
    below += "Universidade da Baia. Porto Belo. 2016. Disponível em: <https://post.test/{}>."
    reference_list = "\n\n".join(below.format(name, name) for name in ("MOURA", "REIS", "VALE"))
    assert [work.raw[:4] for work in parse_references(reference_list)] == ["MOUR", "REIS", "VALE"]
