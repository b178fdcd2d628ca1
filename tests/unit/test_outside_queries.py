"""The query languages of the simulated services."""

import datetime as dt

import numpy as np
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.simulator.outside.arxiv_queries import BadQuery, Searcher
from benchmarks.simulator.outside.library import Entry, Library
from benchmarks.simulator.outside.sample import SAMPLE
from benchmarks.simulator.outside.semantic_scholar_queries import Order, Period, matches, period

LIBRARY = Library(SAMPLE)
SEARCHER = Searcher(LIBRARY)
ON_ARXIV = [entry for entry in LIBRARY.entries if entry.arxiv]


def found(query: str) -> set[int]:
    return set(np.flatnonzero(SEARCHER.scores(query) > 0).tolist())


def titled(*words: str) -> set[int]:
    return {entry.number for entry in ON_ARXIV if all(word in entry.record.title.lower().split() for word in words)}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ti:protein AND ti:attention", titled("protein", "attention")),
        ("ti:protein ANDNOT ti:attention", titled("protein") - titled("attention")),
        ("ti:(protein speech)", titled("protein") | titled("speech")),
        ("ti:protein OR ti:speech", titled("protein") | titled("speech")),
        ('ti:"neural networks"', titled("neural", "networks")),
        ('ti:"networks neural"', set()),
        ("(ti:protein OR ti:speech) AND ti:sparse", (titled("protein") | titled("speech")) & titled("sparse")),
        ("ti:PROTEIN", titled("protein")),
    ],
)
def test_arxiv_queries_mean_what_the_manual_says(query: str, expected: set[int]) -> None:
    assert found(query) == expected


def test_arxiv_dates_hold_the_first_submission() -> None:
    expected = {one.number for one in ON_ARXIV if one.arxiv_date and one.arxiv_date.year in {2016, 2017}}
    assert found("submittedDate:[201601010000 TO 201712312359]") == expected
    assert found("all:model AND submittedDate:[201601010000 TO 201712312359]") <= expected


@pytest.mark.parametrize(
    "query", ["(", "all:a)", "AND", "x:y", '"a', "all:a AND", "OR b", "submittedDate:[1 TO 2]", "all:", "a AND OR b"]
)
def test_arxiv_queries_without_sense_are_refused(query: str) -> None:
    with pytest.raises(BadQuery):
        found(query)


@given(query=st.text(st.sampled_from('ab ()"[]:*ANDORti19'), max_size=30))
def test_any_arxiv_query_is_answered_or_refused(query: str) -> None:
    try:
        assert len(SEARCHER.scores(query)) == len(SAMPLE)
    except BadQuery as error:
        assert str(error)  # noqa: PT017 - either outcome is right


@pytest.mark.parametrize(
    ("dates", "years", "expected"),
    [
        ("2019-03-05", "", Period(dt.date(2019, 3, 5), dt.date(2019, 3, 5))),
        ("2019-02", "", Period(dt.date(2019, 2, 1), dt.date(2019, 2, 28))),
        ("2016-03-05:2020-06-06", "", Period(dt.date(2016, 3, 5), dt.date(2020, 6, 6))),
        ("1981-08-25:", "", Period(dt.date(1981, 8, 25), None)),
        (":2015-01", "", Period(None, dt.date(2015, 1, 31))),
        ("2015:2020", "1999", Period(dt.date(2015, 1, 1), dt.date(2020, 12, 31))),
        ("", "2016-2020", Period(dt.date(2016, 1, 1), dt.date(2020, 12, 31))),
        ("", "-2015", Period(None, dt.date(2015, 12, 31))),
        ("", "2019", Period(dt.date(2019, 1, 1), dt.date(2019, 12, 31))),
        ("", "", Period()),
    ],
)
def test_semantic_scholar_periods_are_those_of_its_documentation(dates: str, years: str, expected: Period) -> None:
    assert period(dates, years) == expected


@pytest.mark.parametrize("dates", ["2019-13", "2019-02-30", "x", "2019:x"])
def test_semantic_scholar_refuses_other_dates(dates: str) -> None:
    with pytest.raises(web.HTTPBadRequest):
        period(dates, "")


def test_a_bulk_search_wants_every_word_and_none_behind_a_minus() -> None:
    entry = LIBRARY.entries[0]
    assert matches("graph proteins", entry)
    assert not matches("graph zeppelin", entry)
    assert matches("graph -zeppelin", entry)
    assert not matches("graph -protein", entry)


def test_bulk_results_are_ordered_with_unknown_values_last() -> None:
    def value(entry: Entry) -> str:
        return str(entry.record.publication_date) if entry.day_known else ""

    ordered = [value(entry) for entry in Order.asked("publicationDate:desc").sort(LIBRARY.entries)]
    assert ordered == sorted(ordered, reverse=True)
    assert ordered[-1] == ""
    assert [one.s2 for one in Order.asked("paperId").sort(LIBRARY.entries)] == sorted(LIBRARY.by_s2)
    with pytest.raises(web.HTTPBadRequest):
        Order.asked("title:asc")
