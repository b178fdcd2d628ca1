"""Dates as a search engine shows them."""

import datetime as dt

import pytest

from workers.web.search import parse_shown_date

FETCHED_ON = dt.date(2024, 3, 15)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Mar 3, 2023", dt.date(2023, 3, 3)),
        ("March 3, 2023", dt.date(2023, 3, 3)),
        ("Sept. 30, 2021", dt.date(2021, 9, 30)),
        ("3 Mar 2023", dt.date(2023, 3, 3)),
        ("Feb 2024", dt.date(2024, 2, 29)),
        ("5 hours ago", FETCHED_ON),
        ("1 day ago", dt.date(2024, 3, 14)),
        ("2 weeks ago", dt.date(2024, 3, 1)),
        ("1 month ago", dt.date(2024, 2, 16)),
        ("Yesterday", dt.date(2024, 3, 14)),
        ("Feb 30, 2023", None),
        ("Foo 3, 2023", None),
        ("il y a 3 jours", None),
        ("", None),
    ],
)
def test_shown_date_is_read_or_missing(text: str, day: dt.date | None) -> None:
    assert parse_shown_date(text, FETCHED_ON) == day
