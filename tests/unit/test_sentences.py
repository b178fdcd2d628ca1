"""Sentences end where people end them, not at abbreviations, marks of enumerations or citations."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.text.sentences import sentence_spans, sentences
from tests.unit.labelled_sentences import LABELLED, MISSED_BOUNDARY
from tests.unit.processor_time import fill_text, limited_processor_time

__all__ = ["limited_processor_time"]


@pytest.mark.parametrize("labelled", [*LABELLED, pytest.param(MISSED_BOUNDARY, marks=pytest.mark.xfail(strict=True))])
def test_sentences_of_several_fields_are_split_where_people_end_them(labelled: str) -> None:
    parts = labelled.split("¦")
    text = "".join(parts)
    starts = [0, *accumulate(map(len, parts))]
    assert [start for start, _ in sentence_spans(text)] == starts[:-1]


@given(st.text(st.sampled_from("aB é.!?:;\n 漢1[]()“”\u2028\u3000\xa0"), max_size=200))
def test_spans_cover_the_whole_text(text: str) -> None:
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text


def test_list_items_and_markdown_are_split_into_plain_sentences() -> None:
    text = "## Plan\n\nOur aims are:\n\n1. Sow the seeds in **wet** soil.\n2. Count the shoots in June.\n"
    assert sentences(text, min_words=3) == ["Our aims are:", "Sow the seeds in wet soil.", "Count the shoots in June."]


@pytest.mark.parametrize("unit", ["et al. 3 ", "1. ", "a. ", ": 1. ", "A.\u2028", ".) A", ".[3]", "no. 5) B. "])
def test_many_doubtful_boundaries_are_read_in_linear_time(unit: str) -> None:
    sentence_spans(fill_text(unit, characters=400_000))
