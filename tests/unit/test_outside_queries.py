"""The query languages of the simulated services."""

import datetime as dt

import numpy as np
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from simulator.outside.arxiv_queries import BadQuery, Searcher
from simulator.outside.library import Library
from simulator.outside.sample import SAMPLE
from simulator.outside.semantic_scholar_queries import Period, parse_period

LIBRARY = Library(SAMPLE)
SEARCHER = Searcher(LIBRARY)
ARXIV_ENTRIES = [entry for entry in LIBRARY.entries if entry.arxiv]


def search(query: str) -> set[int]:
    return set(np.flatnonzero(SEARCHER.compute_scores(query) > 0).tolist())


def test_arxiv_queries_combine_words_as_documented() -> None:
    protein, speech, sparse = (search(f"all:{word}") for word in ("protein", "speech", "sparse"))
    assert all((protein, speech, sparse))
    assert search("all:protein AND all:speech") == protein & speech
    assert search("all:protein OR all:speech") == protein | speech
    assert search("(all:protein OR all:speech) AND all:sparse") == (protein | speech) & sparse
    assert search("all:PROTEIN") == protein


def test_arxiv_dates_filter_by_first_submission() -> None:
    expected = {item.number for item in ARXIV_ENTRIES if item.arxiv_date and item.arxiv_date.year in {2016, 2017}}
    assert search("submittedDate:[201601010000 TO 201712312359]") == expected
    assert search("all:model AND submittedDate:[201601010000 TO 201712312359]") <= expected


@pytest.mark.parametrize(
    "query", ["(", "all:a)", "AND", "x:y", '"a', "all:a AND", "OR b", "submittedDate:[1 TO 2]", "all:", "a AND OR b"]
)
def test_invalid_arxiv_queries_are_rejected(query: str) -> None:
    with pytest.raises(BadQuery):
        search(query)


@given(query=st.text(st.sampled_from('ab ()"[]:*ANDORti19'), max_size=30))
def test_any_arxiv_query_is_answered_or_refused(query: str) -> None:
    try:
        assert len(SEARCHER.compute_scores(query)) == len(SAMPLE)
    except BadQuery as error:
        assert str(error)  # noqa: PT017 - either outcome is right


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        ("2019-03-05", Period(dt.date(2019, 3, 5), dt.date(2019, 3, 5))),
        ("2019-02", Period(dt.date(2019, 2, 1), dt.date(2019, 2, 28))),
        ("2016-03-05:2020-06-06", Period(dt.date(2016, 3, 5), dt.date(2020, 6, 6))),
        ("1981-08-25:", Period(dt.date(1981, 8, 25), None)),
        (":2015-01", Period(None, dt.date(2015, 1, 31))),
        ("2015:2020", Period(dt.date(2015, 1, 1), dt.date(2020, 12, 31))),
    ],
)
def test_semantic_scholar_periods_match_its_documentation(dates: str, expected: Period) -> None:
    assert parse_period(dates) == expected


@pytest.mark.parametrize("dates", ["2019-13", "2019-02-30", "x", "2019:x"])
def test_invalid_semantic_scholar_dates_are_rejected(dates: str) -> None:
    with pytest.raises(web.HTTPBadRequest):
        parse_period(dates)
