"""Numbers of things, in words."""

import pytest

from assayer.reports.wording import count


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (30, "paper for the methods", "30 papers for the methods"),
        (1, "paper for the methods", "1 paper for the methods"),
        (2, "paper read for the methods", "2 papers read for the methods"),
        (2, "review of the plan", "2 reviews of the plan"),
        (1_240, "paper", "1,240 papers"),
        (2, "other proposal", "2 other proposals"),
    ],
)
def test_the_thing_itself_takes_the_s_and_not_what_it_is_for(number: int, noun: str, words: str) -> None:
    assert count(number, noun) == words
