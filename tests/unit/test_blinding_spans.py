"""Spans to mask never overlap, and together cover what they covered before."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from assayer.blinding.spans import MaskSpan, remove_overlaps

SPANS = st.builds(
    lambda start, length, kind, cut: MaskSpan(start, start + length, kind, cut),
    st.integers(0, 12),
    st.integers(0, 9),
    st.sampled_from(("name", "biography")),
    st.booleans(),
)


def list_covered_places(spans: list[MaskSpan]) -> set[int]:
    return {place for span in spans for place in range(span.start, span.end)}


@given(st.lists(SPANS, max_size=6))
def test_disjoint_spans_do_not_overlap_and_cover_the_same_text(spans: list[MaskSpan]) -> None:
    chosen = remove_overlaps(spans)
    assert list_covered_places(chosen) == list_covered_places(spans)
    assert all(first.end <= second.start for first, second in pairwise(chosen))


def test_cut_that_reaches_beyond_a_replacement_trims_it() -> None:
    masked = [MaskSpan(1, 7, "biography", cut=True), MaskSpan(2, 8, "name"), MaskSpan(6, 12, "biography", cut=True)]
    assert remove_overlaps(masked) == [masked[0], MaskSpan(7, 12, "biography", cut=True)]
    assert remove_overlaps([MaskSpan(0, 8, "name"), masked[2]]) == [MaskSpan(0, 6, "name"), masked[2]]
