from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from assayer_client.resources import Dollars

USD = TypeAdapter[float](Dollars)


def test_sums_are_rounded_without_binary_noise() -> None:
    assert USD.validate_python(0.1 + 0.2) == 0.3
    assert USD.dump_json(USD.validate_python(sum([0.00703] * 2))) == b"0.01406"


@given(st.integers(0, 10**15))
def test_billionths_of_a_dollar_are_kept(billionths: int) -> None:
    assert round(USD.validate_python(billionths / 10**9) * 10**9) == billionths
