from hypothesis import given
from hypothesis import strategies as st

from index.segments.passages import split_passages

SENTENCE = "Bees visit flowers all day long. "
PROSE = st.text(st.sampled_from("ab éß.!?\n 漢"), max_size=2000)


@given(PROSE, st.integers(3, 40))
def test_spans_cover_all_text_once_in_order(text: str, words: int) -> None:
    pieces = [text[span.start : span.end] for span in split_passages(text, words)]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece.split()) <= words * 1.5 for piece in pieces), "none is half as long again as was asked"


def test_empty_text_has_no_spans() -> None:
    assert split_passages("") == []
    assert split_passages(" \n\n ") == []


def test_typical_abstract_is_a_single_span() -> None:
    assert len(split_passages(SENTENCE * 40)) == 1


def test_spans_end_at_sentence_boundaries() -> None:
    text = SENTENCE * 200
    spans = split_passages(text)
    assert len(spans) == 6
    assert all(text[span.start : span.end].strip().endswith(".") for span in spans)


def test_endless_sentence_is_split_between_words() -> None:
    text = "word " * 900
    assert max(len(text[span.start : span.end].split()) for span in split_passages(text)) <= 300
    assert all(text[span.start : span.end].strip().endswith("word") for span in split_passages(text))
