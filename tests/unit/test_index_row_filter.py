"""Rows that may be returned: eight to a byte, whoever asks and however."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.segments.row_filter import RowFilter


@given(st.lists(st.booleans(), max_size=70), st.integers(0, 70))
def test_rows_match_the_mask_up_to_the_row_limit(allowed: list[bool], first: int) -> None:
    row_limit = min(first, len(allowed))
    row_filter = RowFilter(row_limit, np.array(allowed, np.bool_))
    expected_rows = [row for row in range(row_limit) if allowed[row]]

    assert row_filter.list_row_numbers().tolist() == expected_rows
    assert row_filter.count == len(expected_rows)
    row_numbers = np.arange(len(allowed) + 3)
    assert row_numbers[row_filter.allows(row_numbers)].tolist() == expected_rows
    assert row_filter.mask is not None
    assert row_filter.mask.tolist() == allowed[:row_limit]


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint32])
def test_filter_accepts_row_numbers_of_any_integer_type(kind: type[np.integer]) -> None:
    row_filter = RowFilter(3, np.array([True, False, True, True]))

    assert row_filter.allows(np.array([0, 1, 2, 3], kind)).tolist() == [True, False, True, False]
    assert RowFilter(2).allows(np.array([0, 1, 2], kind)).tolist() == [True, True, False]


def test_filter_uses_a_single_bit_per_row() -> None:
    row_filter = RowFilter(1_000_000, np.ones(1_000_000, np.bool_))

    assert row_filter.bits is not None
    assert row_filter.bits.nbytes == 125_000
