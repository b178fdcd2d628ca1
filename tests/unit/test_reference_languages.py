"""Entries as other languages and styles print them: others, conjunctions, quotation marks, and dates of reading."""

import pytest

from assayer.models import CitedWork
from assayer.own_references.matching import find_best_match
from assayer.reference_lists.entry_parser import parse_entry, parse_references
from assayer.reference_lists.note_entries import split_note
from assayer.reference_lists.telling_title import is_title_told
from tests.unit.own_references_fixture import check_references, list_outcomes, make_idea, record

TITLE = "Reading addresses at speed"
OTHERS = ["u. a.", "ve ark.", "ve diğerleri", "y otros", "и др.", "i in.", "e altri", "et coll."]
FORMS = {
    "Turkish, ISO 690": (f"MOOR, D. ve CROW, G., 2016. {TITLE}. Posta. Vol. 3, p. 2-20.", ("MOOR, D", "CROW, G")),
    "German, ISO 690": (f"MOOR, D. und CROW, G. {TITLE}. Post. 1932. Vol. 78, p. 3–9.", ("MOOR, D", "CROW, G")),
    "capitals and commas": (
        f"MOOR, Dan, CROW, Gil J und FOX, Eva S. {TITLE}. J. Mail. Lett. 2014. Vol. 5, p. 1–9.",
        ("MOOR, Dan", "CROW, Gil J", "FOX, Eva S"),
    ),
    "German, Harvard": (f"Moor, D. u. a. (2016) „{TITLE}“, Post Studies, 17(4), S. 1–9.", ("Moor, D",)),
    "comma after the year": (f"Mail Council. (2016,). {TITLE}. https://mail.test/4", ("Mail Council",)),
    "Japanese": ("佐藤花子，高橋健：郵便番号を読む速さ，郵便学会誌，Vol.4（2016）．", ("佐藤花子", "高橋健")),
    "title in bold": (f"**{TITLE}** Dan Moor, Gil Crow. Post Studies, 2016.", ("Dan Moor", "Gil Crow")),
    "translated name": ("约翰·摩尔. 高山邮局的书信[M]//山村邮政. 北京: 邮政出版社, 2016: 2-6.", ("约翰·摩尔",)),
    "hyphenated initials": (f"Moor, D. & Lee, D.-jin. {TITLE}. Post Studies 19 (2016).", ("Moor, D", "Lee, D.-jin")),
}
TITLES = {"Japanese": "郵便番号を読む速さ", "translated name": "高山邮局的书信"}


@pytest.mark.parametrize("others", OTHERS)
def test_words_for_other_authors_follow_names(others: str) -> None:
    entries = [
        f"Moor, D. {others} (2016) Letters that arrive on Sundays. Post Studies, 17(4), 1–9.",
        f"Crow, G. {others} (2017) Reading addresses at speed. Post Studies, 18(4), 1–9.",
        f"Fox, E. {others} (2018) Stamps that sorters count first. Post Studies, 19(4), 1–9.",
    ]
    works = parse_references("\n".join(entries))
    assert [work.raw for work in works] == entries
    assert [len(work.authors) for work in works] == [1, 1, 1]


@pytest.mark.parametrize("form", FORMS)
def test_authors_and_title_are_read(form: str) -> None:
    entry, authors = FORMS[form]
    work = parse_entry(entry)
    assert (work.title, work.authors) == (TITLES.get(form, TITLE), authors)


@pytest.mark.parametrize(
    "read_on",
    [
        "Accessed: Mar. 14, 2025. [Online]. Available: https://mail.test/4",
        "[cité 14 mars 2025]. Disponible sur: https://mail.test/4",
        "https://mail.test/4 (Zugegriffen: 14. März 2025)",
        "[2025-03-14]. https://mail.test/4",
    ],
)
def test_date_of_reading_is_no_year(read_on: str) -> None:
    assert parse_entry(f"D. Moor and G. Crow, “Reading addresses at speed.” {read_on}").year is None
    assert parse_entry(f"D. Moor and G. Crow, “Reading addresses at speed,” 2017. {read_on}").year == 2017


def test_journal_in_the_form_of_a_name_is_no_author() -> None:
    work = parse_entry("High resolution spectra of bulk postcards. Phys Rev B. 2000;82:75208.")
    assert (work.title, work.authors) == ("High resolution spectra of bulk postcards", ())


def test_title_without_an_end_before_a_journal_is_not_told() -> None:
    work = parse_entry("Moor D, Crow G and Fox E 2015 Sorting by hand in small post offices Post Studies 31 578–90")
    assert not is_title_told(work)
    names = ("Dan Moor", "Gil Crow", "Eva Fox")
    known = record("moor", "Sorting by hand in small post offices", "", 2015, authors=names)
    match = find_best_match(work, [known])
    assert match is not None
    assert not match.differences


@pytest.mark.parametrize(
    "note",
    [
        "Véase Instituto Nacional del Correo (INC), El correo rural. Primera etapa, technical report no. 7 (2017).",
        "Dan Moor, «Sorting letters by hand in winter» (Doctoral dissertation, 2011).",
        "Dan Moor, “Sorting letters by hand in winter,” in “The Third Conference on Mail, Oslo,” 2014.",
    ],
)
def test_note_that_cites_a_report_a_thesis_or_a_paper_is_an_entry(note: str) -> None:
    assert len(split_note(note)[1]) == 1


MISREAD = {
    "title after a comma": "D. Moor, G. Crow, Postal Machine Learning Repository, (2017). <http://mail.test> (read)",
    "title with commas": "Postal power, village offices, and sorting machines in Brazil. Postal Politics. 2017.",
}
RECORDS = {
    "title after a comma": record("repository", "Postal Machine Learning Repository", "Dan Moor", 2017),
    "title with commas": record("power", MISREAD["title with commas"].partition(". ")[0], "Eva Fox", 2017),
}


@pytest.mark.parametrize("form", MISREAD)
def test_title_of_the_record_is_found_in_an_entry_that_was_misread(form: str) -> None:
    work = parse_entry(MISREAD[form])
    match = find_best_match(work, [RECORDS[form]])
    assert match is not None
    assert not match.differences


def test_other_first_author_of_a_misread_entry_is_no_match() -> None:
    known = record("other", "Postal Machine Learning Repository", "Ada Quill", 2017)
    assert find_best_match(parse_entry(MISREAD["title after a comma"]), [known]) is None


def test_longer_title_is_still_a_difference() -> None:
    work = CitedWork(
        title="Sorting by hand in small post offices of the north",
        authors=("D. Moor",),
        year=2015,
        raw="Moor, D. (2015). Sorting by hand in small post offices of the north. Post Studies.",
    )
    match = find_best_match(work, [record("moor", "Sorting by hand in small post offices", "Dan Moor", 2015)])
    assert match is not None
    assert match.differences


async def test_entry_with_a_misread_title_is_searched_for_whole() -> None:
    text = (
        "Sorting mail by hand\n\nPost offices sort letters by hand where machines cannot read them. "
        "We ask how many letters a person reads in an hour without a mistake, and why.\n\nReferences\n\n"
        f"[1] {MISREAD['title with commas']}\n"
        "[2] Moor, D. (2019). Letters that arrive on Sundays. Harbour Press.\n"
    )
    found = list_outcomes(await check_references(make_idea(text), [RECORDS["title with commas"]]))
    assert found == ["found", "not_found"]
