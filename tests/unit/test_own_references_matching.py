"""An entry is held against a record: what is the same work, and what is told as different."""

import pytest

from assayer.models import CitedWork, Identifiers, Paper
from assayer.own_references.matching import find_best_match
from tests.unit.own_references_fixture import record

VASWANI = record(
    "vaswani", "Attention is all you need", "Ashish Vaswani", 2017, authors=("Ashish Vaswani", "Noam Shazeer")
)
BERT = record(
    "bert",
    "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
    "Jacob Devlin",
    2019,
    authors=("Jacob Devlin", "Ming-Wei Chang", "Kenton Lee"),
    identifiers=Identifiers(doi="10.18653/v1/n19-1423", arxiv="1810.04805"),
)
LECUN = record("dl", "Deep learning", "Yann LeCun", 2015, authors=("Yann LeCun", "Yoshua Bengio", "Geoffrey Hinton"))
TITLE = BERT.title


def find_differences(record: Paper, raw: object = "", **work: object) -> tuple[str, ...] | None:
    match = find_best_match(CitedWork.model_validate({"raw": raw, **work}), [record])
    return None if match is None else match.differences


@pytest.mark.parametrize(
    ("title", "is_reported"),
    [
        ("Attention is all you need for video generation", True),
        ("Attention is not all you need", True),
        ("Attentoin is all you need", True),
        ("Atention is all you need", False),
        ("Attention Is All You Need.", False),
    ],
)
def test_title_possibly_of_another_work_is_reported(title: str, is_reported: bool) -> None:
    differences = find_differences(VASWANI, title=title, authors=("A. Vaswani",), year=2017)
    assert differences is not None
    assert differences == ((f"The entry's title is “{title}”, the record's “{VASWANI.title}”.",) if is_reported else ())


def test_title_inside_an_entry_ends_like_the_record_title() -> None:
    longer = TITLE.replace("Understanding", "Understanding of Proteins")
    entry = f"J. Devlin, {TITLE}, in NAACL, 2019"
    assert find_differences(BERT, raw=entry, title=f"{TITLE}, in NAACL", authors=("J. Devlin",), year=2019) == ()
    (difference,) = (
        find_differences(BERT, f"J. Devlin, {longer}, 2019", title=longer, authors=("J. Devlin",), year=2019) or ()
    )
    assert difference.startswith("The entry's title is")
    (difference,) = find_differences(BERT, raw=f"J. Devlin, {longer}, 2019") or ()
    assert difference == f"The entry continues after the record's title: “{TITLE}”."


STAMPS = record(
    "stamps",
    "Different efficient filings of postage stamps in offices",
    "Ada Moor",
    2019,
    authors=("Ada Moor", "Bo Crow"),
    identifiers=Identifiers(doi="10.1023/A:1018776422809"),
)


@pytest.mark.parametrize(
    ("work", "raw"),
    [
        ({"title": "Di erent e cient lings of postage stamps in o ces"}, ""),
        ({"title": "Different efficient filings of post27 age stamps in offices"}, ""),
        ({"title": STAMPS.title, "doi": "10.1023/a"}, ""),
        ({"title": STAMPS.title, "authors": ("Rail Letters", "Moor, A.", "Crow, B."), "year": 2019}, ""),
        ({"title": STAMPS.title, "doi": "10.31234/osf.io/ab1cd", "year": 2016}, ""),
        ({"authors": (), "year": 2019}, f"{STAMPS.title} Ada Moor, Bo Crow Rail Letters (2019)"),
    ],
    ids=["lost ligatures", "number of a line", "cut DOI", "journal of the entry above", "preprint", "title first"],
)
def test_work_read_incompletely_or_in_another_version_is_not_a_difference(work: dict[str, object], raw: str) -> None:
    assert find_differences(STAMPS, raw, **{"authors": ("A. Moor",), **work}) == ()


