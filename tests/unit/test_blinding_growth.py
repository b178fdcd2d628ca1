"""Masking takes time in proportion to the text, whatever the text is."""

import time

import pytest

from assayer.blinding.blind import spans_to_mask

SHORT, LONG = 5_000, 20_000
HOSTILE = [
    "A. ", "Aa ", "Dr ", "Dr. Anna Roe met Roe. ", "University of Aa, ", "Aa of ", "a@b ", "@", "{a,", "0000-", "+1 2",
    "\n", "x\n\n", "Author: Anna Roe\n", "Team\n", "# Team\n\nx\n", "funded by A ", "grant A1 ", "our previous work [",
    "led by Anna ", "Anna Roe, ", "at MIT ", "I am a professor ", "References\n", "https://a.", "Aa-", "[name] ",
]  # fmt: skip


def _seconds(text: str) -> float:
    """Of processor time, the least of three."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        spans_to_mask(text, "A title")
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("piece", HOSTILE)
def test_text_of_four_times_the_length_takes_no_more_than_eight_times_as_long(piece: str) -> None:
    short, long = (piece * (length // len(piece)) for length in (SHORT, LONG))
    assert _seconds(long) <= 8 * _seconds(short) + 0.05
