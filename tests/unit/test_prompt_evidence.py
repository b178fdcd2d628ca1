"""Board prompts leave out the middle of a long text."""

from hypothesis import given
from hypothesis import strategies as st

from assayer.methods.innoeval.prompt_evidence import shortened

ABSTRACT = (
    "We ask whether quotes are true. " + "Much is said in between. " * 60 + "Errors fell from 31 to 4 in a hundred."
)


def test_long_abstract_keeps_its_question_and_its_result() -> None:
    text = shortened(ABSTRACT, 300)
    assert text.startswith("We ask whether quotes are true.")
    assert text.endswith("Errors fell from 31 to 4 in a hundred.")
    assert text.count(" […] ") == 1


@given(st.text(max_size=600), st.integers(100, 500))
def test_nothing_is_longer_than_asked_and_short_texts_stay_whole(text: str, most: int) -> None:
    left = shortened(text, most)
    assert len(left) <= most
    assert (left == text) == (len(text) <= most)