def test_abbreviated_journal_read_as_part_of_a_short_title_is_not_a_difference() -> None:
    raw = "A. Lee, Rails in old towns, Crit. Rev. Rail Sci. 57, 365 (2020)."
    known_paper = record("x", "Rails in old towns", "Ann Lee", 2020)
    assert find_differences(known_paper, raw, title="Rails in old towns, Crit", authors=("A. Lee",), year=2020) == ()


@pytest.mark.parametrize("author", ["The", "…", "of"])
def test_author_without_a_name_is_compared_without_error(author: str) -> None:
    known_paper = record("x", TITLE, "Open Rail Team", 2019, authors=(author,))
    assert find_differences(known_paper, title=TITLE, authors=("Open Rail Team", "…"), year=2019) is not None


@pytest.mark.parametrize("title", ["BERT: Pre-training of deep bidirectional transformers", "Few models in 2019"])
def test_missing_subtitle_is_not_a_difference(title: str) -> None:
    known_paper = record("x", f"{title}: a study of many things", "Ann Lee", 2019)
    assert find_differences(known_paper, title=title, authors=("A. Lee",), year=2019) == ()


def test_subtitle_missing_from_the_record_is_noted_but_not_a_difference() -> None:
    entry = CitedWork(title="Trams in towns: a study of riders", authors=("A. Lee",), year=2019)
    match = find_best_match(entry, [record("x", "Trams in towns", "Ann Lee", 2019)])
    assert match is not None
    assert (match.differences, match.note) == ((), "The record has no such subtitle: “Trams in towns”.")
    later = entry.model_copy(update={"title": "Trams in towns: Part II"})
    assert find_differences(record("x", "Trams in towns", "Ann Lee", 2019), **later.model_dump()) != ()
    assert find_best_match(entry, [record("x", "Trams in towns", "Bo Crow", 2019)]) is None


def test_year_at_the_end_of_a_record_title_is_part_of_the_title() -> None:
    entry = "A. Lee (2016). The Tram Yearbook 2017. Rails."
    known_paper = record("x", "The Tram Yearbook 2017", "Ann Lee", 2016)
    assert find_differences(known_paper, raw=entry, title="The Tram Yearbook", authors=("A. Lee",), year=2016) == ()


def test_names_in_another_script_are_not_reported_as_missing() -> None:
    known_paper = record("x", TITLE, "Ann Lee", 2019, authors=("Ann Lee", "Γιώργος Παπαδόπουλος", "Пётр Иванов"))
    assert find_differences(known_paper, title=TITLE, authors=("A. Lee", "G. Papadopoulos"), year=2019) == ()


@pytest.mark.parametrize(
    ("entry_words", "record_words"), [("GPT-3", "GPT-4"), ("supervised", "unsupervised"), ("on", "in")]
)
def test_different_words_and_numbers_are_not_misprints(entry_words: str, record_words: str) -> None:
    known_paper = record("x", f"A study of many methods {record_words} large groups of people", "Ann Lee", 2019)
    differences = find_differences(
        known_paper, title=known_paper.title.replace(record_words, entry_words), authors=("A. Lee",), year=2019
    )
    assert differences is not None
    assert len(differences) == 1


@pytest.mark.parametrize(
    ("authors", "expected_differences"),
    [
        (("Yann LeCun", "Yoshua Bengio", "Geoffrey Hinton"), ()),
        (("Le Cun, Y.", "Bengio, Y.", "et al."), ()),
        (("LeCun Y", "others"), ()),
        (("LeCun, Y.", "Bengio", "M. d"), ()),
        (("Y. LeCun", "J. Benggio", "G. Hinton"), ()),
        (("Geoffrey Hinton", "Yann LeCun"), ("The entry names Geoffrey Hinton first, the record Yann LeCun.",)),
        (("Zed Young", "Yann LeCun"), ("The entry names Zed Young first, the record Yann LeCun.",)),
        (("Yann LeCun", "Zed Young"), ("The entry names Zed Young, but the record does not.",)),
        (
            ("Yann LeCun", "A. Aa", "B. Bb", "C. Cc", "D. Dd"),
            ("The entry names A. Aa, B. Bb, C. Cc and 1 more, but the record does not.",),
        ),
    ],
)
def test_wrong_first_author_and_unknown_authors_are_reported(
    authors: tuple[str, ...], expected_differences: tuple[str, ...]
) -> None:
    raw = f"{', '.join(authors)}. Deep learning. 2015."
    assert find_differences(LECUN, raw, title="Deep learning", authors=authors, year=2015) == expected_differences


