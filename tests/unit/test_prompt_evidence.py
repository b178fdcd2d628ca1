"""Board prompts leave out the middle of a long text."""

from hypothesis import given
from hypothesis import strategies as st

from assayer.methods.innoeval.prompt_evidence import shortened

ABSTRACT = (
    "We ask whether quotes are true. " + "Much is said in between. " * 60 + "Errors fell from 31 to 4 in a hundred."
)


def test_shortened_abstract_keeps_first_and_last_sentence() -> None:
    text = shortened(ABSTRACT, 300)
    assert text.startswith("We ask whether quotes are true.")
    assert text.endswith("Errors fell from 31 to 4 in a hundred.")
    assert text.count(" […] ") == 1


@given(st.text(max_size=600), st.integers(100, 500))
def test_shortened_text_respects_limit_and_short_text_is_unchanged(text: str, most: int) -> None:
    left = shortened(text, most)
    assert len(left) <= most
    assert (left == text) == (len(text) <= most)
