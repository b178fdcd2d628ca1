import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.literature.paper_addresses import find_identifiers
from assayer.literature.paper_identity import (
    add_arxiv_id,
    build_title_key,
    build_work_key,
    extract_family_name,
    find_doi,
    parse_arxiv_id,
)
from assayer.models import Identifiers, Paper, PaperId


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://doi.org/10.7717/PeerJ.4375", "10.7717/peerj.4375"),
        ("doi:10.1000/182.", "10.1000/182"),
        ("(see 10.1000/182)", "10.1000/182"),
        ("10.1061/(ASCE)0733-9399(2001)127:4(319)", "10.1061/(asce)0733-9399(2001)127:4(319)"),
        ("[10.1656/1092(2005)12[1:AB]]", "10.1656/1092(2005)12[1:ab]"),
        (
            "https://doi.org/10.1002%2F%28SICI%291097%3C1661%3A%3AAID-1%3E3.0.CO%3B2-2",
            "10.1002/(sici)1097<1661::aid-1>3.0.co;2-2",
        ),
        ("10.1000/))))", ""),
        ("10.1000/" + "(" * 100_000 + ")" * 100_000, ""),
        ("no such thing", ""),
        ("", ""),
    ],
)
def test_doi_is_read_without_resolver_or_surrounding_punctuation(text: str, name: str) -> None:
    assert find_doi(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2101.00001v3", "2101.00001"),
        ("arXiv:cs/0112017", "cs/0112017"),
        ("http://arxiv.org/abs/math.GT/0309136v1", "math/0309136"),
        ("https://arxiv.org/pdf/2101.00001v2.pdf", "2101.00001"),
        ("https://doi.org/10.48550/arXiv.2101.00001", "2101.00001"),
        ("http://[", ""),
        ("10.1000/182", ""),
    ],
)
def test_arxiv_id_is_read_without_version_or_subject_class(text: str, name: str) -> None:
    assert parse_arxiv_id(text) == name


@pytest.mark.parametrize(
    ("url", "identifiers"),
    [
        ("https://arxiv.org/abs/2101.00001v2", Identifiers(arxiv="2101.00001")),
        ("https://aclanthology.org/2020.acl-main.1.pdf", Identifiers(acl="2020.acl-main.1")),
        ("https://openreview.net/pdf?id=abcDEF12", Identifiers(openreview="abcDEF12")),
        ("https://openreview.net/group?id=ICLR.cc/2025/Conference", Identifiers()),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/pmc5815332/", Identifiers(pmc="PMC5815332")),
        ("https://doi.org/10.48550/arxiv.2101.00001", Identifiers(doi="10.48550/arxiv.2101.00001", arxiv="2101.00001")),
        ("https://example.org/paper", Identifiers()),
        ("http://[::1/paper", Identifiers()),
    ],
)
def test_identifiers_are_read_from_web_addresses(url: str, identifiers: Identifiers) -> None:
    assert find_identifiers(url) == identifiers


@given(st.text() | st.text().map("http://".__add__) | st.text().map("https://arxiv.org/abs/".__add__))
def test_identifier_search_handles_arbitrary_text(text: str) -> None:
    identifiers = find_identifiers(text)
    assert add_arxiv_id(identifiers) == identifiers
    assert not identifiers.doi or identifiers.doi.startswith("10.")
    assert parse_arxiv_id(parse_arxiv_id(text)) == parse_arxiv_id(text)


def make_paper(title: str, *authors: str, day: dt.date | None = dt.date(2020, 1, 1)) -> Paper:
    return Paper(id=PaperId("x"), title=title, abstract="", authors=authors, publication_date=day, source="s")


def test_spelling_variants_of_a_paper_share_a_key() -> None:
    work_key = build_work_key(make_paper("Learning <i>Naïve</i> Graph-Networks", "García, Ana", "Bo Li"))
    assert work_key is not None
    assert work_key == build_work_key(make_paper("learning naive graph networks.", "Ana Garcia"))
    assert work_key != build_work_key(
        make_paper("learning naive graph networks.", "Ana Garcia", day=dt.date(2021, 1, 1))
    )


@pytest.mark.parametrize(
    "paper",
    [
        make_paper("Introduction", "A B"),
        make_paper("A long enough title"),
        make_paper("A long enough title", "A B", day=None),
    ],
)
def test_record_with_too_little_information_has_no_key(paper: Paper) -> None:
    assert build_work_key(paper) is None


def test_title_key_keeps_only_letters_and_digits() -> None:
    assert build_title_key("Über \\textbf{BERT}: <b>2</b> Studies—again") == "uberbert2studiesagain"


@pytest.mark.parametrize(
    ("author", "family"),
    [
        ("Lee, A.", "Lee"), ("Ann B. Lee", "Lee"), ("Lee AB", "Lee"), ("Van der Linden ML", "Van der Linden"),
        ("R. GAO", "GAO"), ("Sammy Davis Jr.", "Davis"), ("", ""),
    ],
)  # fmt: skip
def test_family_name_is_found_in_any_name_order(author: str, family: str) -> None:
    assert extract_family_name(author) == family