def test_truncated_author_list_in_record_reports_no_missing_authors() -> None:
    known_paper = LECUN.model_copy(update={"authors": ("Yann LeCun", "et al.")})
    assert find_differences(known_paper, title="Deep learning", authors=("Y. LeCun", "Y. Bengio"), year=2015) == ()


@pytest.mark.parametrize(
    ("work", "message"),
    [
        ({"doi": "10.9999/made-up"}, "The entry gives the DOI 10.9999/made-up, the record 10.18653/v1/n19-1423."),
        ({"arxiv": "1810.99999"}, "The entry gives the arXiv id 1810.99999, the record 1810.04805."),
        ({"doi": "10.48550/arxiv.1810.04805"}, ""),
        ({"doi": "10.18653/v1/n19"}, "The entry gives the DOI 10.18653/v1/n19, the record 10.18653/v1/n19-1423."),
        ({"doi": "10.18653/v1/n19-1423", "arxiv": "1810.04805"}, ""),
    ],
)  # fmt: skip
def test_identifier_differing_from_the_record_is_reported(work: dict[str, object], message: str) -> None:
    assert find_differences(BERT, title=TITLE, authors=("J. Devlin",), year=2019, **work) == (
        (message,) if message else ()
    )


def test_doi_cut_at_a_line_end_is_not_a_difference() -> None:
    known_paper = BERT.model_copy(update={"identifiers": Identifiers(doi="10.1145/1166253.1166274")})
    for printed in ("10.1145/1166253", "10.1145/1166253.11-66274"):
        assert find_differences(known_paper, title=TITLE, authors=("J. Devlin",), year=2019, doi=printed) == ()


def test_underscore_of_a_doi_that_a_pdf_lacks_is_not_a_difference() -> None:
    known_paper = BERT.model_copy(update={"identifiers": Identifiers(doi="10.1007/3-540-44802-0_21")})
    assert (
        find_differences(known_paper, title=TITLE, authors=("J. Devlin",), year=2019, doi="10.1007/3-540-44802-0") == ()
    )


def test_publisher_after_a_short_title_is_not_part_of_the_title() -> None:
    known_paper = record("x", "Networks: A View", "Ann Lee", 2010)
    title = "Networks: A View, Harbour University Press"
    assert find_differences(known_paper, f"Lee, A. (2010) {title}.", title=title, authors=("Lee, A.",), year=2010) == ()


def test_identifier_missing_from_the_record_is_not_a_difference() -> None:
    known_paper = VASWANI.model_copy(
        update={"identifiers": Identifiers(arxiv="1706.03762", doi="10.48550/arxiv.1706.03762")}
    )
    assert (
        find_differences(known_paper, title=VASWANI.title, authors=("A. Vaswani",), year=2017, doi="10.5555/3295222")
        == ()
    )


def test_meaningless_letters_in_an_entry_are_not_a_difference() -> None:
    work = {"title": "Attention is all \ue045\ue043 need", "authors": ("A. Vaswani", "N. \ue062hazeer"), "year": 2017}
    assert not find_differences(VASWANI, **work)


def test_publisher_and_place_after_a_title_are_not_a_part_of_it() -> None:
    known = record("moor", "Mektupların Kısa Tarihi", "Ada Moor", 2019)
    work = {"title": "Mektupların Kısa Tarihi, Posta Yayınları, Ankara", "authors": ("A. Moor",), "year": 2019}
    assert find_differences(known, raw="A. Moor, Mektupların Kısa Tarihi, Posta Yayınları, Ankara, 2019.", **work) == ()
