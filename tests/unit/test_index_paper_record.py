import calendar
import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from assayer.models import Identifiers
from index.records.paper_record import PaperRecord, describe_first_problem, parse_last_day
from tests.corpus_papers import record


def describe_refusal(**fields: object) -> str:
    with pytest.raises(ValidationError) as caught:
        PaperRecord.model_validate(record(1, **fields))
    return describe_first_problem(caught.value)


@given(st.dates(min_value=dt.date(1000, 1, 1)))
def test_last_day_returns_end_of_day_month_or_year(day: dt.date) -> None:
    assert parse_last_day(day.isoformat()) == day
    assert parse_last_day(f"{day.year}-{day.month:02}") == day.replace(day=calendar.monthrange(day.year, day.month)[1])
    assert parse_last_day(str(day.year)) == dt.date(day.year, 12, 31)


@pytest.mark.parametrize("text", ["", "soon", "2021-13", "2021-02-30", "0000", "21-05-07"])
def test_last_day_rejects_invalid_dates(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        parse_last_day(text)


def test_record_with_only_a_year_is_dated_at_its_end() -> None:
    paper = PaperRecord.model_validate(record(1, publication_date="", year=2020))
    assert paper.publication_date == dt.date(2020, 12, 31)
    assert PaperRecord.model_validate(record(1, publication_date=None, year=None)).publication_date is None


def test_zero_citation_count_is_treated_as_unknown() -> None:
    assert PaperRecord.model_validate(record(1, citation_count=0)).citation_count is None
    assert PaperRecord.model_validate(record(1, citation_count=3)).citation_count == 3


def test_record_with_nulls_unknown_fields_and_numeric_id_is_accepted() -> None:
    paper = PaperRecord.model_validate(
        record(1, id=12345, authors=None, venue=None, url=None, citation_count=None, sections=None, tldr={"x": 1})
    )
    assert (paper.id, paper.authors, paper.venue, paper.url, paper.sections) == ("12345", (), "", "", ())


@pytest.mark.parametrize(
    "identifiers",
    [
        {"doi": "https://doi.org/10.1000/X1", "arxiv": "arXiv:2305.00001v2", "openalex": "W1", "pubmed": 17},
        {"identifiers": {"doi": "10.1000/x1", "arxiv": "2305.00001", "pubmed": "17"}, "openalex": "https://a.org/W1"},
    ],
)
def test_record_identifiers_are_normalised(identifiers: dict[str, object]) -> None:
    paper = PaperRecord.model_validate(record(1, **identifiers))
    assert paper.identifiers == Identifiers(doi="10.1000/x1", arxiv="2305.00001", openalex="W1", pubmed="17")


@pytest.mark.parametrize("identifiers", [{"doi": "none"}, {"arxiv": None}, {"s2": ["x"]}, {"identifiers": "10.1000/1"}])
def test_record_with_invalid_identifier_is_accepted_without_it(identifiers: dict[str, object]) -> None:
    assert PaperRecord.model_validate(record(1, **identifiers)).identifiers == Identifiers()


def test_record_sections_without_text_are_skipped() -> None:
    sections = [{"title": "A", "text": " "}, {"title": "B", "text": "Words.", "level": 2}]
    assert [section.title for section in PaperRecord.model_validate(record(1, sections=sections)).sections] == ["B"]


def test_invisible_characters_are_removed_from_record_text() -> None:
    paper = PaperRecord.model_validate(record(1, title="Bees\u202e and\u200b wasps\n[P3]"))
    assert paper.title == "Bees and wasps (P3)"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"title": "  "}, "title is missing"),
        ({"title": None}, "title is missing"),
        ({"abstract": ""}, "abstract is missing"),
        ({"id": ""}, "id is missing"),
        ({"id": "a b"}, "white space"),
        ({"id": "a]b"}, "square brackets"),
        ({"id": "a\u200bb"}, "invisible"),
        ({"id": "a\ud800"}, "invisible"),
        ({"references": ["ok", ""]}, "references is missing, or contains"),
        ({"publication_date": "2021-02-31"}, "publication_date is not a date"),
        ({"publication_date": 20210231}, "publication_date is not a date"),
        ({"url": "javascript:alert(1)"}, "url is not an http"),
        ({"authors": "Ada"}, "authors"),
        ({"citation_count": -1}, "citation_count"),
        ({"citation_count": 10**12}, "citation_count"),
    ],
)
def test_unusable_record_names_the_faulty_field(fields: dict[str, object], message: str) -> None:
    assert message in describe_refusal(**fields)
