"""Rows that may be returned: eight to a byte, whoever asks and however."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.segments.row_filter import RowFilter


@given(st.lists(st.booleans(), max_size=70), st.integers(0, 70))
def test_rows_match_the_mask_up_to_the_row_limit(allowed: list[bool], first: int) -> None:
    rows = min(first, len(allowed))
    found = RowFilter(rows, np.array(allowed, np.bool_))
    wanted = [row for row in range(rows) if allowed[row]]

    assert found.list_row_numbers().tolist() == wanted
    assert found.count == len(wanted)
    asked = np.arange(len(allowed) + 3)
    assert asked[found.allows(asked)].tolist() == wanted
    assert found.mask is not None
    assert found.mask.tolist() == allowed[:rows]


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint32])
def test_filter_accepts_row_numbers_of_any_integer_type(kind: type[np.integer]) -> None:
    found = RowFilter(3, np.array([True, False, True, True]))

    assert found.allows(np.array([0, 1, 2, 3], kind)).tolist() == [True, False, True, False]
    assert RowFilter(2).allows(np.array([0, 1, 2], kind)).tolist() == [True, True, False]


def test_filter_uses_a_single_bit_per_row() -> None:
    found = RowFilter(1_000_000, np.ones(1_000_000, np.bool_))

    assert found.bits is not None
    assert found.bits.nbytes == 125_000
